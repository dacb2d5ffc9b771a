internal import LatchkeyJSON

/// `latchkey helper docker`, also as `docker-credential-latchkey`: the protocol of docker-credential-helpers. Errors
/// go to standard output, with exit status 1; some of their texts are part of the protocol.
enum DockerHelper {
    static let command = Command(
        "helper", "docker", summary: "answer docker and podman, as docker-credential-latchkey",
        operands: [.required("VERB", help: "get, store, erase, list or version")],
        details: """
            A credential store for docker and buildx ("credsStore": "latchkey"), and for podman, skopeo and buildah
            (credential-helpers in registries.conf). Run `latchkey setup docker` or `latchkey setup podman` to configure it. Logins are
            stored under the service docker:SERVER.

            For a registry without a login, the helper returns a session's token if the session may be used there. It also finds the
            logins that docker-credential-secretservice stored. It prints errors on standard output, as docker expects. Exits with 1 if
            nothing is found or something fails.
            """,
        examples: ["latchkey helper docker list"],
        calledAs: "docker-credential-latchkey", reportsError: report
    ) { arguments, context in
        switch arguments.operand("VERB") {
        case "get": try await get(context)
        case "store": try await store(context)
        case "erase": try await erase(context)
        case "list": try await list(context)
        case "version":
            try context.output.write("docker-credential-latchkey (latchkey) \(LatchkeyGrammar.version)")
        default:
            throw CommandFailure(
                .usage, "helper.unknown-verb", "unknown verb",
                hint: "use get, store, erase, list or version")
        }
        return .success
    }

    @Sendable private static func report(_ error: any RedactedError, _ output: TerminalOutput) -> ExitStatus {
        // Clients compare some of these texts, and show others to the person.
        try? output.write(error.codeName.description.hasPrefix("docker.") ? error.cause : error.line)
        return .notFound
    }

    private static let notFound = CommandFailure(
        .notFound, "docker.not-found", "credentials not found in native keychain")
    private static let noServer = CommandFailure(.badData, "docker.no-server", "no credentials server URL")
    private static let noUser = CommandFailure(.badData, "docker.no-user", "no credentials username")

    private static let servicePrefix = "docker:"

    // MARK: - Get

    private static func get(_ context: CommandContext) async throws {
        let registry = try registry()
        let view = try await context.openView()
        let services = registry.candidates.map { servicePrefix + $0 }
        var skipped: StoreError?
        if let found = try await view.credential(
            services: services, account: nil, deadline: context.deadline, skipped: &skipped)
        {
            return try answer(registry.text, found.metadata.key.account, found.secret, context)
        }
        if let session = try await context.session(at: registry.origin, user: nil, view) {
            return try answer(registry.text, HostSession.user, session.token, context)
        }
        let others = try await view.foreign(having: [shape], deadline: context.deadline, skipped: &skipped)
        let found = try await others.credential(
            services: services, account: nil, deadline: context.deadline, skipped: &skipped)
        guard let found else {
            try view.checkAllSearched(skipped)
            throw notFound
        }
        try answer(registry.text, found.metadata.key.account, found.secret, context)
    }

    /// The attribute of docker-credential-secretservice's items.
    private static let shape = ItemAttributes(ofOthers: ["docker_cli": "1"])

    private static func answer<Purpose: SecretPurpose>(
        _ server: String, _ user: String, _ secret: borrowing Secret<Purpose>, _ context: CommandContext
    ) throws {
        var json = JSONWriter()
        try json.member("ServerURL", publicText: server)
        try json.member("Username", publicText: user)
        try json.member("Secret", secret: secret.withoutLineBreak())
        try context.output.write(secret: json.finish(as: MessageBody.self))
    }

    /// The registry that standard input names.
    private static func registry() throws -> RegistryName {
        let input = try SecretInput.readAll(as: MessageBody.self, limit: 8192)
        guard let text = input.withExposedBytes({ $0.publicText() }), let registry = RegistryName(text) else {
            throw noServer
        }
        return registry
    }

    // MARK: - Store and erase

