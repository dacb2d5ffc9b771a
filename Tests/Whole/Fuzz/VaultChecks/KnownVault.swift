#if DEBUG || Testable || Fuzzing
    import LatchkeyCredentials
    import LatchkeyCredentials
    import LatchkeyLog
    import LatchkeySecrets
    @testable import LatchkeyVault

    /// A vault whose keys everybody knows, so that a corpus made with them stays good.
    final class KnownVault: Sendable {
        let keys: VaultKeys
        let slotKeys: SlotKeys

        static let shared = KnownVault()
        static let otherKey = key("carol")
        /// What is in the files of the corpus.
        static let items = [(key: key("ada"), text: "alpha"), (key: key("bob"), text: "beta")]

        private init() {
            let vault = VaultID(bytes: [UInt8](repeating: 0x22, count: 16))
            keys = VaultKeys(Self.secret([UInt8](repeating: 0x11, count: 32)), vault: vault)
            slotKeys = SlotKeys(of: Self.secret([UInt8](repeating: 0x33, count: 32)), vault: vault)
        }

        static func key(_ account: String) -> CredentialKey {
            do throws(InvalidValue) {
                return try CredentialKey(service: "example.org", account: account)
            } catch {
                preconditionFailure("a known key is refused")
            }
        }

        static func secret<Purpose: SecretPurpose>(_ bytes: [UInt8]) -> Secret<Purpose> { Secret(copying: bytes.span) }

        static func bytes<Purpose: SecretPurpose>(_ secret: borrowing Secret<Purpose>) -> [UInt8] {
            secret.withExposedBytes { [UInt8](copying: $0) }
        }

        static func metadata(_ key: CredentialKey, secretByteCount: Int) -> Row {
            Row(
                name: .key(key), label: "label", contentType: "text/plain", created: UnixTime(seconds: 5),
                modified: UnixTime(seconds: 6),
                version: CredentialVersion(bytes: [UInt8](repeating: 7, count: 16)),
                secretByteCount: secretByteCount)
        }

        static func item(secretByteCount: Int) -> Row {
            let attributes = [("xdg:schema", "org.example"), ("service", "example.org"), ("empty", "")].map {
                ItemAttributes.Attribute(name: $0.0, value: $0.1)
            }
            return Row(
                name: .attributes(ItemAttributes(attributes) ?? ItemAttributes(), in: "login", id: Octets16(1...16)),
                label: "label", contentType: "text/plain", created: UnixTime(seconds: 5),
                modified: UnixTime(seconds: 6),
                version: CredentialVersion(bytes: [UInt8](repeating: 7, count: 16)), secretByteCount: secretByteCount)
        }

        func seal(_ plaintext: [UInt8], _ associatedData: [UInt8], _ key: borrowing Secret<VaultSubkey>) -> [UInt8] {
            do throws(StoreError) {
                return try Sealing.seal(plaintext.span, associatedData: associatedData, key: key)
            } catch {
                preconditionFailure("nothing can be sealed")
            }
        }

        /// A slot that `slotKeys` open, with this note.
        func slot(note: [UInt8]) throws(StoreError) -> KeySlot {
            let head = KeySlot.Head(
                kind: .keyFile, id: [UInt8](repeating: 1, count: 16), cost: nil,
                salt: [UInt8](repeating: 2, count: 16), publicKey: slotKeys.publicKey, systemCredential: nil)
            return try KeySlot.seal(head, preShared: slotKeys.preShared, note: note, keys)
        }
    }
#endif
