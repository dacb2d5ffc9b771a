internal import CLatchkeyLibpq
internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeyLog

/// Where a vault in a database is: a connection URI of PostgreSQL (libpq, section 34.1.1.2), with one parameter of our
/// own, `schema`, for the schema that its tables are in (`latchkey` where there is none).
struct PostgreSQLAddress: Sendable, Hashable {
    /// The parameters for libpq: those of the URI without `schema`, and our defaults.
    let parameters: [String: String]
    let schema: PostgreSQLSchemaName
    /// The URI without the user's name and without what only says how to connect.
    let location: String

    static let maximumByteCount = 4096

    /// Whether a vault's location is an address instead of a path: our kind of URI or another one, which may contain a
    /// password and so must not become a file's name. A path with `:` or `=` before its first slash is written as
    /// `./NAME`.
    static func isAddress(_ text: String) -> Bool {
        guard let first = text.utf8.first, !"/.~".utf8.contains(first) else { return false }
        return text.utf8.prefix { $0 != 0x2F }.contains { ":=".utf8.contains($0) }
    }

    /// Throws `unsupported` for an address of another kind, and for a URI with a password in it: other processes and
    /// logs see it. libpq isn't needed. The address isn't shown.
    static func check(_ text: String) throws(StoreError) {
        guard isAddress(text) else { return }
        guard ["postgresql:", "postgres:"].contains(where: { text.utf8.starts(with: $0.utf8) }) else {
            throw .noDatabaseURI("it doesn't begin with `postgresql:`")
        }
        let parts = text.split(separator: "?", maxSplits: 1)
        let authority = parts[0].drop { $0 != "/" }.drop { $0 == "/" }
        let user = authority.lastIndex(of: "@").map { authority[..<$0] } ?? ""
        let parameters = parts.count > 1 ? parts[1].split(separator: "&") : []
        let names = parameters.map { $0.prefix { $0 != "=" } }
        if user.contains(":") || names.contains(where: { $0 == "password" || $0 == "sslpassword" }) {
            throw .passwordInURI
        }
        // `//ada:secret`, with the host forgotten, has a password in the port's place.
        let fields = parts[0].split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        let servers = fields.count > 2 ? fields[2].split(separator: "@").last?.split(separator: ",") ?? [] : []
        let ports =
            servers.compactMap { server in server.lastIndex(of: ":").map { server[$0...].dropFirst() } }
            + parameters.filter { $0.hasPrefix("port=") }.flatMap { $0.dropFirst(5).split(separator: ",") }
        // An IPv6 address has colons within brackets.
        guard ports.allSatisfy({ $0.last == "]" || $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }) else {
            throw .noDatabaseURI("its port isn't a number")
        }
    }

    /// Throws `unsupported` for another URI, for one with a password, and without libpq.
    init(_ text: String) throws(StoreError) {
        guard text.utf8.count <= Self.maximumByteCount, !text.utf8.contains(0) else {
            throw .noDatabaseURI("it is longer than \(Self.maximumByteCount) bytes")
        }
        try Self.check(text)
        let (uri, schema) = try Self.separateSchema(text)
        var parameters = try Self.parse(uri)
        guard parameters["password"] == nil, parameters["sslpassword"] == nil else {
            throw .passwordInURI
        }
        self.schema = schema
        location = Self.location(parameters, schema)
        // libpq would connect there anyway, and `host` might seem to be this machine.
        if parameters["hostaddr"]?.isEmpty ?? true { parameters["hostaddr"] = Self.setting("PGHOSTADDR") }
        // A vault is written to: of several servers the primary one.
        if parameters["target_session_attrs"]?.isEmpty ?? true { parameters["target_session_attrs"] = "read-write" }
        // With libpq's default, any server would get the password. An empty value means that default too.
        if parameters["sslmode"]?.isEmpty ?? true, !Self.isLoopback(parameters) {
            parameters["sslmode"] = "verify-full"
        }
        // Kerberos encryption would take the place of TLS and its check of the server, and Kerberos' library ends a process
        // that exits while it connects.
        if parameters["gssencmode"] == nil { parameters["gssencmode"] = "disable" }
        parameters["fallback_application_name"] = "latchkey"
        self.parameters = parameters
    }

    /// The parameters for each of several servers, in turn. If the lists have different lengths, libpq gets all of them
    /// and reports that.
    var servers: [[String: String]] {
        let lists = ["host", "hostaddr", "port"].compactMap { name in
            parameters[name].map { (name: name, values: $0.split(separator: ",", omittingEmptySubsequences: false)) }
        }
        let count = lists.map(\.values.count).max() ?? 1
        guard lists.allSatisfy({ $0.values.count == count || $0.name == "port" && $0.values.count == 1 }) else {
            return [parameters]
        }
        return (0..<count).map { index in
            let own = lists.map { ($0.name, String($0.values.count == 1 ? $0.values[0] : $0.values[index])) }
            return parameters.merging(own) { $1 }
        }
    }

