internal import Glibc
package import LatchkeyCredentials
internal import LatchkeyLog
package import LatchkeyProcess
package import LatchkeyVault

/// The file that records which store was found, so that a later run uses the same store or reports why it can't.
///
/// The file contains the store's name and a line break. A write replaces the file atomically.
package struct RememberedChoice: Sendable, Hashable {
    package let path: String

    /// - Parameter path: `$XDG_STATE_HOME/latchkey/store`. Its folder is made (0700) when it is missing.
    package init(path: String) {
        self.path = path
    }

    private static let maximumByteCount = 64

    /// Returns the name, or `nil` if none is recorded. Text that can't be a store's name is returned verbatim: the
    /// selector rejects it.
    package func read() throws(StoreError) -> String? {
        let bytes = try mappingError({ (error: SystemErrorNumber) in
            unusable(.unavailable, "can't be read", error.number)
        }) { () throws(SystemErrorNumber) in
            try nilIf(
                { (error: SystemErrorNumber) in error.number == ENOENT || error.number == ENOTDIR },
                of: PrivateFile.read(path, limit: Self.maximumByteCount, followsLinks: false))
        }
        return bytes.map { String(decoding: $0.prefix { $0 != 0x0A }, as: UTF8.self) }
    }

    /// Remembers a name, replacing the one before.
    package func write(_ name: StaticString) throws(StoreError) {
        try mapError(
            { (error: SystemErrorNumber) in unusable(.cannotWrite, "can't be written", error.number) },
            of: PrivateFile.replace(path, with: "\(name)\n"))
    }

    private func unusable(_ code: StoreError.Code, _ what: StaticString, _ number: Int32) -> StoreError {
        let path = LoggableText(reviewed: "a path from the XDG environment", unredacted: path)
        return StoreError(
            code, "the file that remembers the store, \(path), \(what)", hint: "\(Recovery.chooseStore)",
            platform: .errno(number))
    }
}

/// The key files of vaults, so that later commands need no option. One small file per vault has a path on each line.
/// Its name is the vault's ID, so moving the vault doesn't matter.
///
/// A path isn't secret and isn't a key: a changed path leads to a file that doesn't open the vault.
package struct RememberedKeyFiles: Sendable {
    package let directory: String

    /// The files are in `$XDG_STATE_HOME/latchkey/key-files`. The directory is created (mode 0700) if it is missing.
    package init(_ environment: ProgramEnvironment) {
        directory = environment.stateDirectory + "/key-files"
    }

    /// How many are remembered for one vault.
    private static let maximumCount = 4

    /// The paths, the newest first: an older one may still open the vault when the newest is for another machine. Empty
    /// if none is recorded, or if the file's content isn't paths.
    package func paths(forVault identifier: String) -> [String] {
        let limit = Self.maximumCount * Int(PATH_MAX)
        guard let bytes = try? PrivateFile.read(place(identifier), limit: limit, followsLinks: false),
            bytes.last == 0x0A
        else { return [] }
        let paths = bytes.dropLast().split(separator: 0x0A, omittingEmptySubsequences: false)
            .map { String(validating: $0, as: UTF8.self) ?? "" }
        return paths.allSatisfy { $0.utf8.first == UInt8(ascii: "/") } ? paths : []
    }

    /// - Parameter path: absolute. One with a line break can't be remembered.
    package func remember(_ path: String, for vault: VaultStore) throws(StoreError) {
        let others = paths(forVault: vault.identifier).filter { !$0.hasSameOctets(as: path) }
        try replace(with: Array(([path] + others).prefix(Self.maximumCount)), for: vault)
    }

    /// Remembers only these paths.
    package func replace(with paths: [String], for vault: VaultStore) throws(StoreError) {
        try mappingError({ (error: SystemErrorNumber) in
            StoreError(
                .cannotWrite, "can't remember the path of the vault's key file", platform: .errno(error.number))
        }) { () throws(SystemErrorNumber) in
            if paths.contains(where: { $0.utf8.contains(0x0A) }) { throw SystemErrorNumber(EINVAL) }
            try PrivateFile.replace(place(vault.identifier), with: paths.map { $0 + "\n" }.joined())
        }
    }

    private func place(_ identifier: String) -> String { directory + "/" + identifier }
}
