internal import LatchkeyCredentials
internal import LatchkeyLog

extension StoreError {
    /// The error for an SQLSTATE (PostgreSQL, appendix A), and whether the connection is lost. The error doesn't
    /// contain the server's text, because the database's owner could choose it.
    static func database(_ state: String, _ address: PostgreSQLAddress) -> (error: StoreError, endsConnection: Bool) {
        let code = LoggableText(reviewed: "an SQLSTATE, five characters at most", unredacted: String(state.prefix(5)))
        func error(_ kind: Code, _ cause: LogMessage, hint: LogMessage? = nil) -> (StoreError, Bool) {
            (StoreError(kind, "\(cause) (SQLSTATE \(code))", hint: hint), false)
        }
        switch state {
        // The server goes down, comes up, or takes no changes since another one has become the primary.
        case "57P01", "57P02", "57P03", "57P05", "25P03", "25006":
            return (.connectionLost, true)
        case "3F000", "42P01": return (.noTables(in: address), false)
        case "42703", "42883", "42804":
            return error(
                .unsupported, "the database's tables are not those of a vault of this version",
                hint: "\(Recovery.printSchema), and compare")
        case "42501":
            return error(
                .permissionDenied, "the database's role lacks rights on the tables of the vault",
                hint: "\(Recovery.printSchema): its GRANT statements give the rights")
        case "40001", "40P01", "55P03", "57014": return error(.busy, "other processes are writing to the vault")
        // Division by zero, in PostgreSQLQuery.change.
        case "22012":
            return error(
                .permissionDenied, "the database skipped a change of the vault's tables, so nothing was changed",
                hint: "remove the triggers and rules on the vault's tables")
        case "53100": return error(.cannotWrite, "the database's disk is full")
        case "54000": return error(.tooLarge, "the row is too large for the database")
        default: break
        }
        switch state.prefix(2) {
        case "08": return (.connectionLost, true)
        case "22", "23": return error(.corrupted, "the database's rows are not those of a vault")
        case "53": return error(.unavailable, "the database can't take another connection or statement")
        default: return error(.unavailable, "the database refused a statement")
        }
    }

    /// In a transaction it says that nothing was changed.
    static var connectionLost: StoreError { StoreError(.busy, "the connection to the database was lost") }

    /// The server warned at a commit.
    static var commitDoubtful: StoreError {
        StoreError(
            .timedOut, "the database stored the change, but a standby may not have it",
            hint: "make sure that the database's standby works")
    }

    static var vaultExists: StoreError {
        StoreError(
            .conflict, "the database's schema already contains a vault",
            hint: "open that vault, or choose another schema")
    }

    static var noVaultRecords: StoreError {
        StoreError(.unavailable, "the database's tables don't contain a vault yet", hint: "\(Recovery.createVault)")
    }

    static var lostRecords: StoreError {
        StoreError(
            .conflict, "the database's schema contains items of a vault, but not its records",
            hint: "restore the table `records` from a backup, or choose another schema")
    }

    static func noTables(in address: PostgreSQLAddress) -> StoreError {
        let name = LoggableText(reviewed: "a schema's name", unredacted: address.schema.name)
        return StoreError(
            .unavailable, "the database's schema \(name) doesn't contain all tables of a vault",
            hint: "\(Recovery.printSchema), for the database's administrator")
    }

    static func noDatabase(
        _ address: PostgreSQLAddress, _ message: String, isRefused: Bool = false
    ) -> StoreError {
        let place = LoggableText(reviewed: "a database's servers and name", unredacted: address.location)
        // A line of libpq's own ends with the advice not to check the server's certificate; one names the server's source.
        let lines = message.split(separator: "\n")
            .filter { !$0.hasPrefix("Either provide the file") && !$0.hasPrefix("LOCATION:") }
            .map { $0.drop { $0 == " " || $0 == "\t" } }.joined(separator: "; ")
        let reason = LoggableText(
            reviewed: "libpq on a connection that failed: servers, names; never a password",
            unredacted: String(lines.prefix(1000)))
        if isRefused {
            return StoreError(
                .permissionDenied, "the database \(place) refuses this user: \(reason)",
                hint: "check the user in the vault's URI, the password file (~/.pgpass) and the server's pg_hba.conf")
        }
        return StoreError(
            .unavailable, "the database \(place) can't be reached: \(reason)", hint: hint(to: message))
    }

    /// To a message of libpq, in English, or of the server, which may be translated.
    private static func hint(to message: String) -> LogMessage {
        if message.contains("read-only") {
            return "let the vault's URI name the primary server, and make sure that it takes changes"
        }
        if message.contains("private key file") {
            return "check the client's key (sslkey): Latchkey doesn't ask for its passphrase"
        }
        if message.contains("file \"system\"") {
            return """
                libpq before version 16 doesn't have sslrootcert=system: set a file, such as \
                /etc/ssl/certs/ca-certificates.crt
                """
        }
        if message.contains("certificate") {
            return """
                check that the server's certificate hasn't expired; if the server is yours, add sslrootcert=FILE with its \
                certificate authority to the vault's URI
                """
        }
        if message.contains("too many") || message.contains("connection slots") {
            return """
                raise max_connections, or the limit of the role or database, or use a connection pool such as pgbouncer
                """
        }
        return "make sure that the database runs and accepts this user, and check the vault's URI"
    }
}
