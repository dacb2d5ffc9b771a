internal import Glibc
package import LatchkeyCredentials
internal import LatchkeyLog
package import LatchkeyProcess
internal import LatchkeySystem
package import LatchkeyVault

/// Which key file a vault was made with, so that it opens without being told each time. One small file for each vault
/// holds the key file's path; it has the vault's id for its name, and goes with the vault wherever that is moved.
///
/// It is no secret, and no key: another path in it leads to a file that doesn't open the vault.
package struct RememberedKeyFiles: Sendable {
    package let directory: String

    /// In `$XDG_STATE_HOME/latchkey/key-files`. It is made (0700) when it is missing.
    package init(_ environment: ProgramEnvironment) {
        directory = environment.stateDirectory + "/key-files"
    }

    /// Returns `nil` where none is remembered, or what is there names no file.
    func path(forVault identifier: String) -> String? {
        guard let bytes = try? PrivateFile.read(place(identifier), limit: Int(PATH_MAX), followsLinks: false),
            let text = String(validating: bytes, as: UTF8.self), text.hasPrefix("/"), text.hasSuffix("\n")
        else { return nil }
        let path = text.dropLast()
        return path.contains("\n") ? nil : String(path)
    }

    /// - Parameter path: absolute. One with a line break can't be remembered.
    package func remember(_ path: String, for vault: VaultStore) throws(StoreError) {
        try mappingError({ (error: PrivateFile.Failure) in
            StoreError(
                .cannotWrite, "the path of the vault's key file can't be remembered", platform: .errno(error.number))
        }) { () throws(PrivateFile.Failure) in
            guard !path.contains("\n") else { throw PrivateFile.Failure(number: EINVAL) }
            try PrivateFile.replace(place(vault.identifier), with: "\(path)\n")
        }
    }

    private func place(_ identifier: String) -> String { directory + "/" + identifier }
}
