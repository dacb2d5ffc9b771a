import Foundation
public import Latchkey
public import OAuthenticator

extension LoginStorage {
    /// Keeps OAuthenticator's login as one credential of any store: the desktop's keyring, a vault, your own.
    public static func credential(_ key: CredentialKey, in store: any CredentialStore) -> LoginStorage {
        LoginStorage {
            guard let record = try await store.read(key, as: StoredLogin.self) else { return nil }
            return try JSONDecoder().decode(Login.self, from: ForeignMemory.data(of: record.secret))
        } storeLogin: { login in
            let data = try JSONEncoder().encode(login)
            let options = SaveOptions(label: "Login of \(key.account) at \(key.service)", contentType: .text)
            try await store.save(Secret<StoredLogin>(copying: data.span), for: key, options: options)
        } clearLogin: {
            try await store.delete(key)
        }
    }
}
