internal import LatchkeySystem
internal import LatchkeyJSON
public import LatchkeyHTTP
package import LatchkeyLog
public import LatchkeySecrets

/// The code that a person enters (RFC 8628 section 3.3): whoever has it can be signed in as another person.
public enum UserCode: SecretPurpose { public static var name: StaticString { "user code" } }

/// A sign-in that a person confirms on another device (RFC 8628 section 3.2).
public struct DeviceAuthorization: ~Copyable, Sendable {
    let deviceCode: Secret<DeviceCode>
    /// What the person enters; it leaves through their terminal alone.
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
    /// In seconds. A longer life or wait is taken for this.
    static let maximumSeconds: Double = 86_400

    /// Returns `nil` when the server has no such endpoint.
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
        guard let member = document.member(name), let seconds = try? document.double(member), seconds >= 0 else {
            return nil
        }
        return min(seconds, maximumSeconds)
    }
}
