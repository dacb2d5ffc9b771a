package import LatchkeyCredentials
internal import LatchkeyEnvironment
internal import LatchkeyVault

/// Where a person says that a vault is: a path, made absolute, or a database's URI.
package enum VaultLocation {
    /// A URI with a password in it is kept: opening refuses it.
    package static func of(_ text: String) -> String {
        isDatabase(text) ? text : AbsolutePath.of(text)
    }

    package static func isDatabase(_ text: String) -> Bool { VaultStore.isDatabase(text) }

    /// The same, and throws `unsupported` for a password in a URI: what names a vault is shown in many places.
    package static func checked(_ text: String) throws(StoreError) -> String {
        try VaultStore.refusePassword(in: text)
        return of(text)
    }
}
