internal import LatchkeyJSON
internal import Synchronization

/// `latchkey helper cargo`, also as `cargo-credential-latchkey`: cargo's Credential Provider Protocol, version 1.
enum CargoHelper {
    private static let cargoPlugin = CommandOption.flag(
        "--cargo-plugin", help: "passed by cargo; ignored")

    static let command = Command(
        "helper", "cargo", summary: "answer cargo, as cargo-credential-latchkey", options: [cargoPlugin],
        details: """
            A credential provider for cargo 1.74 and later: `cargo login`, `cargo publish` and fetches from private registries run it.
            Tokens are stored under the service cargo:INDEX-URL, with the account token. The helper also finds the tokens that
            cargo:libsecret stored. It reports errors in its answer, with exit status 0.
            """,
        examples: ["latchkey helper cargo"],
        calledAs: "cargo-credential-latchkey", reportsError: report
    ) { arguments, context in
        try greet(context.output)
        let request = try CargoRequest(
            SecretInput.readAll(
                as: MessageBody.self, limit: 1 << 20, until: { $0.index(of: UInt8(ascii: "\n")) != nil }))
        switch request.kind {
        case "get": try await get(request, context)
        case "login": try await login(request, mayAsk: !arguments.has(GlobalOptions.noPrompt), context)
        case "logout": try await logout(request, context)
        default:
            throw CommandFailure(
                .badData, "cargo.operation-not-supported", "Latchkey doesn't support this operation",
                hint: "add another credential provider to cargo's configuration")
        }
        return .success
    }

    /// Whether the supported protocol versions were written. They come first, even before an error.
    private static let hasGreeted = Mutex(false)

    private static func greet(_ output: TerminalOutput) throws(CommandFailure) {
        let isFirst = hasGreeted.withLock { hasGreeted in
            defer { hasGreeted = true }
            return !hasGreeted
        }
        if isFirst { try output.write("{\"v\":[1]}") }
    }

    /// cargo reads an error from standard output, with exit status 0: another status hides it.
    @Sendable private static func report(_ error: any RedactedError, _ output: TerminalOutput) -> ExitStatus {
        let kind =
            switch error.codeName.description {
            case "cargo.not-found": "not-found"
            case "cargo.operation-not-supported": "operation-not-supported"
            default: "other"
            }
        var json = JSONWriter()
        try? json.member("kind", publicText: kind)
        try? json.member("message", publicText: error.line.text)
        try? json.member("caused-by", publicTexts: [])
        try? greet(output)
        try? answer("Err", json, output)
        return .success
    }

    /// Writes a line with an object of one member.
    private static func answer(
        _ name: StaticString, _ value: consuming JSONWriter, _ output: TerminalOutput
    ) throws {
        var line = SecretBuilder()
        try line.append(publicText: "{\"\(name)\":")
        try line.append(value.finish(as: MessageBody.self))
        try line.append(publicText: "}\n")
        try output.write(secret: line.finish(as: MessageBody.self))
    }

    private static let notFound = CommandFailure(
        .notFound, "cargo.not-found", "no token is stored for this registry", hint: "run `cargo login`")

    /// A registry has one token.
    private static let account = "token"

    private static func key(_ request: borrowing CargoRequest) throws -> CredentialKey {
        try CredentialKey(service: "cargo:" + request.indexURL, account: account)
    }

    private static func get(_ request: borrowing CargoRequest, _ context: CommandContext) async throws {
        let key = try key(request)
        let view = try await context.openView()
        var skipped: StoreError?
        let found = try await view.credential(
            services: [key.service], account: account, deadline: context.deadline, skipped: &skipped)
        if let found { return try answer(found.secret, context) }
        let others = try await view.foreign(having: [shape(of: request)], deadline: context.deadline, skipped: &skipped)
        let other = try await others.credential(
            services: [key.service], account: account, deadline: context.deadline, skipped: &skipped)
        guard let other else {
            try view.checkAllSearched(skipped)
            throw notFound
        }
        try answer(other.secret, context)
    }

    /// The attributes of cargo:libsecret's item.
    private static func shape(of request: borrowing CargoRequest) -> ItemAttributes {
        ItemAttributes(ofOthers: ["url": request.indexURL, "xdg:schema": "org.rust-lang.cargo.registry"])
    }

    private static func answer(_ token: borrowing Secret<Password>, _ context: CommandContext) throws {
        var json = JSONWriter()
        try json.member("kind", publicText: "get")
        try json.member("token", secret: token.withoutLineBreak())
        try json.member("cache", publicText: "session")
        try json.member("operation_independent", boolean: true)
        try answer("Ok", json, context.output)
    }

    private static func login(
        _ request: borrowing CargoRequest, mayAsk: Bool, _ context: CommandContext
    ) async throws {
        let key = try key(request)
        let view = try await context.openView()
        let store = try await view.store(for: key, deadline: context.deadline)
        let token = try token(request, mayAsk, context).requiringContent()
        try await store.save(
            token, for: key, options: SaveOptions(label: "cargo: \(request.indexURL)", contentType: .text),
            deadline: context.deadline)
        try context.output.write("{\"Ok\":{\"kind\":\"login\"}}")
    }

    /// The token from cargo or from the terminal. Standard input belongs to the protocol.
    private static func token(
        _ request: borrowing CargoRequest, _ mayAsk: Bool, _ context: CommandContext
    ) throws -> Secret<Password> {
        switch request.token {
        case .some(let token): return token.duplicate()
        case .none: break
        }
        if let page = request.loginURL { context.output.note("get a token at \(page)") }
        return try SecretPrompt(isAllowed: mayAsk).ask("Token for \(request.name)", as: Password.self)
    }

    private static func logout(_ request: borrowing CargoRequest, _ context: CommandContext) async throws {
        let key = try key(request)
        let isErased = try await context.openView().erase(
            services: [key.service], account: account, shape: shape(of: request), deadline: context.deadline)
        if !isErased { throw notFound }
        try context.output.write("{\"Ok\":{\"kind\":\"logout\"}}")
    }
}

/// One line of cargo's.
struct CargoRequest: ~Copyable {
    let kind: String
    let indexURL: String
    /// The registry's name for people.
    let name: LoggableText
    let loginURL: LoggableText?
    let token: Secret<Password>?

    init(_ line: consuming Secret<MessageBody>) throws(CommandFailure) {
        let malformed = CommandFailure(
            .badData, "cargo.malformed", "standard input isn't a request from cargo",
            hint: "let cargo start the helper: run `latchkey setup cargo`")
        guard let document = try? JSONDocument(line) else { throw malformed }
        guard let version = document.member("v"), (try? document.integer(version)) == 1,
            let kind = document.text(document.member("kind")), let registry = document.member("registry"),
            let index = document.text(document.member("index-url", of: registry))
        else { throw malformed }
        self.kind = kind
        indexURL = index
        name = LoggableText(
            reviewed: "a registry's name from cargo's configuration",
            unredacted: document.text(document.member("name", of: registry)) ?? index)
        loginURL = document.text(document.member("login-url")).map {
            LoggableText(reviewed: "a page that the registry names", unredacted: $0)
        }
        token = document.member("token").flatMap { try? document.secret($0, as: Password.self) }
    }
}
