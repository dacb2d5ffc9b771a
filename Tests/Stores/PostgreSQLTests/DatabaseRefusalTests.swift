import Foundation
import Glibc
import LatchkeyCredentials
import LatchkeyLog
import Testing
import TestServices

@testable import LatchkeyVault

/// What can be wrong with a database: each is a typed error with the next step, inside the deadline.
@Suite struct DatabaseRefusalTests {
    private func open(
        _ uri: String, _ vault: DatabaseVault, deadline: Deadline = .standard
    ) async -> StoreError? {
        await refusal { () async throws(StoreError) in
            try await VaultStore.open(at: uri, unlockedBy: .keyFile(vault.keyFile), deadline: deadline)
        }
    }

    @Test(arguments: [
        "postgresql://u:pw@/secrets", "postgresql:///secrets?password=x", "postgres://u:@h/d",
        "postgresql://h/d?user=u&sslpassword=x", "postgresql://u%40x:p@h/d",
    ])
    func `a password in a URI is refused, and not repeated`(uri: String) async throws {
        let vault = try await DatabaseVault()
        let error = try #require(await open(uri, vault))
        #expect(error.code == .unsupported && error.cause.text.contains("password"))
        #expect(!"\(error) \(error.hint!)".contains("pw"))
        #expect(throws: StoreError.self) { try VaultStore.checkAddress(uri) }
    }

    /// These became files of that name, with the password in it and in messages.
    @Test(arguments: [
        "POSTGRESQL://u:pw@h/d", "PostgreSQL:///d", "jdbc:postgresql://h/d?password=pw", "host=h password=pw",
        " host=h password=pw", "u:pw@h/d", "mysql://u:pw@h/d", "password=pw", "file:vault", "ünï:pw@h",
        "postgresql://u:pw", "postgresql://u:pw/d", "postgresql://h:5432,u:pw/d",
    ])
    func `an address of another kind is refused, and isn't shown`(address: String) async throws {
        let directory = try TestDirectory()
        let key = directory / "key"
        try VaultKeyFile.create(at: key)
        for error in [
            await refusal { () async throws(StoreError) in
                try await VaultStore.create(at: address, unlockedBy: .keyFile(key))
            },
            await refusal { () async throws(StoreError) in
                try await VaultStore.open(at: address, unlockedBy: .keyFile(key))
            },
        ] {
            #expect(error?.code == .unsupported && !"\(error!) \(error!.hint!)".contains("pw"), "\(error!)")
        }
        for uri in [
            "postgresql:///a:b", "postgresql://ada@[::1]:5432,h/d", "postgresql://%2Frun%2Fpg:5432/d",
            "postgresql://h:/d",
            "postgresql://h,[fe80::1]/d?port=5432,5433",
        ] {
            try VaultStore.checkAddress(uri)
        }
        // A path says that it is one.
        for path in ["/a:b", "./a=b", "~/a:b", "a/b:c", "vault"] { #expect(!VaultStore.isDatabase(path)) }
    }

    private static let wrongURIs = [
        "postgresql:", "postgresql:/x", "postgresql://h/d?nonsense=1", "postgresql://h:port/d", "postgresql://[::1/d",
        "postgresql://h/d?schema=", "postgresql://h/d?schema=Öl", "postgresql://h/d?schema=a&schema=b",
        "postgresql://h/d?schema=pg_catalog", "postgresql://h/d?schema=a;drop", "postgresql://h/%zz",
        "postgresql://h/d?sslmode=verify-full&" + String(repeating: "x", count: 5000),
    ]

    @Test(arguments: wrongURIs)
    func `an invalid URI of a database is refused`(uri: String) async throws {
        let vault = try await DatabaseVault()
        let error = try #require(await open(uri, vault, deadline: .after(.seconds(5))))
        #expect(error.code == .unsupported || error.code == .unavailable, "\(error)")
        #expect(error.hint != nil)
    }

    @Test func `the errors for missing tables and a missing vault say what is missing`() async throws {
        let vault = try await DatabaseVault()
        let none = try #require(await open(vault.server.vault("nothing_there"), vault))
        #expect(none.code == .unavailable && none.recoveries == [.printSchema])
        let empty = try #require(await open(vault.uri, vault))
        #expect(empty.code == .unavailable && empty.recoveries == [.createVault], "\(empty)")
        try await vault.create(1)
        let twice = await refusal { () async throws(StoreError) in
            try await VaultStore.create(at: vault.uri, unlockedBy: .keyFile(vault.keyFile))
        }
        #expect(twice?.code == .conflict)
        #expect(try await vault.open().text(key("0")) == "secret 0")
    }

    /// A new vault's records beside them would prevent the old ones from being restored.
    @Test func `no vault is created in tables whose records are lost`() async throws {
        let vault = try await DatabaseVault()
        try await vault.create(1)
        try await vault.sql("CREATE TABLE %.kept AS SELECT * FROM %.records; TRUNCATE %.records")
        for error in [
            await refusal { () async throws(StoreError) in
                try await VaultStore.create(at: vault.uri, unlockedBy: .keyFile(vault.keyFile))
            },
            await refusal { () async throws(StoreError) in
                try VaultStore.checkPlace(forNewVaultAt: vault.uri, for: .daily)
            },
        ] {
            #expect(error?.code == .conflict && error?.hint?.text.contains("restore") == true, "\(error as Any)")
        }
        try await vault.sql("INSERT INTO %.records SELECT * FROM %.kept")
        #expect(try await vault.open().text(key("0")) == "secret 0")
    }

    @Test func `a role without rights is refused`() async throws {
        let server = try await PostgreSQLServer(isDurable: false)
        let vault = try await DatabaseVault(on: server, role: "orders")
        try await vault.create(1)
        try await server.sql("CREATE ROLE other LOGIN")
        let mine = server.vault(vault.schema.name, user: "orders")
        #expect(await open(mine, vault) == nil)
        let theirs = try #require(await open(server.vault(vault.schema.name, user: "other"), vault))
        #expect(theirs.code == .permissionDenied && theirs.recoveries == [.printSchema])
        // The role of one vault makes and changes nothing but rows.
        let store = try await VaultStore.open(at: mine, unlockedBy: .keyFile(vault.keyFile))
        try await store.save(secret("s"), for: key("1"))
        let second = try await DatabaseVault(on: server, role: "second")
        try await second.create(1)
        #expect(await open(server.vault(second.schema.name, user: "orders"), second)?.code == .permissionDenied)
        for statement in [
            "SELECT * FROM \(second.schema.name).items", "DROP TABLE \(vault.schema.name).items",
            "ALTER TABLE \(vault.schema.name).items ADD x int", "CREATE TABLE \(vault.schema.name).x()",
            "TRUNCATE \(vault.schema.name).items",
        ] {
            let run = try await Program("psql").run(
                [
                    "-X", "-h", server.directory.path, "-p", "\(server.port)", "-U", "orders", "-d", "secrets", "-c",
                    statement,
                ])
            #expect(
                run.status != 0 && run.errorText.contains("permission denied")
                    || run.errorText.contains("must be owner"), "\(statement): \(run.errorText)")
        }
    }

