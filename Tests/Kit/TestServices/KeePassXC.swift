internal import Foundation
internal import Synchronization

/// A real KeePassXC as the Secret Service of a private session: without a screen (Qt's platform `offscreen`), with one
/// open database whose root group is offered as the default collection.
public final class KeePassXC: Sendable {
    public static let password = "database password"
    /// The label of the collection: the database's name.
    public static let label = "Passwords"
    /// KeePassXC names a collection after the database's file.
    public static let collection = "/org/freedesktop/secrets/collection/db"

    public let session: PrivateSession
    private let running = Mutex<RunningProgram?>(nil)

    /// Opens a new database; the collection is unlocked. It is saved when KeePassXC ends in an orderly way:
    /// saving after each change makes version 2.7.4 crash when changes are quick.
    ///
    /// - Parameter confirmsAccess: whether it asks before a program reads an item: items are locked then, apart from
    ///   the collection.
    public init(confirmsAccess: Bool = false) async throws {
        session = try await PrivateSession(.none)
        try session.directory.write("db.kdbx", try await Self.database.value)
        try session.directory.write("keepassxc.ini", Self.configuration(confirmsAccess: confirmsAccess))
        try await start()
    }

    deinit {
        running.withLock { $0?.kill() }
    }

    private var environment: [String: String] {
        session.environment.merging(["QT_QPA_PLATFORM": "offscreen"]) { $1 }
    }

    /// An empty database, of which each test opens a copy: `keepassxc-cli` takes a third of a second to make one.
    ///
    /// The command line can't offer a group to the Secret Service, but what is imported may say so (KeePassXC's
    /// FdoSecrets plug-in, `FDO_SECRETS_EXPOSED_GROUP`).
    private static let database = Task { () async throws -> [UInt8] in
        let directory = try TestDirectory()
        let group = UUID()
        let bytes = unsafe withUnsafeBytes(of: group.uuid) { unsafe Data($0) }
        try directory.write(
            "db.xml",
            """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <KeePassFile><Meta><Generator>KeePassXC</Generator><DatabaseName>\(label)</DatabaseName>
            <RecycleBinEnabled>False</RecycleBinEnabled>
            <CustomData><Item><Key>FDO_SECRETS_EXPOSED_GROUP</Key>
            <Value>{\(group.uuidString.lowercased())}</Value></Item></CustomData></Meta>
            <Root><Group><UUID>\(bytes.base64EncodedString())</UUID><Name>Root</Name></Group></Root></KeePassFile>

            """)
        try await Program("keepassxc-cli").run(
            ["import", "-q", "-p", "-t", "100", directory / "db.xml", directory / "db.kdbx"],
            environment: directory.environment(),
            input: Array("\(password)\n\(password)\n".utf8)
        ).successful("keepassxc-cli import")
        return try directory.read("db.kdbx")
    }

    private static func configuration(confirmsAccess: Bool) -> String {
        """
        [General]
        ConfigVersion=2
        AutoSaveAfterEveryChange=false
        AutoSaveOnExit=true
        AutoReloadOnChange=false
        UpdateCheckMessageShown=true
        [GUI]
        CheckForUpdates=false
        [Security]
        LockDatabaseIdle=false
        [FdoSecrets]
        Enabled=true
        ShowNotification=false
        ConfirmAccessItem=\(confirmsAccess)
        ConfirmDeleteItem=false
        UnlockBeforeSearch=false

        """
    }

    // MARK: - The program

    /// Starts KeePassXC with the database open, or locked without a password.
    public func start(password: String? = KeePassXC.password) async throws {
        var arguments = [
            "--config", session.directory / "keepassxc.ini", "--localconfig", session.directory / "local.ini",
        ]
        if password != nil { arguments.append("--pw-stdin") }
        let program = try Program("keepassxc").start(
            arguments + [session.directory / "db.kdbx"], environment: environment)
        program.send(Array(((password ?? "") + "\n").utf8))
        running.withLock { $0 = program }
        // The name and the collection are there a moment before the database is open.
        try await session.wait(from: program)
        try await program.wait(for: "the collection on the bus") { try await isLocked() == (password == nil) }
    }

    /// Whether the collection is locked; `nil`: it isn't there.
    public func isLocked() async throws -> Bool? {
        let answer = try? await session.call(
            "org.freedesktop.secrets", Self.collection, "org.freedesktop.DBus.Properties.Get",
            ["string:org.freedesktop.Secret.Collection", "string:Locked"])
        return answer.map { $0.contains("true") }
    }

    public var isRunning: Bool { running.withLock { $0?.isRunning ?? false } }

    /// Ends it in an orderly way, and the database is saved.
    public func stop() async {
        let program = running.withLock { $0.take() }
        // It writes its database first.
        await program?.stop(within: .seconds(60))
    }

    /// Ends it at once: what it hasn't saved is lost.
    public func kill() async {
        let program = running.withLock { $0.take() }
        program?.kill()
        _ = try? await program?.finish(within: .seconds(5))
    }
}
