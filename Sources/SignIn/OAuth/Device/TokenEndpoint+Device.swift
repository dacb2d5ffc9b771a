internal import LatchkeyHTTP
internal import LatchkeyLog
internal import LatchkeySecrets

extension TokenEndpoint {
    /// Polls for tokens until the person has confirmed a sign-in on another device (RFC 8628 sections
    /// 3.4 and 3.5).
    ///
    /// It waits as long as the server says between two questions, five seconds more from each `slow_down` on, and twice
    /// as long after each request that got no response. Throws `.accessDenied`, `.deviceCodeExpired` when the codes'
    /// life or `timeout` is over, `.networkError` with `.cancelled` when the task is cancelled; otherwise as
    /// `exchange`.
    ///
    /// - Parameter timeout: how long to wait at most, where the codes live longer.
    package func poll(
        _ device: borrowing DeviceAuthorization, authentication: borrowing ClientAuthentication,
        timeout: Duration = .seconds(86_400), clock: PollClock = .continuous
    ) async throws(OAuthError) -> TokenResponse {
        let end = clock.now() + min(device.lifetime, timeout)
        var interval = device.interval
        while true {
            try await wait(min(interval, max(.zero, end - clock.now())), clock)
            guard clock.now() < end else { throw OAuthError(.deviceCodeExpired) }
            guard let response = try await poll(device, authentication) else {
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
            case .none where response.status == 429 || response.status >= 500:
                interval = min(interval * 2, .seconds(300))
                continue
            default: break
            }
            let (basicForm, reader) = (response.basicForm, reader(at: response.date))
            let document = try Self.success(response)
            return try await orRevoked(document, authentication, basicForm) { () async throws(OAuthError) in
                let tokens = try reader.deviceTokens(in: document, openID: client.scopes.includesOpenID)
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

    /// Returns `nil` when there is no response, but may be one the next time.
    private func poll(
        _ device: borrowing DeviceAuthorization, _ authentication: borrowing ClientAuthentication
    ) async throws(OAuthError) -> EndpointResponse? {
        var form = FormBody()
        try form.append("grant_type", text: "urn:ietf:params:oauth:grant-type:device_code")
        try form.append("device_code", secret: device.deviceCode)
        do throws(OAuthError) {
            return try await endpoint.post(server.tokenEndpoint, form, authentication: authentication)
        } catch {
            guard error.isTransient else { throw error }
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
