package import LatchkeyCredentials
package import LatchkeyLog
internal import LatchkeySecrets
internal import LatchkeySystem

/// The key of one slot that someone else keeps, such as the desktop's keyring: 32 random bytes.
package enum VaultSlotKey: SecretPurpose { public static var name: StaticString { "key of a vault's slot" } }

/// Names one slot of one vault, everywhere and for ever: under this name its key is kept elsewhere.
package struct KeySlotReference: Sendable, Hashable, Loggable {
    let vault: VaultID
    let slot: [UInt8]

    /// The vault's id and the slot's, each 32 hexadecimal digits, with a slash in between. No secret.
    package var text: String { Hexadecimal.encode(vault.bytes) + "/" + Hexadecimal.encode(slot) }

    init(vault: VaultID, slot: [UInt8]) {
        self.vault = vault
        self.slot = slot
    }

    /// Names the first slot of a vault that will be made with it. Throws `unavailable` without random octets.
    package static func ofNewVault() throws(StoreError) -> KeySlotReference {
        KeySlotReference(vault: try .random(), slot: try Sealing.randomOctets(16))
    }

    /// Safe: random numbers that stand in the vault's file in clear.
    package var logMessage: LogMessage {
        "\(LoggableText(reviewed: "two ids that stand in the vault's file in clear", unredacted: text))"
    }
}

extension VaultStore {
    /// Names a slot that will be added.
    package func newSlotReference() throws(StoreError) -> KeySlotReference {
        KeySlotReference(vault: keys.vault, slot: try Sealing.randomOctets(16))
    }
}
