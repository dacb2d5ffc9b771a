internal import LatchkeyCredentials
internal import LatchkeySecrets

/// The key under which versions are hashed, so that a version says nothing about a secret that could be guessed.
struct VersionKey: Sendable {
    private let secretKey: [UInt8]
    private let stateKey: [UInt8]

    /// - Parameter bytes: 32 random octets.
    init(bytes: [UInt8]) {
        secretKey = KeyedHash.digest(Array("secret".utf8).span, key: bytes.span)
        stateKey = KeyedHash.digest(Array("state".utf8).span, key: bytes.span)
    }

    /// Hashes what a credential is: its key, its label and its secret. The same state has the same version.
    func version<Purpose: SecretPurpose>(
        of key: CredentialKey, label: String, _ secret: borrowing Secret<Purpose>
    ) -> CredentialVersion {
        version(of: [key.service, key.account, key.kind.name, label], secret)
    }

    /// The same of an item, which may be no credential: then it goes by all of its attributes.
    func version<Purpose: SecretPurpose>(of item: Item, _ secret: borrowing Secret<Purpose>) -> CredentialVersion {
        if let key = item.key { return version(of: key, label: item.label, secret) }
        return version(of: item.attributes.all.flatMap { [$0.name, $0.value] } + ["", item.label], secret)
    }

    private func version<Purpose: SecretPurpose>(
        of parts: [String], _ secret: borrowing Secret<Purpose>
    ) -> CredentialVersion {
        var message: [UInt8] = []
        for part in parts {
            message += Array("\(part.utf8.count):".utf8) + Array(part.utf8)
        }
        let secretKey = secretKey
        message += secret.withExposedBytes { KeyedHash.digest($0, key: secretKey.span) }
        return CredentialVersion(bytes: KeyedHash.digest(message.span, key: stateKey.span, byteCount: 16))
    }
}