    @Test func `tables and vaults of another version are refused`() async throws {
        let vault = try await DatabaseVault()
        try await vault.create(1)
        try await vault.sql("ALTER TABLE %.items RENAME secret TO other")
        let renamed = try #require(
            await refusal { () async throws(StoreError) in try await vault.open().text(key("0")) })
        #expect(renamed.code == .unsupported && renamed.recoveries == [.printSchema], "\(renamed)")
        try await vault.sql("ALTER TABLE %.items RENAME other TO secret")
        try await vault.sql(
            "UPDATE %.records SET content = set_byte(content, 0, 9) WHERE name = '\(IdentityRecord.recordName)'")
        #expect(await open(vault.uri, vault)?.code == .unsupported)
    }

    /// Verify reported a damaged file.
    @Test func `verify refuses tables of another version as a read does, and reports no damage`() async throws {
        let vault = try await DatabaseVault()
        let store = try await vault.create(1)
        for (table, column) in [("items", "secret"), ("links", "link"), ("leases", "fence")] {
            try await vault.sql("ALTER TABLE %.\(table) RENAME \(column) TO other")
            let renamed = await refusal { () async throws(StoreError) in try await store.verify() }
            #expect(
                renamed?.code == .unsupported && renamed?.recoveries == [.printSchema], "\(table) \(renamed as Any)")
            try await vault.sql("ALTER TABLE %.\(table) RENAME other TO \(column)")
        }
        #expect(try await store.verify().isSound)
    }

    /// Without the table no session is refreshed, and no rekey succeeds.
    @Test func `verify notices leases that are missing or can't be read`() async throws {
        let vault = try await DatabaseVault(on: PostgreSQLServer(isDurable: false), role: "orders")
        try await vault.create(1)
        let store = try await VaultStore.open(
            at: vault.server.vault(vault.schema.name, user: "orders"), unlockedBy: .keyFile(vault.keyFile))
        try await vault.sql("REVOKE SELECT ON %.leases FROM orders")
        let unreadable = await refusal { () async throws(StoreError) in try await store.verify() }
        #expect(unreadable?.code == .permissionDenied && unreadable?.recoveries == [.printSchema])
        try await vault.sql("GRANT SELECT ON %.leases TO orders; ALTER TABLE %.leases RENAME TO others")
        let missing = await refusal { () async throws(StoreError) in try await store.verify() }
        #expect(missing?.code == .unavailable && missing?.recoveries == [.printSchema], "\(missing as Any)")
        try await vault.sql("ALTER TABLE %.others RENAME TO leases")
        #expect(try await store.verify().isSound)
    }

    /// What listens and says nothing, and what never lets anybody in.
    @Test func `the connection stops waiting for a server that hangs in the handshake`() async throws {
        let vault = try await DatabaseVault()
        let silent = try SilentServer()
        let error = try #require(
            await open("postgresql://127.0.0.1:\(silent.port)/d?sslmode=disable", vault, deadline: .after(.seconds(1))))
        #expect(error.code == .unavailable || error.code == .timedOut, "\(error)")
    }

    @Test func `a call stops waiting at the deadline for a server that hangs in a statement`() async throws {
        let vault = try await DatabaseVault()
        let store = try await vault.create(1)
        // Whoever locks the tables for itself.
        let locker = try vault.session()
        locker.type("BEGIN; LOCK TABLE \(vault.schema.name).items; SELECT 'locked';\n")
        try await locker.wait(for: "the lock") { locker.outputSoFar.contains("locked") }
        let reading = await refusal { () async throws(StoreError) in
            try await store.text(key("0"), deadline: .after(.seconds(1)))
        }
        #expect(reading?.code == .timedOut)
        let saving = await refusal { () async throws(StoreError) in
            try await store.save(
                secret("x"), for: key("0"), options: SaveOptions(), deadline: .after(.seconds(1)))
        }
        #expect([.timedOut, .busy].contains(saving?.code))
        locker.kill()
        #expect(try await store.text(key("0")) == "secret 0")
    }

    @Test func `a cancelled task stops waiting`() async throws {
        let vault = try await DatabaseVault()
        let store = try await vault.create(1)
        let locker = try vault.session()
        locker.type("BEGIN; LOCK TABLE \(vault.schema.name).items; SELECT 'locked';\n")
        try await locker.wait(for: "the lock") { locker.outputSoFar.contains("locked") }
        let saving = Task {
            await refusal { () async throws(StoreError) in try await store.save(secret("x"), for: key("0")) }
        }
        try await Task.sleep(for: .milliseconds(300))
        saving.cancel()
        #expect(await saving.value?.code == .cancelled)
        locker.kill()
        #expect(try await store.text(key("0")) == "secret 0")
    }

    /// A vault with one credential, on a server whose certificate is from an authority of the test.
    private static func vaultWithTLS() async throws -> (TestDirectory, CertificateAuthority, DatabaseVault) {
        let folder = try TestDirectory()
        let authority = try await CertificateAuthority(in: folder)
        let server = try await PostgreSQLServer(isDurable: false)
        try await server.useTLS(from: authority)
        let vault = try await DatabaseVault(on: server)
        try await vault.create(1)
        return (folder, authority, vault)
    }

    @Test func `a wrong authority and a wrong name in a certificate are refused, and the right ones accepted`()
        async throws
    {
        let (folder, authority, vault) = try await Self.vaultWithTLS()
        let server = vault.server
        func uri(_ host: String, _ root: String) -> String {
            "postgresql://admin@\(host):\(server.port)/secrets?schema=\(vault.schema.name)"
                + "&sslmode=verify-full&sslrootcert=\(root.replacing("/", with: "%2F"))"
        }
        #expect(await open(uri("localhost", authority.certificate), vault) == nil)
        let elsewhere = uri("secrets.example", authority.certificate) + "&hostaddr=127.0.0.1"
        #expect(await open(elsewhere, vault)?.code == .unavailable)
        let stranger = try TestDirectory()
        let other = try await CertificateAuthority(in: stranger)
        #expect(await open(uri("localhost", other.certificate), vault)?.code == .unavailable)
        // What libpq reads as TLS with any server, and advises against.
        let address = "postgresql://admin@localhost:\(server.port)/secrets?schema=\(vault.schema.name)"
        let error = try #require(await open(address + "&ssl=true", vault))
        #expect(error.code == .unavailable && error.hint?.text.contains("sslrootcert=FILE") == true, "\(error)")
        #expect(!"\(error)".contains("disable"))
        #expect(error.hint?.text.contains("expired") == true)
        let system = try #require(await open(address + "&sslmode=verify-full&sslrootcert=system", vault))
        #expect(system.hint?.text.contains("sslrootcert=system: set a file") == true, "\(system)")
        // libpq connects where PGHOSTADDR says, whatever the host is called: here to every address of this machine.
        for (host, place, status) in [
            ("localhost", "127.0.0.1", Int32(0)), ("localhost", "", 0), ("localhost", "0.0.0.0", 69),
            ("0.0.0.0", "", 69),
            ("0.0.0.0", ",", 69),
        ] {
            let run = try await BuiltProducts.latchkey().run(
                ["list", "--vault", address.replacing("localhost", with: host)],
                environment: try folder.environment().merging(
                    ["LATCHKEY_KEY_FILE": vault.keyFile, "PGHOSTADDR": place]) { $1 })
            #expect(run.status == status, "\(host) \(place) \(run.errorText)")
        }
        // An empty parameter means libpq's default, TLS with any server, and an empty address the server's name.
        let several = "postgresql://admin@localhost,0.0.0.0/secrets?schema=\(vault.schema.name)&port=\(server.port)"
        for (uri, status) in [
            (address + "&sslmode=", Int32(0)), (address.replacing("localhost", with: "0.0.0.0") + "&sslmode=", 69),
            (several + "&hostaddr=127.0.0.1,", 69), (several + "&hostaddr=127.0.0.1,127.0.0.1", 0),
        ] {
            let run = try await BuiltProducts.latchkey().run(
                ["list", "--vault", uri],
                environment: try folder.environment().merging(["LATCHKEY_KEY_FILE": vault.keyFile]) { $1 })
            #expect(run.status == status, "\(uri) \(run.errorText)")
        }
    }

    /// A command ended with SIGABRT: Kerberos' library, where it exited while a thread connected.
    @Test func `a connection isn't encrypted by Kerberos unless the URI says so`() throws {
        let uri = "postgresql://ada@db.example/secrets"
        #expect(try PostgreSQLAddress(uri).parameters["gssencmode"] == "disable")
        #expect(try PostgreSQLAddress(uri + "?gssencmode=require").parameters["gssencmode"] == "require")
    }

    @Test func `a database without a free connection says what to do`() async throws {
        let server = try await PostgreSQLServer(
            isDurable: false, settings: ["max_connections = 4", "superuser_reserved_connections = 0"])
        let vault = try await DatabaseVault(on: server)
        var sessions: [RunningProgram] = []
        for number in 0..<4 {
            let session = try vault.session()
            session.type("SELECT 'at ' || \(number);\n")
            try await session.wait(for: "a connection") { session.outputSoFar.contains("at \(number)") }
            sessions.append(session)
        }
        let error = try #require(await open(vault.uri, vault))
        #expect(error.code == .unavailable && error.hint?.text.contains("max_connections") == true, "\(error)")
        for session in sessions { session.kill() }
    }

    /// OpenSSL asked for it at the terminal, for any time.
    @Test func `a client's encrypted key is an error, not a question`() async throws {
        let (folder, authority, vault) = try await Self.vaultWithTLS()
        try await Program("openssl").run(
            ["ec", "-in", authority.serverKey, "-aes256", "-passout", "pass:x", "-out", folder / "client.key"]
        ).successful("openssl ec")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder / "client.key")
        func word(_ path: String) -> String { path.replacing("/", with: "%2F") }
        let terminal = try PseudoTerminal()
        let program = try BuiltProducts.latchkey().start(
            [
                "list", "--vault",
                "postgresql://admin@localhost:\(vault.server.port)/secrets?schema=\(vault.schema.name)&sslmode=require"
                    + "&sslcert=\(word(authority.serverChain))&sslkey=\(word(folder / "client.key"))",
            ], environment: try folder.environment().merging(["LATCHKEY_KEY_FILE": vault.keyFile]) { $1 },
            terminal: terminal)
        let run = try await program.finish()
        #expect(run.status == 69 && run.errorText.contains("sslkey"), "\(run.errorText)")
        #expect(!terminal.shown.contains("pass phrase"))
    }
}

/// Listens, and never answers.
private final class SilentServer {
    let port: UInt16
    private let descriptor: Int32

    init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.descriptor = descriptor
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe bind(descriptor, pointer, length) == 0 && listen(descriptor, 5) == 0
                    && getsockname(descriptor, pointer, &length) == 0
            }
        }
        guard bound else { throw ServiceFailure("no socket") }
        port = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(descriptor) }
}
