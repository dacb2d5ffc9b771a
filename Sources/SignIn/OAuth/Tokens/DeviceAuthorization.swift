public import LatchkeyHTTP
internal import LatchkeyJSON
package import LatchkeyLog
public import LatchkeySecrets

/// The code that a user enters (RFC 8628 section 3.3): anyone who has it can make this program sign in as another user.
public enum UserCode: SecretPurpose { public static var name: StaticString { "user code" } }

/// A sign-in that a person confirms on another device (RFC 8628 section 3.2).
public struct DeviceAuthorization: ~Copyable, Sendable {
    let deviceCode: Secret<DeviceCode>
    /// The code to enter; it only leaves through the user's terminal.
    public let userCode: Secret<UserCode>
    /// Where the person enters it.
    public let address: HTTPURL
    /// How long both codes are good for.
    public let lifetime: Duration
    /// How long to wait between two questions, at first.
    package let interval: Duration
}

/// Begins sign-ins on another device (RFC 8628 section 3.1).
package struct DeviceAuthorizationEndpoint: Sendable {
    private let server: AuthorizationServerMetadata
    private let client: ClientConfiguration
    private let url: HTTPURL
    private let endpoint: EndpointClient

    /// A code with more characters is for no person to enter.
    static let maximumUserCodeByteCount = 64
    static let standardInterval: Double = 5
    /// The parameters that are about the server's pages (OpenID Connect Core section 3.1.2.1), and Google's own, which
    /// Google refuses here.
    private static let parametersOfBrowsers: Set = [
        "access_type", "acr_values", "display", "hd", "id_token_hint", "include_granted_scopes", "login_hint",
        "max_age", "prompt", "ui_locales",
    ]
    /// The limit in seconds. A longer life or wait is reduced to this.
    static let maximumSeconds: Double = 86_400

    /// Returns `nil` if the server lacks the endpoint.
    package init?(
        server: AuthorizationServerMetadata, client: ClientConfiguration, http: any HTTPTransport,
        log: RedactedLogger = .disabled
    ) {
        guard let url = server.deviceAuthorizationEndpoint else { return nil }
        self.server = server
        self.client = client
        self.url = url
        endpoint = EndpointClient(clientID: client.clientID, http: server.transport(http), log: log)
    }

    /// Requests codes.
    ///
    /// Throws `.requestRefused(.deviceAuthorization, …)`, `.networkError`, or `.invalidResponse(.deviceCodes)` for a
    /// response that is incomplete, or whose address is neither HTTPS nor loopback.
    package func begin(authentication: borrowing ClientAuthentication) async throws(OAuthError) -> DeviceAuthorization {
        var form = FormBody()
        if !client.scopes.isEmpty { try form.append("scope", text: client.scopes.text) }
        if let resource = client.resource { try form.append("resource", text: resource) }
        for parameter in client.extraParameters where !Self.parametersOfBrowsers.contains(parameter.name) {
            try form.append(parameter.name, text: parameter.value)
        }
        let response = try await endpoint.post(url, form, authentication: authentication)
        guard response.isSuccess else {
            throw OAuthError(
                .requestRefused(.deviceAuthorization, statusCode: response.status), serverError: response.error)
        }
        // `verification_url` is what Google's first drafts of it say.
        guard let document = response.document, let code = document.member("device_code"),
            let userCode = document.member("user_code"),
            let place = document.member("verification_uri") ?? document.member("verification_url"),
            let deviceSecret = try? document.secret(code, as: DeviceCode.self),
            deviceSecret.withExposedBytes({ ASCII.isVisible($0, limit: 4096) }),
            let userSecret = try? document.secret(userCode, as: UserCode.self),
            userSecret.withExposedBytes({ ASCII.isVisible($0, limit: Self.maximumUserCodeByteCount) }),
            let text = try? document.publicText(place, limit: 2048), let address = try? HTTPURL(text),
            address.isConfidential, let lifetime = Self.seconds("expires_in", in: document), lifetime >= 1
        else { throw OAuthError(.invalidResponse(.deviceCodes)) }
        return DeviceAuthorization(
            deviceCode: deviceSecret, userCode: userSecret, address: address, lifetime: .seconds(lifetime),
            interval: .seconds(max(1, Self.seconds("interval", in: document) ?? Self.standardInterval)))
    }

    static func seconds(_ name: StaticString, in document: borrowing JSONDocument) -> Double? {
        document.seconds(name).map { min($0, maximumSeconds) }
    }
}

