internal import LatchkeyJSON

/// `latchkey helper keyring`, also as `keyring`: as much of Python keyring's command as pip and uv call. Where
/// there is nothing, it says nothing, with exit status 1: they ask for several names in a row.
enum KeyringHelper {
    private static let mode = CommandOption.value(
        "--mode", "MODE", form: .choice(["password", "creds"]), help: "password, or creds for the user name too")
    private static let output = CommandOption.value(
        "--output", "FORMAT", form: .choice(["plain", "json"]), help: "plain or json (default: plain)")

    static let command = Command(
        "helper", "keyring", summary: "answer pip and uv, as keyring",
        operands: [
            .choice("VERB", ["get", "set", "del"], help: "get, set or del"),
            .required("SERVICE", help: "address of an index, or another service"),
            .optional("USER", help: "user name; get --mode creds finds it"),
        ],
        options: [mode, output],
        details: """
            Implements the parts of Python keyring's command that other programs run. get looks for the address, then for each path above
            it, then for the host. An http address gets only what is stored for an http address, unless its host is this machine. set
            reads the secret from standard input, without a final newline, or asks for it at a terminal.

            The Debian package installs a link for pip and uv at /usr/lib/latchkey/helpers/keyring. Exits with 1, without a
            message, if nothing is found.
            """,
        examples: ["latchkey helper keyring get --mode creds https://pypi.example.org/simple"],
        calledAs: "keyring", reportsError: report
    ) { arguments, context in
        let service = arguments.operand("SERVICE")
        let user = arguments.optionalOperand("USER")
        switch arguments.operand("VERB") {
        case "get":
            let wantsLogin = arguments.value(mode) == "creds"
            guard user != nil || wantsLogin else { throw missingUser }
            return try await get(service, user, wantsLogin, arguments, context) ? .success : .notFound
        case "set":
            try await set(try key(service, user), context)
            return .success
        default:
            let view = try await context.openView()
            let key = try key(service, user)
            let store = try await view.store(for: key, deadline: context.deadline)
            return try await store.delete(key, condition: .none, deadline: context.deadline) ? .success : .notFound
        }
    }

    /// Clients look at whether it is 0 alone.
    @Sendable private static func report(_ error: any RedactedError, _ output: TerminalOutput) -> ExitStatus {
        output.note(error.line)
        return .notFound
    }

    private static let missingUser = CommandFailure(
        .usage, "usage.missing-operand", "USER is missing", hint: "usage: keyring get SERVICE USER")

    private static func key(_ service: String, _ user: String?) throws -> CredentialKey {
        guard let user else { throw missingUser }
        return try CredentialKey(service: service, account: user)
    }

    // MARK: - Get

    private static func get(
        _ service: String, _ user: String?, _ wantsLogin: Bool, _ arguments: ParsedArguments, _ context: CommandContext
    ) async throws -> Bool {
        let view = try await context.openView()
        let index = IndexName(service)
        let wantsJSON = arguments.value(output) == "json"
        var skipped: StoreError?
        let found = try await view.credential(
            services: index.candidates, account: user, deadline: context.deadline, skipped: &skipped)
        if let found {
            try answer(found.metadata.key.account, found.secret, wantsLogin, wantsJSON, context)
            return true
        }
        guard let origin = index.origin, let session = try await context.session(at: origin, user: user, view) else {
            try view.checkAllSearched(skipped)
            return false
        }
        try answer(user ?? HostSession.user, session.token, wantsLogin, wantsJSON, context)
        return true
    }

    private static func answer<Purpose: SecretPurpose>(
        _ user: String, _ secret: borrowing Secret<Purpose>, _ wantsLogin: Bool, _ wantsJSON: Bool,
        _ context: CommandContext
    ) throws {
        var answer = SecretBuilder()
        if wantsJSON {
            var json = JSONWriter()
            if wantsLogin { try json.member("username", publicText: user) }
            try json.member("password", secret: secret.withoutLineBreak())
            try answer.append(json.finish(as: MessageBody.self))
        } else {
            if wantsLogin { try answer.append(publicText: user + "\n") }
            try answer.append(secret.withoutLineBreak())
        }
        try answer.append(publicText: "\n")
        try context.output.write(secret: answer.finish(as: MessageBody.self))
    }

