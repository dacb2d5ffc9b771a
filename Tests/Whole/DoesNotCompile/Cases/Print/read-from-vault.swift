import LatchkeyCredentials
import LatchkeyVault
import LatchkeySecrets

private func leak(_ store: VaultStore, _ key: CredentialKey) async throws {
    print(try await store.read(key, as: AccessToken.self))  // expected-error {{requires that 'CredentialRecord<AccessToken>' conform to 'Copyable'}}
}