    private static func store(_ context: CommandContext) async throws {
        let input = try SecretInput.readAll(as: MessageBody.self, limit: 256 << 10)
        guard let document = try? JSONDocument(input) else {
            throw CommandFailure(
                .badData, "helper.malformed", "standard input isn't a request from docker",
                hint: "pass a JSON object with ServerURL, Username and Secret")
        }
        guard let server = document.text(document.member("ServerURL")), let registry = RegistryName(server)
        else { throw noServer }
        guard let user = document.text(document.member("Username")), !user.isEmpty else { throw noUser }
        guard let member = document.member("Secret"), let secret = try? document.secret(member, as: Password.self),
            !secret.isEmpty
        else {
            throw CommandFailure(.badData, "docker.no-secret", "no credentials secret")
        }
        let key = try CredentialKey(service: servicePrefix + registry.text, account: user)
        let view = try await context.openView()
        let store = try await view.store(for: key, deadline: context.deadline)
        // A registry has one login: another one, also under another spelling, would be what `get` finds.
        let services = registry.spellings.map { servicePrefix + $0 }
        let others = try await store.keys(services, nil, context.deadline).filter { $0 != key }
        try await store.save(
            secret, for: key, options: SaveOptions(label: "Registry: \(registry.text)", contentType: .text),
            deadline: context.deadline)
        for other in others { try await store.delete(other, condition: .none, deadline: context.deadline) }
    }

    private static func erase(_ context: CommandContext) async throws {
        let registry = try registry()
        let services = registry.spellings.map { servicePrefix + $0 }
        let isErased = try await context.openView().erase(services: services, shape: shape, deadline: context.deadline)
        if !isErased { throw notFound }
    }

    // MARK: - List

    /// One object with a member for each registry, whose value is the user.
    private static func list(_ context: CommandContext) async throws {
        let view = try await context.openView()
        var skipped: StoreError?
        let others = try await view.foreign(having: [shape], deadline: context.deadline, skipped: &skipped)
        var users: [String: String] = [:]
        for view in [view, others] {
            _ = try await view.first(skipped: &skipped) { (store) -> Void? in
                let logins = try await store.list(deadline: context.deadline).all().filter { entry in
                    entry.key.kind == .password && entry.key.service.hasPrefix(servicePrefix)
                }
                // The first one is the one that `get` finds.
                for login in logins.sorted(by: { $0.modified > $1.modified }) {
                    let server = String(login.key.service.dropFirst(servicePrefix.count))
                    users[server] = users[server] ?? login.key.account
                }
                return nil
            }
        }
        try context.output.write(
            texts: users.sorted { $0.key < $1.key }.map { (Self.shown($0.key), Self.shown($0.value)) })
        // Docker would use no login at all.
        if let error = skipped ?? view.refusals.first?.error { context.output.note(error.line) }
    }

    private static func shown(_ name: String) -> LoggableText {
        LoggableText(reviewed: "services and accounts are what a listing shows", unredacted: name)
    }
}

/// The name that docker and other clients use for a registry: a host, with or without a scheme, a port and a path.
struct RegistryName {
    /// As the client wrote it, without white space around it.
    let text: String
    /// Host and port.
    let host: String
    private let path: String
    /// In lower case; HTTPS where none is written.
    private let scheme: String

    /// `nil` for one without a host, with a user in it, or with what another reader could take for another host.
    init?(_ given: String) {
        let text = given.drop { $0.isWhitespace }
        self.text = String(text.reversed().drop { $0.isWhitespace }.reversed())
        var rest = self.text[...]
        let start = HostName.endOfScheme(in: self.text) ?? self.text.startIndex
        scheme = start == self.text.startIndex ? "https://" : ASCII.lowercased(rest[..<start])
        rest = rest[start...]
        let end = rest.firstIndex(of: "/") ?? rest.endIndex
        host = ASCII.lowercased(rest[..<end])
        path = String(rest[end...].reversed().drop { $0 == "/" }.reversed())
        guard HostName.isSound(host) else { return nil }
    }

    /// Where its sessions' tokens may go.
    var origin: String { scheme + host }

    /// The possible names of the same registry in the store, the nearest first: the request's text, then host and path
    /// with and without the scheme. Only the text, if the scheme is neither HTTP nor HTTPS.
    var spellings: [String] { unique([text] + forms(of: host + path)) }

    /// The names whose login answers: also the host's alone.
    var candidates: [String] { unique(spellings + forms(of: host)) }

    private func forms(of place: String) -> [String] {
        // A login for HTTPS never goes to another scheme.
        switch scheme {
        case "https://":
            // docker and podman have two names for the Docker Hub.
            // Others name a registry by the address of its API.
            (Self.hub.contains(place) ? Self.hub : place == host + "/v1" ? [place, host] : [place]).flatMap { place in
                [place, "https://\(place)", "\(place)/", "https://\(place)/", "https://\(place)/v1/"]
            }
        case "http://": ["http://\(place)", "http://\(place)/"]
        default: []
        }
    }

    private static let hub = "docker.io index.docker.io index.docker.io/v1".split(separator: " ").map(String.init)

    private func unique(_ names: [String]) -> [String] {
        var seen: Set<String> = []
        return names.filter { seen.insert($0).inserted }
    }
}
