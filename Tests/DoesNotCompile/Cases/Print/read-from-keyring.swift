import Credentials
import SecretService
import Secrets

func leak(_ store: SecretServiceStore, _ key: CredentialKey) async throws {
    print(try await store.read(key, as: AccessToken.self))  // expected-error {{does not conform to expected type 'Copyable'}}
}
