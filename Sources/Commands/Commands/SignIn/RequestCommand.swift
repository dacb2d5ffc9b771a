internal import LatchkeyHTTP
internal import LatchkeyOAuth
internal import LatchkeySignIn

/// `latchkey request PROVIDER [METHOD] URL`.
enum RequestCommand {
    static let data = CommandOption.value(
        "--data", "@FILE", help: "send the bytes of this file; @- is standard input")
    static let jsonBody = CommandOption.value(
        "--json-body", "TEXT", help: "send this JSON, which every user of the machine can see: no secrets")
    private static let method = CommandOption.value(
        "--method", "METHOD", help: "same as the operand METHOD")
    private static let header = CommandOption.value(
        "--header", "FIELD", repeats: true, help: "header field to send, such as 'Accept: text/plain'")
    private static let include = CommandOption.flag(
        "--include", help: "write the response's status and header fields before its body")
    static let contentType = CommandOption.value(
        "--content-type", "TYPE", help: "media type of --data (default: application/json)")

    static let maximumByteCount = 64 << 20

    static let command = Command(
        "request", topic: .signIns, summary: "send an HTTP request with the access token",
        operands: [
            SignInOptions.provider,
            .optional("METHOD", help: "GET, HEAD, POST, PUT, PATCH or DELETE (default: GET, or POST with a body)"),
            .required("URL", help: "address to send to (https, or loopback), or a path on the provider's API"),
        ],
        options: [
            SignInOptions.account, method, header, data, jsonBody, contentType, include, .raw, SignInOptions.origin,
            SignInOptions.certificateAuthority,
        ],
        details: """
            A path alone, such as /user, is added to the API of a built-in service. For another provider it is added to the
            first --origin, otherwise to the issuer. For bluesky it is added to the account's own server.

            request writes one page of the response's body unchanged, but escapes control characters on a terminal.
            --include shows the Link field that leads to the next page.

            request sends the token to the origins of the provider's own addresses and to the origins that --origin names,
            here or in `latchkey provider add`. It refuses any other origin with status 77, and follows no redirects.

            After a response, request writes the body and exits with:

              0   2xx
              77  401 and 403
              75  408, 425, 429 and 503
              69  other 5xx
              22  any other status, such as 404 or 409

            Every user of the machine can read the command line, and so --header and --json-body.
            """,
        examples: [
            "latchkey request github /user", "latchkey request github '/user/repos?page=2' --include",
            "latchkey request github /user/repos --json-body '{\"name\": \"example\"}'",
            "latchkey request github PATCH /user --data @profile.json",
        ], runs: { _ in .worker }, usesNetwork: true
    ) { arguments, context in
        let method = try method(arguments)
        var fields = try arguments.all(header).map(field)
        var configuration = try context.configuration(arguments)
        configuration.origins += try ProviderConfiguration.origins(arguments)
        let account = arguments.value(SignInOptions.account)
        let body = try RequestBody(arguments, fields: &fields)
        let (response, url, missing) = try await context.explaining(configuration, account: account) {
            () async throws -> (Box<GuardedResponse>, HTTPURL, ScopeList?) in
            let service = try await context.service(configuration, arguments)
            let url = try await target(arguments.operand("URL"), configuration, service, account)
            var request = GuardedRequest(method, url, fields: fields)
            request.body = body?.takeContent()
            let limits = TransferLimits(
                maximumBodyByteCount: maximumByteCount, timeout: context.settings.timeout)
            let response = try await send(request, service, account, limits)
            let missing = try await missingScopes(response, service, account)
            return (Box(response), url, missing)
        }
        if arguments.has(include) { try context.output.write(Self.head(of: response.value)) }
        try context.output.write(secret: response.value.body, isRaw: arguments.has(.raw))
        return try outcome(response.value.status, url, configuration, account, missing)
    }

    /// The status and the fields, with the empty line after them.
    private static func head(of response: borrowing GuardedResponse) -> LogMessage {
        let lines = response.fields.map { field -> LogMessage in
            let text = LoggableText(
                reviewed: "a response's header fields, which the person asked for",
                unredacted: "\(field.name): \(field.value)")
            return "\(text)\n"
        }
        return "HTTP \(response.status)\n\(LogMessage.joined(lines, separator: ""))"
    }

