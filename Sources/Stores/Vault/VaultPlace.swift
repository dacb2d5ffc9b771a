package import LatchkeyCredentials
internal import LatchkeyLog

/// Where a vault's rows are.
enum VaultPlace: Sendable {
    case file(VaultPath)
    case database(PostgreSQLAddress)

    /// The location for people, leases and logs.
    var location: String {
        switch self {
        case .file(let path): path.file
        case .database(let address): address.location
        }
    }

    /// Finds what a person named: a path, or a database's URI.
    static func existing(_ path: String, for use: VaultUse) throws(StoreError) -> VaultPlace {
        PostgreSQLAddress.isAddress(path)
            ? .database(try PostgreSQLAddress(path)) : .file(try .existing(path, for: use))
    }

    static func new(_ path: String, for use: VaultUse) throws(StoreError) -> VaultPlace {
        PostgreSQLAddress.isAddress(path) ? .database(try PostgreSQLAddress(path)) : .file(try .new(path, for: use))
    }

    /// Opens the table of a vault that is there.
    func table(_ cancellation: Cancellation) throws(StoreError) -> any RowTable {
        switch self {
        case .database(let address): try PostgreSQLRowTable(address, cancellation)
        case .file(let path): try SQLiteRowTable(path)
        }
    }

    /// The file's status now, `nil` for a database. Throws when it is another file than before.
    func fileStatus(sameAs before: FileStatus? = nil) throws(StoreError) -> FileStatus? {
        guard case .file(let path) = self else { return nil }
        let status = try path.status()
        if let before, before.device != status.device || before.inode != status.inode {
            throw FileProblem.refuse("vault", path.file, "was replaced while Latchkey opened it")
        }
        return status
    }

    /// Creates a table with these records and those that `fill` adds, completely or not at all.
    ///
    /// Throws `conflict` if a vault exists already.
    func create(
        for use: VaultUse, _ records: [NamedRecord], _ cancellation: Cancellation,
        fill: (any RowTransaction) throws(StoreError) -> Void = { _ in }
    ) throws(StoreError) {
        switch self {
        case .database(let address):
            try PostgreSQLRowTable(address, cancellation).create(records, cancellation, fill)
        case .file(let path):
            try path.create(for: use) { (temporary) throws(StoreError) in
                try SQLiteRowTable.create(path: temporary, records: records, fill: fill)
                // The vault gets its name now, or never.
                try cancellation.commit()
            }
        }
    }

    /// Calls back on a thread of its own when the vault may have been changed, by whomever.
    ///
    /// Throws `unavailable` when the system gives no watch, `unsupported` behind a pool of a database's connections.
    func watch(
        _ cancellation: Cancellation, _ changed: @escaping @Sendable () -> Void
    ) throws(StoreError) -> any ChangeWatch {
        switch self {
        case .database(let address): return try PostgreSQLListener(address, cancellation, changed)
        case .file(let path):
            guard let watch = FileWatch(path: path.file, changed) else {
                throw StoreError(
                    .unavailable, "the system has reached its limit of file watches",
                    hint: "raise fs.inotify.max_user_instances")
            }
            return watch
        }
    }
}

/// Calls back until its last reference ends.
protocol ChangeWatch: AnyObject, Sendable {}

extension FileWatch: ChangeWatch {}

extension VaultStore {
    /// Whether the location of a vault is an address, not a path.
    package static func isDatabase(_ place: String) -> Bool { PostgreSQLAddress.isAddress(place) }

    /// Throws `unsupported` for an address that isn't a database's URI, or has a password in it.
    package static func checkAddress(_ place: String) throws(StoreError) {
        try PostgreSQLAddress.check(place)
    }
}
