// Compiled as a part of the package: outside it this has no name.
import LatchkeyCredentials
import LatchkeySecrets
import LatchkeyStoreSelection

private func leak(_ view: StoreView, _ key: CredentialKey, _ deadline: Deadline) async throws {
    let store = try await view.store(for: key, deadline: deadline)
    print(try await store.read(key, as: AccessToken.self))  // expected-error {{requires that 'CredentialRecord<AccessToken>' conform to 'Copyable'}}
}
