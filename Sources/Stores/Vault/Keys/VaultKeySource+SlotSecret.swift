internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySecrets

extension VaultKeySource {
    /// Derives a slot's secret: Argon2id for passphrases, keyed BLAKE2b of the salt for keys that are random already.
    borrowing func slotSecret(
        cost: PassphraseCost?, salt: [UInt8], vault: VaultID
    ) throws(StoreError) -> Secret<SlotSecret> {
        switch place {
        case .passphrase: return try derived(cost, salt)
        case .keyFile(let path):
            return Self.hashed("key file", try VaultKeyFile.read(path), salt, vault)
        case .systemCredential(let credential):
            return Self.hashed("systemd credential", try credential.read(), salt, vault)
        case .keptKey:
            switch keptKey {
            case .some(let key) where key.byteCount == 32: return Self.hashed("kept key", key, salt, vault)
            default:
                throw .wrongKey(
                    "what the keyring keeps for the vault is no key of 32 bytes",
                    hint: "open the vault in another way, and replace that slot")
            }
        case .kernelKeyring:
            throw StoreError(
                .unsupported, "a key in the kernel's keyring makes no slot", hint: "name a passphrase or a key file")
        }
    }

    private static func hashed<Purpose: SecretPurpose>(
        _ use: StaticString, _ key: borrowing Secret<Purpose>, _ salt: [UInt8], _ vault: VaultID
    ) -> Secret<SlotSecret> {
        let message = Array("latchkey vault v1 \(use)".utf8) + vault.bytes + salt
        return Secret(byteCount: 32) { out in
            key.withExposedBytes { KeyedHash.digest(message.span, key: $0, into: &out) }
        }
    }

    private borrowing func derived(_ cost: PassphraseCost?, _ salt: [UInt8]) throws(StoreError) -> Secret<SlotSecret> {
        guard let cost else { throw .vaultCorrupted("a passphrase slot has no costs") }
        var isDerived = false
        let key = Secret<SlotSecret>(byteCount: 32) { out in
            switch passphrase {
            case .some(let passphrase):
                isDerived = passphrase.withExposedBytes {
                    Argon2id.derive(
                        passphrase: $0, salt: salt.span, passes: cost.passes, memoryByteCount: cost.memoryByteCount,
                        into: &out)
                }
            case .none: break
            }
        }
        guard isDerived else {
            throw StoreError(
                .unavailable, "there is no memory to try the passphrase: it takes \(cost.memoryByteCount) bytes",
                hint: "free some memory, or use a key file")
        }
        return key
    }
}