    /// Whether the URI names all servers, and all are this machine. A socket counts, and doesn't have TLS. A service may
    /// have another address for the same host.
    private static func isLoopback(_ parameters: [String: String]) -> Bool {
        func list(_ name: String) -> [Substring] {
            parameters[name]?.split(separator: ",", omittingEmptySubsequences: false) ?? []
        }
        let (hosts, addresses) = (list("host"), list("hostaddr"))
        // A server without an address is found by its name.
        let servers = (0..<max(hosts.count, addresses.count)).map { index in
            let address = index < addresses.count ? addresses[index] : ""
            return address.isEmpty && index < hosts.count ? hosts[index] : address
        }
        let hasService = parameters["service"] != nil || setting("PGSERVICE") != nil
        return !servers.isEmpty && !hasService && servers.allSatisfy { HostName.isLoopback($0) }
    }

    /// A variable of libpq's, unless it is empty, as libpq reads it.
    private static func setting(_ name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    // MARK: - Parts

    /// libpq knows its own parameters only.
    private static func separateSchema(_ text: String) throws(StoreError) -> (String, PostgreSQLSchemaName) {
        guard let mark = text.firstIndex(of: "?") else { return (text, .standard) }
        var others: [Substring] = []
        var schema: PostgreSQLSchemaName?
        for parameter in text[text.index(after: mark)...].split(separator: "&") {
            guard parameter.hasPrefix("schema=") else {
                // libpq reads this as TLS with any server.
                others.append(parameter == "ssl=true" ? "sslmode=verify-full" : parameter)
                continue
            }
            guard schema == nil, let name = PostgreSQLSchemaName(String(parameter.dropFirst("schema=".count))) else {
                throw .noDatabaseURI(
                    "its schema isn't a name of lower-case letters, digits and `_`",
                    hint: "write the schema as `schema=NAME`, such as schema=latchkey")
            }
            schema = name
        }
        let rest = others.isEmpty ? "" : "?" + others.joined(separator: "&")
        return (text[..<mark] + rest, schema ?? .standard)
    }

    private static func parse(_ uri: String) throws(StoreError) -> [String: String] {
        try mapError(StoreError.init, of: LibraryFailure.check(latchkey_libpq_load()))
        var message: UnsafeMutablePointer<CChar>?
        defer { unsafe PQfreemem(message) }
        guard let options = unsafe PQconninfoParse(uri, &message) else {
            // libpq's message may contain part of the URI, and a password in it.
            throw .noDatabaseURI("libpq can't read it")
        }
        defer { unsafe PQconninfoFree(options) }
        var parameters: [String: String] = [:]
        var option = unsafe options
        while let keyword = unsafe option.pointee.keyword {
            if let value = unsafe option.pointee.val {
                unsafe parameters[String(cString: keyword)] = String(cString: value)
            }
            unsafe option += 1
        }
        return parameters
    }

    /// The location for people, leases and logs: servers, database and schema.
    private static func location(_ parameters: [String: String], _ schema: PostgreSQLSchemaName) -> String {
        let hosts = (parameters["host"] ?? parameters["hostaddr"] ?? "").split(
            separator: ",", omittingEmptySubsequences: false)
        let ports = (parameters["port"] ?? "").split(separator: ",", omittingEmptySubsequences: false)
        let servers = hosts.enumerated().map { index, host -> String in
            let port = ports.count == 1 ? ports[0] : index < ports.count ? ports[index] : ""
            return port.isEmpty ? String(host) : "\(host):\(port)"
        }
        let name = schema == .standard ? "" : "?schema=\(schema.name)"
        return "postgresql://\(servers.joined(separator: ","))/\(parameters["dbname"] ?? "")\(name)"
    }
}

/// A schema's or role's name: a small letter or `_`, then these and digits, 63 bytes at most.
package struct PostgreSQLSchemaName: Sendable, Hashable {
    package let name: String

    package static let standard = PostgreSQLSchemaName("latchkey")!

    package init?(_ name: String) {
        func isLetter(_ byte: UInt8) -> Bool { byte >= 0x61 && byte <= 0x7A || byte == 0x5F }
        guard let first = name.utf8.first, name.utf8.count <= 63, isLetter(first),
            name.utf8.allSatisfy({ isLetter($0) || $0 >= 0x30 && $0 <= 0x39 }),
            // PostgreSQL keeps these for itself.
            !name.hasPrefix("pg_")
        else { return nil }
        self.name = name
    }

    /// As statements need it where it is a word of SQL, such as `order`.
    var quoted: String { "\"\(name)\"" }

    /// A statement with the name in place of each `%`.
    func filled(in statement: String) -> String {
        statement.replacing("%.", with: quoted + ".").replacing("%", with: name)
    }
}

extension StoreError {
    fileprivate static var passwordInURI: StoreError {
        StoreError(
            .unsupported, "a password may not be in a vault's URI, where other processes and logs see it",
            hint: "put it into a password file (~/.pgpass), or use a certificate or peer authentication")
    }

