internal import LatchkeyCredentials
internal import LatchkeyLog

/// The purpose of the secret from a passphrase, a key file, a credential or a keyring's key with a slot's salt.
enum SlotSecret: SecretPurpose { static var name: StaticString { "vault slot secret" } }

/// The private half of a slot's key pair (X25519).
enum SlotPrivateKey: SecretPurpose { static var name: StaticString { "vault slot private key" } }

/// The purpose of the secret that a slot shares with holders of the vault's root key.
enum SlotPreSharedKey: SecretPurpose { static var name: StaticString { "vault slot pre-shared key" } }

/// The keys that come from a slot's own secret.
///
/// The root key is sealed to the key pair's public half, so that a vault is rekeyed without any slot's secret. The
/// pre-shared key shows that it was someone with the vault's root key who did so (RFC 9180 section 5.1.2): to a public
/// key alone anyone could seal a root key, with a vault of their own around it.
final class SlotKeys: Sendable {
    let preShared: Secret<SlotPreSharedKey>
    private let privateKey: Secret<SlotPrivateKey>

    init(of secret: borrowing Secret<SlotSecret>, vault: VaultID) {
        privateKey = Sealing.subkey("slot private key", of: secret, vault: vault).repurposed(as: SlotPrivateKey.self)
        preShared = Sealing.subkey("slot pre-shared key", of: secret, vault: vault)
            .repurposed(as: SlotPreSharedKey.self)
    }

    var publicKey: [UInt8] { privateKey.withExposedBytes { X25519.publicKey(of: $0) } }

    /// Opens a slot's box, or returns `nil` when it wasn't sealed to this slot by someone with its pre-shared key.
    func open(_ box: SlotBox, of head: KeySlot.Head, vault: VaultID) -> Secret<RootKey>? {
        guard
            let key = SlotBox.key(
                privateKey, box.ephemeral, ephemeral: box.ephemeral, head, preShared: preShared, vault: vault)
        else { return nil }
        let root = Secret<RootKey>(capacity: 32) { out in
            Sealing.open(
                box.sealedRoot.span, associatedData: KeySlot.associatedData("box", vault, head), key: key, into: &out)
                ? 32 : 0
        }
        if root.isEmpty { return nil }
        return root
    }
}

/// The root key, encrypted for a slot: the public half of a key pair for this box alone, and the encrypted bytes.
struct SlotBox: Sendable {
    let ephemeral: [UInt8]
    let sealedRoot: [UInt8]

    init?(_ reader: inout ByteReader) {
        guard let ephemeral = reader.take(X25519.keyByteCount),
            let sealedRoot = reader.take(32 + Sealing.overheadByteCount)
        else { return nil }
        self.ephemeral = ephemeral
        self.sealedRoot = sealedRoot
    }

    /// Seals a root key to the public key in a slot's head.
    init(
        _ root: borrowing Secret<RootKey>, to head: KeySlot.Head, preShared: borrowing Secret<SlotPreSharedKey>,
        vault: VaultID
    ) throws(StoreError) {
        let pair = try Sealing.randomKey(as: SlotPrivateKey.self)
        ephemeral = pair.withExposedBytes { X25519.publicKey(of: $0) }
        guard
            let key = Self.key(pair, head.publicKey, ephemeral: ephemeral, head, preShared: preShared, vault: vault)
        else { throw .vaultCorrupted("the public key of a key slot is invalid") }
        sealedRoot = try root.withExposedBytes { (bytes) throws(StoreError) in
            try Sealing.seal(bytes, associatedData: KeySlot.associatedData("box", vault, head), key: key)
        }
    }

    var bytes: [UInt8] { ephemeral + sealedRoot }

    /// H(H(pre-shared key, "latchkey vault v1 slot box" and all that is public), X25519); `nil` for a public key of low
    /// order.
    fileprivate static func key(
        _ privateKey: borrowing Secret<SlotPrivateKey>, _ publicKey: [UInt8], ephemeral: [UInt8], _ head: KeySlot.Head,
        preShared: borrowing Secret<SlotPreSharedKey>, vault: VaultID
    ) -> Secret<VaultSubkey>? {
        var isSound = false
        let shared = Secret<SlotPrivateKey>(byteCount: 32) { out in
            isSound = privateKey.withExposedBytes { X25519.share($0, with: publicKey.span, into: &out) }
        }
        guard isSound else { return nil }
        let message = Array("latchkey vault v1 slot box".utf8) + vault.bytes + ephemeral + head.bytes
        let salted = Secret<VaultSubkey>(byteCount: 32) { out in
            preShared.withExposedBytes { KeyedHash.digest(message.span, key: $0, into: &out) }
        }
        return Secret<VaultSubkey>(byteCount: 32) { out in
            salted.withExposedBytes { salted in
                shared.withExposedBytes { KeyedHash.digest($0, key: salted, into: &out) }
            }
        }
    }
}
