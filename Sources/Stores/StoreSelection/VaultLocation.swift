package import LatchkeyCredentials
internal import LatchkeyProcess
internal import LatchkeyVault

/// Where a person says that a vault is: a path, made absolute, or a database's URI.
package enum VaultLocation {
    /// An address is returned unchanged: opening refuses what isn't a database's URI, or has a password in it.
    package static func of(_ text: String) -> String {
        isDatabase(text) ? text : AbsolutePath.of(text)
    }

    package static func isDatabase(_ text: String) -> Bool { VaultStore.isDatabase(text) }

    /// The same. Throws `unsupported` for an address that isn't a database's URI, or has a password in it: what names a
    /// vault is shown in many places.
    package static func checked(_ text: String) throws(StoreError) -> String {
        try VaultStore.checkAddress(text)
        return of(text)
    }
}