    fileprivate static func noDatabaseURI(
        _ why: LogMessage,
        hint: LogMessage = """
        write a database as `postgresql://HOST/DATABASE?sslmode=verify-full`, and a file's name with `:` or `=` as ./NAME
        """
    ) -> StoreError {
        StoreError(.unsupported, "the vault's address isn't the URI of a database: \(why)", hint: hint)
    }
}

/// Makes a connection, step by step (libpq, section 34.1, PQconnectPoll), so that the deadline holds for any server.
/// libpq's own call only checks the clock while the server is silent.
struct PostgreSQLHandshake {
    private let address: PostgreSQLAddress
    private let cancellation: Cancellation

    /// Certificates and parameters are some kilobytes.
    private static let maximumByteCount: UInt64 = 1 << 20

    init(_ address: PostgreSQLAddress, _ cancellation: Cancellation) {
        self.address = address
        self.cancellation = cancellation
    }

    /// The first server that fits, each given its share of the time that is left. The caller ends the connection.
    ///
    /// Throws `unavailable` with what each says, and `permissionDenied` if one refuses the user or the password: too many
    /// of these lock a role.
    func connect() throws(StoreError) -> OpaquePointer {
        let servers = address.servers
        var messages: [String] = []
        var isRefused = false
        for (index, server) in servers.enumerated() {
            var time = cancellation.deadline.remaining / (servers.count - index)
            if let limit = server["connect_timeout"].flatMap({ Int($0) }), limit > 0 {
                time = min(time, .seconds(limit))
            }
            guard let connection = unsafe Self.start(server) else {
                throw StoreError(.unavailable, "not enough memory for a connection")
            }
            let end = Result { () throws(StoreError) in try unsafe finish(connection, .after(time)) }
            if case .success(nil) = end { return unsafe connection }
            if unsafe PQconnectionNeedsPassword(connection) == 1 { isRefused = true }
            unsafe PQfinish(connection)
            guard let message = try end.get() else { continue }
            // PostgreSQL, appendix A: class 28, invalid authorization specification.
            if message.contains(" 28P01: ") || message.contains(" 28000: ") { isRefused = true }
            messages.append(message)
        }
        throw .noDatabase(address, messages.joined(separator: "\n"), isRefused: isRefused)
    }

    /// Returns what is wrong, or `nil`.
    private func finish(_ connection: OpaquePointer, _ deadline: Deadline) throws(StoreError) -> String? {
        var step = PGRES_POLLING_WRITING
        var wait = LongWait()
        defer { wait.end() }
        while unsafe PQstatus(connection) != CONNECTION_BAD && step != PGRES_POLLING_FAILED {
            let socket = unsafe PQsocket(connection)
            wait.goesOn("waiting for the database")
            let isReady = deadline.poll(socket, for: Int16(step == PGRES_POLLING_READING ? POLLIN : POLLOUT))
            if let error = failure(StoreError.self, of: try cancellation.check()), error.code == .cancelled {
                throw error
            }
            guard !deadline.hasPassed, PostgreSQLConnection.receivedByteCount(socket) <= Self.maximumByteCount else {
                return "\(unsafe Self.host(connection)) didn't accept the connection in time"
            }
            if !isReady { continue }
            step = unsafe PQconnectPoll(connection)
            if step == PGRES_POLLING_OK { return nil }
        }
        return unsafe String(cString: PQerrorMessage(connection))
    }

    private static func host(_ connection: OpaquePointer) -> String {
        guard let host = unsafe PQhost(connection) else { return "the server" }
        return unsafe String(cString: host)
    }

    /// OpenSSL would ask for the passphrase of a client's key itself, and wait for any time. libpq's function only knows the
    /// one of a service file.
    private static let passphraseHook: Void = unsafe PQsetSSLKeyPassHook_OpenSSL {
        unsafe PQdefaultSSLKeyPassHook_OpenSSL($0, $1, $2)
    }

    private static func start(_ parameters: [String: String]) -> OpaquePointer? {
        var names: [UnsafePointer<CChar>?] = unsafe []
        var values: [UnsafePointer<CChar>?] = unsafe []
        for (name, value) in parameters {
            unsafe names.append(UnsafePointer(strdup(name)))
            unsafe values.append(UnsafePointer(strdup(value)))
        }
        defer {
            for index in unsafe names.indices {
                unsafe free(UnsafeMutablePointer(mutating: names[index]))
                unsafe free(UnsafeMutablePointer(mutating: values[index]))
            }
        }
        let connection = unsafe PQconnectStartParams(names + [nil], values + [nil], 0)
        // The message then includes the SQLSTATE, because its words are in the server's language.
        unsafe PQsetErrorVerbosity(connection, PQERRORS_VERBOSE)
        // A notice would go to standard error otherwise, and in the server's own words.
        unsafe PQsetNoticeReceiver(connection, { _, _ in }, nil)
        _ = passphraseHook
        return unsafe connection
    }
}
