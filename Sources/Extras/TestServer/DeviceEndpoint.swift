internal import LatchkeyLoopback
internal import LatchkeySecrets
internal import Synchronization

/// A sign-in that waits for a person on another device.
struct DeviceGrant: Sendable {
    enum Decision: Sendable { case pending, allowed, denied, used }

    let clientID: String
    let scopes: [String]
    let userCode: String
    let expiry: ContinuousClock.Instant
    var interval: Duration
    var decision = Decision.pending
    var lastQuestion: ContinuousClock.Instant?
}

extension AuthorizationService {
    /// RFC 8628 section 3.1, or GitHub's variation: JSON only when asked for.
    func beginDevice(_ input: Input, shape: Shape) -> LoopbackResponse {
        do throws(TokenRefusal) {
            guard let form = input.form else { throw .request }
            let client = try authenticate(input, form)
            let scopes = (form.text("scope") ?? "").split(separator: " ").map(String.init)
            guard scopes.allSatisfy(Self.isScope) else { throw TokenRefusal("invalid_scope") }
            let code = KeptSecret.random("device_code")
            let userCode = KeptSecret("user_code", Self.userCode())
            note(code)
            let digest = index.digest(code)
            let grant = DeviceGrant(
                clientID: client.identifier, scopes: scopes, userCode: userCode.publicText() ?? "",
                expiry: .now + configuration.deviceCodeLifetime,
                interval: .seconds(configuration.deviceIntervalSeconds))
            let origin = state.withLock { state in
                state.devices[digest] = grant
                return state.origin
            }
            return .members(
                [
                    Member("device_code", .secret(code)), Member("user_code", .secret(userCode)),
                    Member("verification_uri", .text(origin + "/device")),
                    Member("expires_in", .number(Int(configuration.deviceCodeLifetime.components.seconds))),
                    Member("interval", .number(configuration.deviceIntervalSeconds)),
                ], status: 200, json: shape == .standard || input.wantsJSON)
        } catch {
            return error.response
        }
    }

    /// Two groups of four unambiguous letters (RFC 8628 section 6.1).
    private static func userCode() -> Secret<MessageBody> {
        let letters = Array("BCDFGHJKLMNPQRSTVWXZ".utf8)
        let random = Secret<MessageBody>.ofRandomOctets(byteCount: 8)
        return Secret(byteCount: 9) { target in
            random.withExposedBytes { bytes in
                for index in bytes.indices {
                    target[index < 4 ? index : index + 1] = letters[Int(bytes[index]) % letters.count]
                }
            }
            target[4] = UInt8(ascii: "-")
        }
    }

    /// What the person opens: `/device?user_code=…` responds at once, as the configuration and the faults say.
    func decideDevice(_ input: Input) -> LoopbackResponse {
        guard let code = input.query?.text("user_code") else { return ConsentPage.refusal(status: 400) }
        let decision: DeviceGrant.Decision = has(.denied) ? .denied : .allowed
        let isFound = state.withLock { state in
            let found = state.devices.first {
                $0.value.userCode == code && $0.value.decision == .pending && $0.value.expiry > .now
            }
            guard let digest = found?.key else { return false }
            state.devices[digest]?.decision = decision
            return true
        }
        return isFound
            ? LoopbackResponse(status: 200, contentType: "text/plain", publicText: "done\n")
            : ConsentPage.refusal(status: 404)
    }

    /// RFC 8628 sections 3.4 and 3.5.
    func deviceTokens(
        _ form: FormFields, _ client: RegisteredClient, _ input: Input, shape: Shape
    ) throws(TokenRefusal) -> LoopbackResponse {
        guard let code = form.secret("device_code") else { throw .request }
        let key = try provenKey(input, shape: shape)
        let digest = index.digest(code)
        let (scopes, family) = try state.withLock { state throws(TokenRefusal) in
            guard let grant = state.devices[digest], grant.clientID == client.identifier else { throw .code }
            return (try state.take(grant, at: digest), state.newFamily())
        }
        return issue(
            TokenSet(client: client, scopes: scopes, family: family, shape: shape, nonce: nil, keyThumbprint: key),
            json: input.wantsJSON)
    }
}

extension ServerState {
    /// Returns the scopes of a grant that a person has allowed, once. A question before its time gets `slow_down`, and
    /// five seconds more to wait before each later one.
    fileprivate mutating func take(_ grant: DeviceGrant, at digest: [UInt8]) throws(TokenRefusal) -> [String] {
        var grant = grant
        defer { devices[digest] = grant }
        if faults.contains(.deviceCodeExpired) || grant.expiry <= .now { throw TokenRefusal("expired_token") }
        let isEarly = grant.lastQuestion.map { .now < $0 + grant.interval } ?? false
        grant.lastQuestion = .now
        if isEarly || faults.contains(.slowDown) {
            record.hurriedQuestions += isEarly ? 1 : 0
            grant.interval += .seconds(5)
            throw TokenRefusal("slow_down")
        }
        switch grant.decision {
        case .pending: throw TokenRefusal("authorization_pending")
        case .denied: throw TokenRefusal("access_denied")
        case .used: throw .code
        case .allowed: grant.decision = .used
        }
        return grant.scopes
    }
}

extension TokenRefusal {
    init(_ name: String) {
        self.init(name: name, gitHubName: name)
    }
}