    private static func method(_ arguments: ParsedArguments) throws -> GuardedRequest.Method {
        let (word, option) = (arguments.optionalOperand("METHOD"), arguments.value(method))
        guard word == nil || option == nil else {
            throw CommandFailure(
                .usage, "request.method", "METHOD and --method can't be combined", hint: "remove METHOD or --method")
        }
        guard let name = word ?? option else {
            let hasBody =
                arguments.value(data) != nil || arguments.value(jsonBody) != nil
            return hasBody ? .post : .get
        }
        guard let method = GuardedRequest.Method(rawValue: name) else {
            throw CommandFailure(
                .usage, "request.method", "METHOD must be GET, HEAD, POST, PUT, PATCH or DELETE",
                hint: "run `latchkey help request`")
        }
        return method
    }

    /// A field as curl takes it: `Name: value`.
    private static func field(_ text: String) throws -> HeaderField {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let value = parts.count == 2 ? String(parts[1].drop { $0 == " " }) : ""
        guard parts.count == 2, let field = HeaderField(String(parts[0]), value) else {
            throw CommandFailure(
                .usage, "request.header", "--header takes a name, a colon and a value in ASCII",
                hint: "write --header 'Accept: application/json'")
        }
        guard !HeaderField.transportNames.contains(field.name.lowercased()) else {
            throw CommandFailure(
                .usage, "request.header", "Latchkey sets that header field itself",
                hint: "remove that --header")
        }
        return field
    }

    /// A path alone is on the provider's API.
    private static func target(
        _ text: String, _ configuration: ProviderConfiguration, _ service: SignInService, _ account: String?
    ) async throws -> HTTPURL {
        guard text.hasPrefix("/") else { return try HTTPURL(text) }
        if service.provider.knownAccount != nil {
            guard let origin = try await service.session(of: service.resolve(account)).resource else {
                return try HTTPURL(text)
            }
            return try HTTPURL(origin + text)
        }
        if service.provider.apiBase == nil, let origin = configuration.origins.first {
            return try HTTPURL(origin + text)
        }
        let base = try service.provider.apiBase ?? HTTPURL(service.provider.authority)
        return try HTTPURL(base.origin + (base.path.hasSuffix("/") ? String(base.path.dropLast()) : base.path) + text)
    }

    /// The scopes that the response wants and the session lacks.
    private static func missingScopes(
        _ response: borrowing GuardedResponse, _ service: SignInService, _ account: String?
    ) async throws -> ScopeList? {
        guard response.status == 403 else { return nil }
        let scopes = try await service.session(of: service.resolve(account)).scopes
        return ProtectedResource.missingScopes(in: response, of: scopes)
    }

    private static func send(
        _ request: consuming GuardedRequest, _ service: SignInService, _ account: String?, _ limits: TransferLimits
    ) async throws -> GuardedResponse {
        do {
            return try await service.send(request, account: account, limits: limits)
        } catch  where error.code == .otherOrigin {
            throw CommandFailure(
                error,
                hint: "if that server may get the token, add --origin here or in `latchkey provider add`")
        } catch {
            await service.finishRefreshes()
            throw error
        }
    }

    /// The exit status for a response's status. It differs from those of other commands: a missing page isn't a missing
    /// credential, and a conflict isn't a protocol error.
    private static func outcome(
        _ status: Int, _ url: HTTPURL, _ configuration: ProviderConfiguration, _ account: String?,
        _ missing: ScopeList?
    ) throws -> ExitStatus {
        var (kind, hint): (Explanation.Kind, LogMessage?) = (.refused, nil)
        var exitStatus: ExitStatus?
        let session: LogMessage = "\(configuration.name)\(Account.option(account))"
        switch status {
        case 200...299: return .success
        case 401 where configuration.grant != nil, 403 where configuration.grant != nil:
            hint = "the server doesn't let this machine's client do that; check the client's rights and scopes there"
        case 401: hint = "the session may have ended; run `latchkey sign-in \(session)`"
        case 403 where missing?.scopes.isEmpty == false:
            hint = """
                the token lacks these scopes: \(missing ?? []); run `latchkey sign-in \(session) --add-scope SCOPE` with each of them
                """
        case 403: hint = "the token may lack a scope; run `latchkey sign-in \(session) --add-scope SCOPE`"
        case 408, 425, 429, 503: kind = .tryAgain
        case 500...: kind = .unavailable
        case 300...303, 305...399:
            exitStatus = .otherStatus
            hint = "request follows no redirects; add --include to see the target"
        default: exitStatus = .otherStatus
        }
        throw CommandFailure(
            kind, "request.status", "\(url) responded with status \(status)", hint: hint, exitStatus: exitStatus)
    }
}