    // MARK: - Set

    private static func set(_ key: CredentialKey, _ context: CommandContext) async throws {
        let view = try await context.openView()
        let store = try await view.store(for: key, deadline: context.deadline)
        let limit = store.capabilities.maximumSecretByteCount
        // At a terminal a person typed the command, as the guides of pip and uv say.
        let given =
            SecretInput.isTerminal()
            ? try SecretPrompt(isAllowed: true).ask("Password for \(key)", as: Password.self, limit: limit)
            : try SecretInput.readAll(as: Password.self, limit: limit)
        try await store.save(
            given.withoutLineBreak().requiringContent(), for: key, options: SaveOptions(contentType: .text),
            deadline: context.deadline)
    }
}

/// The service in a request by pip or uv: the address of an index or of a package on it, or a host.
struct IndexName {
    private let text: String

    init(_ text: String) {
        self.text = text
    }

    /// The scheme with its slashes, and the host with its port; `nil` for a name that isn't an address.
    private var parts: (scheme: Substring, host: Substring, path: Substring)? {
        guard let start = HostName.endOfScheme(in: text) else { return nil }
        let rest = text[start...]
        // A host ends at a query too. The query can't make it another host.
        let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        // A user in an address isn't part of the index's name.
        let host = rest[..<end].split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        // A backslash ends a host to some readers, and not to others.
        guard HostName.isSound(host), !rest[..<end].contains("\\") else { return nil }
        return (text[..<start], host, rest[end...].prefix { $0 != "?" && $0 != "#" })
    }

    var origin: String? { parts.map { ASCII.lowercased("\($0.scheme)\($0.host)") } }

    /// The names to look for, the longest first: the address verbatim, then each path above it with and without its
    /// slash, both verbatim and with scheme and host in lower case. The host is a name too for HTTPS and this machine,
    /// because the host's login may be one for HTTPS.
    var candidates: [String] {
        guard let (scheme, host, path) = parts else { return [text] }
        let roots = ["\(scheme)\(host)", ASCII.lowercased("\(scheme)\(host)")]
        var names = [text]
        var pieces = path.split(separator: "/")
        while pieces.count <= Self.mostPathParts {
            let place = pieces.map { "/\($0)" }.joined()
            names += roots.flatMap { [$0 + place + "/", $0 + place] }
            if pieces.popLast() == nil { break }
        }
        if ASCII.lowercased(scheme) == "https://" || HostName.isLoopback(HostName.withoutPort(host)) {
            names += [String(host), ASCII.lowercased(host)]
        }
        var seen: Set<String> = []
        return names.filter { seen.insert($0).inserted }
    }

    /// The limit of parts. Only the whole address and its host are names of an address with more parts.
    private static let mostPathParts = 16
}

extension Secret where Purpose: SecretPurpose {
    /// A copy without one final line break, which `echo` and Python's `getpass` add.
    borrowing func withoutLineBreak() -> Secret<Purpose> {
        let count = withExposedBytes { $0.count > 0 && $0[$0.count - 1] == 0x0A ? $0.count - 1 : $0.count }
        return withExposedBytes { Secret(copying: $0.extracting(0..<count)) }
    }

    /// Refuses an empty one, as a program that failed passes on: it would take the place of what is stored.
    consuming func requiringContent() throws(CommandFailure) -> Secret<Purpose> {
        guard !isEmpty else {
            throw CommandFailure(
                .badData, "secret.empty", "nothing was stored because the secret is empty",
                hint: "check the program that passes the secret")
        }
        return self
    }
}
