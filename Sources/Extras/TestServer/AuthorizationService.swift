internal import Glibc
internal import LatchkeyLog
internal import LatchkeyLoopback
internal import Synchronization

/// Responds to requests: finds the endpoint, updates the record, and simulates the faults of a test.
final class AuthorizationService: Sendable {
    let configuration: AuthorizationServerConfiguration
    let index = SecretIndex()
    let identityTokens: IdentityTokens
    let state = Mutex(ServerState())

    init(configuration: AuthorizationServerConfiguration) throws(LibraryFailure) {
        self.configuration = configuration
        identityTokens = try IdentityTokens()
    }

    var issuer: String { state.withLock { $0.origin } + configuration.issuerPath }

    func has(_ fault: AuthorizationServerFault) -> Bool { state.withLock { $0.faults.contains(fault) } }

    func client(_ identifier: String?) -> RegisteredClient? {
        if configuration.atProtocolAccount != nil, let identifier,
            let client = RegisteredClient(loopback: identifier)
        {
            return client
        }
        let registered = state.withLock { $0.registered }
        return (configuration.clients + registered).first { $0.identifier == identifier }
    }

    /// Remembers a secret that came in or goes out, under its first name, so that tests can search for it.
    func note(_ secret: KeptSecret) {
        let digest = index.digest(secret)
        state.withLock { state in state.seen[digest] = state.seen[digest] ?? secret }
    }

    // MARK: - Requests

    func respond(to request: consuming LoopbackRequest) async -> LoopbackResponse {
        guard let route = Route(request.method, request.path, issuerPath: configuration.issuerPath) else {
            return LoopbackResponse(status: 404, contentType: "text/plain", publicText: "nothing here\n")
        }
        let input = Input(request)
        noteSecrets(of: input)
        // Under one lock: a test that sees the count may switch faults off.
        let faults = state.withLock { state in
            state.record.requests[route.endpoint, default: 0] += 1
            return Array(state.faults.filter { $0.endpoint == route.endpoint })
        }
        for case .slow(let duration, _) in faults {
            // Cancelled when the server stops; then no client reads the response.
            try? await Task.sleep(for: duration)
        }
        if route.endpoint == .token, let delay = configuration.tokenDelay { try? await Task.sleep(for: delay()) }
        await wait(while: .held(route.endpoint))
        for fault in faults {
            if let response = replacement(for: fault) { return response }
        }
        var response = spoil(respond(to: input, at: route), faults)
        if route.takesProofs { addNonce(to: &response) }
        await wait(while: .heldResponse(route.endpoint))
        return response
    }

    /// Waits until the fault is switched off, or the server stops.
    private func wait(while fault: AuthorizationServerFault) async {
        while has(fault) {
            do {
                try await Task.sleep(for: .milliseconds(5))
            } catch {
                return
            }
        }
    }

    private var requiresMoreThanGitHub: Bool {
        configuration.pushedRequests == .required || configuration.requiresDPoP
            || configuration.atProtocolAccount != nil
    }

    /// The server's own time, in seconds since 1970.
    func clock() -> Int { Int(time(nil)) }