/// A clock to wait by: the system's, or one that a test turns.
package struct PollClock: Sendable {
    /// Time since some moment that stays the same.
    package let now: @Sendable () -> Duration
    /// Returns after the time, or throws when the task is cancelled.
    package let sleep: @Sendable (Duration) async throws -> Void

    package init(
        now: @escaping @Sendable () -> Duration, sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.now = now
        self.sleep = sleep
    }

    private static let start = ContinuousClock.now

    /// The system's, which goes on while the machine sleeps.
    package static let continuous = PollClock(
        now: { start.duration(to: .now) }, sleep: { try await Task.sleep(for: $0, clock: .continuous) })
}

// MARK: - Device

extension TokenEndpoint {
    /// Polls for tokens until the person has confirmed a sign-in on another device (RFC 8628 sections
    /// 3.4 and 3.5).
    ///
    /// It waits as long as the server says between two questions, five seconds more from each `slow_down` on, and twice
    /// as long after each request that got no response, a page instead of JSON, or an error that passes.
    ///
    /// Throws `.accessDenied`, and `.deviceCodeExpired` when the codes' life or `timeout` is over, unless the last
    /// request failed: then its error. Throws `.networkError` with `.cancelled` when the task is cancelled; otherwise
    /// as `exchange`.
    ///
    /// - Parameter timeout: how long to wait at most, where the codes live longer.
    package func poll(
        _ device: borrowing DeviceAuthorization, authentication: borrowing ClientAuthentication,
        timeout: Duration = .seconds(86_400), clock: PollClock = .continuous
    ) async throws(OAuthError) -> TokenResponse {
        let end = clock.now() + min(device.lifetime, timeout)
        var interval = device.interval
        // The failure of the last request, which may be the reason why the codes weren't confirmed.
        var failure: OAuthError?
        while true {
            try await wait(min(interval, max(.zero, end - clock.now())), clock)
            guard clock.now() < end else { throw failure ?? OAuthError(.deviceCodeExpired) }
            guard let response = try await poll(device, authentication, &failure) else {
                // Section 3.5: a request without a response is repeated, each time after twice the wait.
                interval = min(interval * 2, .seconds(300))
                continue
            }
            switch response.error {
            case .authorizationPending: continue
            case .slowDown:
                interval = max(interval + .seconds(5), Self.interval(in: response))
                continue
            case .accessDenied: throw OAuthError(.accessDenied, serverError: .accessDenied)
            case .expiredToken: throw OAuthError(.deviceCodeExpired, serverError: .expiredToken)
            case _ where response.isSuccess ? response.isNoJSON : response.failure.isTransient:
                // A success without JSON is a page of the network that the machine is in.
                failure = response.isSuccess ? OAuthError(.invalidResponse(.notJSON)) : response.failure
                interval = min(interval * 2, .seconds(300))
                continue
            default: break
            }
            let (basicForm, reader) = (response.basicForm, reader(at: response.date))
            let document = try Self.success(response)
            return try await orRevoked(document, authentication, basicForm) { () async throws(OAuthError) in
                let tokens = try reader.deviceTokens(in: document, openID: expectsIDToken)
                try await checkSignature(of: tokens)
                return tokens
            }
        }
    }

    /// GitHub says how long the wait is now.
    private static func interval(in response: borrowing EndpointResponse) -> Duration {
        switch response.document {
        case .some(let document): .seconds(DeviceAuthorizationEndpoint.seconds("interval", in: document) ?? 0)
        case .none: .zero
        }
    }

    /// Returns `nil` with the `failure` if no response arrived but one may arrive the next time.
    private func poll(
        _ device: borrowing DeviceAuthorization, _ authentication: borrowing ClientAuthentication,
        _ failure: inout OAuthError?
    ) async throws(OAuthError) -> EndpointResponse? {
        var form = FormBody()
        try form.append("grant_type", text: "urn:ietf:params:oauth:grant-type:device_code")
        try form.append("device_code", secret: device.deviceCode)
        if let resource = client.resource { try form.append("resource", text: resource) }
        do throws(OAuthError) {
            failure = nil
            return try await endpoint.post(server.tokenEndpoint, form, authentication: authentication)
        } catch {
            guard error.isTransient else { throw error }
            failure = error
            return nil
        }
    }

    private func wait(_ time: Duration, _ clock: PollClock) async throws(OAuthError) {
        do {
            try await clock.sleep(time)
        } catch {
            throw .cancelled(server.tokenEndpoint)
        }
    }
}
