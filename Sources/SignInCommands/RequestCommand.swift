internal import Glibc
internal import LatchkeyHTTP
internal import LatchkeyLog
internal import LatchkeySecrets
internal import LatchkeySignIn
internal import LatchkeyStoreCommands
internal import LatchkeyStoreSelection
internal import LatchkeyTerminal

/// `latchkey request PROVIDER METHOD URL`.
enum RequestCommand {
    private static let maximumByteCount = 64 << 20

    static let command = Command(SignInDefinitions.request) { arguments, context in
        guard let method = GuardedRequest.Method(rawValue: arguments.operand("METHOD")) else {
            throw CommandFailure(
                .usage, "request.method", "METHOD is GET, HEAD, POST, PUT, PATCH or DELETE",
                hint: "see latchkey request --help")
        }
        var configuration = try context.configuration(arguments)
        configuration.origins += try ProviderConfiguration.origins(arguments)
        let service = try await context.service(configuration, arguments)
        let account = arguments.value(SignInDefinitions.account)
        let url = try await url(arguments.operand("URL"), service, account)
        var request = GuardedRequest(method, url, fields: [])
        if let data = arguments.value(SignInDefinitions.data) {
            request.body = try body(data)
            let type = arguments.value(SignInDefinitions.contentType) ?? "application/json"
            guard let field = HeaderField("Content-Type", type) else {
                throw CommandFailure(.usage, "request.content-type", "--content-type is no media type")
            }
            request.fields.append(field)
        }
        let response = try await send(
            request, service, account,
            TransferLimits(maximumBodyByteCount: maximumByteCount, timeout: context.settings.timeout))
        try context.output.write(secret: response.body)
        return try outcome(response.status, url)
    }

    /// A path alone is at the account's own server, where the session names one.
    private static func url(
        _ text: String, _ service: SignInService, _ account: String?
    ) async throws -> HTTPURL {
        guard text.hasPrefix("/"), service.provider.knownAccount != nil,
            let origin = try await service.session(of: service.resolve(account)).resource
        else { return try HTTPURL(text) }
        return try HTTPURL(origin + text)
    }

    private static func send(
        _ request: consuming GuardedRequest, _ service: SignInService, _ account: String?, _ limits: TransferLimits
    ) async throws -> GuardedResponse {
        do {
            return try await service.send(request, account: account, limits: limits)
        } catch  where error.code == .otherOrigin {
            throw CommandFailure(
                .refused, error.codeName, error.cause,
                hint: "give --origin here or at latchkey provider add, if that server is to have the token")
        } catch {
            await service.finishRefreshes()
            throw error
        }
    }

    private static func outcome(_ status: Int, _ url: HTTPURL) throws -> ExitStatus {
        let exitStatus: ExitStatus
        switch status {
        case 200...299: return .success
        case 401, 403: exitStatus = .refused
        case 404, 410: exitStatus = .notFound
        case 408, 425, 429, 503: exitStatus = .tryAgain
        case 500...: exitStatus = .unavailable
        default: exitStatus = .protocolError
        }
        throw CommandFailure(exitStatus, "request.status", "\(url) responded with status \(status)")
    }

    /// Reads the file behind `@`. Data on the command line itself could be a secret that everybody sees in `ps`.
    private static func body(_ data: String) throws -> Secret<MessageBody> {
        guard data.hasPrefix("@"), data.utf8.count > 1 else {
            throw CommandFailure(
                .usage, "request.data", "--data takes @FILE, or @- for standard input",
                hint: "arguments can be seen by every user of this machine")
        }
        if data == "@-" { return try SecretInput.readAll(as: MessageBody.self, limit: maximumByteCount) }
        let path = String(data.dropFirst())
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            let shown = LoggableText(reviewed: "the path after --data @", unredacted: path)
            throw CommandFailure(.badData, "request.data", "the file \(shown) can't be read (errno \(errno))")
        }
        defer { close(descriptor) }
        return try SecretInput.readAll(from: descriptor, as: MessageBody.self, limit: maximumByteCount)
    }
}