    private func respond(to input: Input, at route: Route) -> LoopbackResponse {
        switch route {
        case .metadata: metadata()
        case .keySet:
            LoopbackResponse(
                status: 200, contentType: "application/json",
                publicText: has(.emptyKeySet) ? #"{"keys":[]}"# : identityTokens.keySet)
        // GitHub knows neither pushed requests nor DPoP: a server that requires one of them is not GitHub's.
        case .authorize(.gitHub) where requiresMoreThanGitHub, .beginDevice(.gitHub) where requiresMoreThanGitHub,
            .token(.gitHub) where requiresMoreThanGitHub:
            LoopbackResponse(status: 404)
        case .authorize(let shape): authorize(input, shape: shape)
        case .consent: consent(input)
        case .push:
            configuration.pushedRequests == .none ? LoopbackResponse(status: 404) : push(input)
        case .beginDevice(let shape):
            configuration.offersDeviceGrant ? beginDevice(input, shape: shape) : LoopbackResponse(status: 404)
        case .decideDevice: configuration.offersDeviceGrant ? decideDevice(input) : LoopbackResponse(status: 404)
        case .register: configuration.allowsRegistration ? register(input) : LoopbackResponse(status: 404)
        case .token(let shape): token(input, shape: shape)
        case .revoke: revoke(input)
        case .gitHubRevoke(let client): gitHubRevoke(input, client: client)
        case .userInfo(let shape): userInfo(input, shape: shape)
        case .stray: stray(input)
        }
    }

    private static let secretNames: Set<String> = [
        "state", "nonce", "code", "code_verifier", "device_code", "refresh_token", "access_token", "token",
        "client_secret",
    ]

    private func noteSecrets(of input: Input) {
        for name in Self.secretNames.sorted() {
            if let secret = input.query?.secret(name) { note(secret) }
            if let secret = input.form?.secret(name) { note(secret) }
        }
    }

    private func stray(_ input: Input) -> LoopbackResponse {
        let hasCredentials = input.authorization != nil || !input.body.value.isEmpty
        if hasCredentials { state.withLock { $0.record.strayCredentials = true } }
        return LoopbackResponse(status: 204)
    }

    // MARK: - Faults

    private func replacement(for fault: AuthorizationServerFault) -> LoopbackResponse? {
        switch fault {
        case .errorWithStatus200: return .oauthError("bad_verification_code", status: 200)
        case .status(400, _): return .oauthError("invalid_request", status: 400)
        case .status(let status, _):
            return LoopbackResponse(status: status, contentType: "text/html", publicText: "<h1>\(status)</h1>")
        case .noResponse:
            var response = LoopbackResponse(status: 200)
            response.delivery = .dropped
            return response
        case .temporaryRedirect: return .redirect(status: 307, publicLocation: state.withLock { $0.origin } + "/stray")
        case .hugeBody(let byteCount, _):
            var response = LoopbackResponse(status: 200, fields: [LoopbackField("Content-Type", "application/json")])
            response.delivery = .filler(byteCount: byteCount)
            return response
        default: return nil
        }
    }

    private func spoil(
        _ response: consuming LoopbackResponse, _ faults: [AuthorizationServerFault]
    ) -> LoopbackResponse {
        for fault in faults {
            switch fault {
            case .truncatedJSON: response.body = Self.firstHalf(response.body.take())
            case .cutConnection: response.delivery = .truncated(announcedByteCount: 1 << 16)
            default: break
            }
        }
        return response
    }

    private static func firstHalf(_ body: consuming Secret<MessageBody>?) -> Secret<MessageBody>? {
        switch consume body {
        case .some(let body): body.withExposedBytes { Secret(copying: $0.extracting(first: $0.count / 2)) }
        case .none: nil
        }
    }
}

/// How a server responds: by the RFCs, or as GitHub does.
enum Shape: Sendable { case standard, gitHub }

/// The parts of a request that the endpoints read.
struct Input {
    let query: FormFields?
    let form: FormFields?
    let authorization: KeptSecret?
    let body: KeptSecret
    let wantsJSON: Bool
    let method: String
    let path: String
    /// The values of all `DPoP` fields.
    let proofs: [String]

    init(_ request: consuming LoopbackRequest) {
        let type = request.field("Content-Type")?.lowercased().prefix { $0 != ";" }.split { $0 == " " || $0 == "\t" }
        let isForm = type == ["application/x-www-form-urlencoded"]
        wantsJSON = request.field("Accept")?.lowercased().contains("application/json") ?? false
        method = request.method.rawValue
        path = request.path
        proofs = request.fields.filter { $0.name.lowercased() == "dpop" }.map(\.value)
        switch request.query {
        case .some(let text): query = FormFields(text)
        case .none: query = FormFields.none
        }
        form = isForm ? FormFields(request.body) : nil
        switch request.authorization {
        case .some(let value): authorization = KeptSecret("authorization", value.duplicate())
        case .none: authorization = nil
        }
        body = KeptSecret("body", request.body.duplicate())
    }
}
