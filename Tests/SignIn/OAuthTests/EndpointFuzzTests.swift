import LatchkeyHTTP
import LatchkeySecrets
import Testing

@testable import LatchkeyOAuth

/// Responses of endpoints that hand out codes and clients.
extension FuzzTests {
    private static func metadata() throws -> AuthorizationServerMetadata {
        try AuthorizationServerMetadata(
            issuer: Sample.issuer, authorizationEndpoint: HTTPURL("https://id.example/authorize"),
            tokenEndpoint: HTTPURL("https://id.example/token"),
            deviceAuthorizationEndpoint: HTTPURL("https://id.example/device_authorization"),
            registrationEndpoint: HTTPURL("https://id.example/register"))
    }

    @Test func `a damaged response of the device endpoint is refused, or within its bounds`() async throws {
        let server = try Self.metadata()
        let samples = [
            #"{"device_code":"GmRh","user_code":"WDJB-MJHT","verification_uri":"https://id.example/d","expires_in":600}"#,
            #"{"device_code":"a","user_code":"b","verification_url":"http://127.0.0.1:8/d","expires_in":9e9,"interval":0}"#,
            #"{"interval":5,"expires_in":"600","device_code":"GmRh","user_code":"W","verification_uri":"http://id.example"}"#,
        ]
        let words = Self.jsonWords + ["http://", "https://", "\"user_code\":", "\"interval\":-1,", "@", "\\n", "é"]
        try await fuzz(samples, words: words) { input in
            let http = ScriptedHTTPClient(.json(String(decoding: input, as: UTF8.self)))
            let endpoint = DeviceAuthorizationEndpoint(server: server, client: Sample.client(), http: http)!
            guard let device = try? await endpoint.begin(authentication: .none) else { return false }
            guard device.address.isConfidential else { throw Violation("an address that others can read") }
            guard device.lifetime >= .seconds(1), device.lifetime <= .seconds(86_400),
                device.interval >= .seconds(1), device.interval <= .seconds(86_400)
            else { throw Violation("a time out of bounds") }
            let isShort = device.userCode.withExposedBytes { bytes in
                bytes.count <= 64 && bytes.indices.allSatisfy { bytes[$0] >= 0x20 && bytes[$0] < 0x7F }
            }
            guard isShort else { throw Violation("a code that no person can enter") }
            return true
        }
    }

    @Test func `a damaged response of the registration endpoint is refused, or makes a usable client`() async throws {
        let server = try Self.metadata()
        let client = ClientRegistration(
            name: "App", redirects: [try RedirectURI("http://127.0.0.1/callback")], method: .secretBasic)
        let samples = [
            #"{"client_id":"c-1","client_secret":"s-1","client_secret_expires_at":0}"#,
            #"{"client_id":"c-1","token_endpoint_auth_method":"none"}"#,
            #"{"client_id":"c","client_secret":"s","token_endpoint_auth_method":"client_secret_post","grant_types":[]}"#,
        ]
        let words =
            Self.jsonWords + ["\"client_id\":", "\"token_endpoint_auth_method\":", "\"private_key_jwt\"", "\\n", "é"]
        try await fuzz(samples, words: words) { input in
            let http = ScriptedHTTPClient(.status(201, String(decoding: input, as: UTF8.self)))
            let endpoint = RegistrationEndpoint(server: server, http: http)!
            guard let identity = try? await endpoint.register(client) else { return false }
            let hasSecret =
                switch identity.secret {
                case .some: true
                case .none: false
                }
            guard identity.method == .none || hasSecret else { throw Violation("a way to prove it without a secret") }
            guard (1...2048).contains(identity.clientID.utf8.count),
                identity.clientID.utf8.allSatisfy({ $0 > 0x1F && $0 != 0x7F })
            else { throw Violation("a client id that can't be sent") }
            return true
        }
    }
}
