import LatchkeySecrets
import LatchkeyTestServer
import Testing

/// A way to sign in, as the options of the command line make it, and a server in this process that takes it.
struct SignInFlow: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// What `provider add` is told.
    var added: [String] = []
    /// What `sign-in` is told.
    var signedIn: [String] = ["--browser"]
    var server = AuthorizationServerConfiguration()
    var clientSecret: [UInt8]?
    /// The server is found by the account, and wants pushed requests and keys.
    var isATProtocol = false

    var isBoundToKey: Bool { isATProtocol || added.contains("--dpop") }

    /// The endpoint that a fault is most telling at.
    var first: AuthorizationServerEndpoint {
        signedIn == ["--device"]
            ? .deviceAuthorization
            : server.pushedRequests == .none && !isATProtocol ? .token : .pushedAuthorization
    }

    /// The names that the server gives to the secrets of its sign-in.
    var secretNames: Set<String> {
        let common: Set = ["access_token", "refresh_token"]
        if signedIn == ["--device"] { return common.union(["device_code"]) }
        return common.union(["state", "code", "code_verifier"]).union(first == .token ? [] : ["request_uri"])
    }

    static let secret = Array("q7XwK2mVb9RtYpLz4HcNd8FsGjU1eAoI3rTyBnM6kQh".utf8)

    static let browser = SignInFlow(testDescription: "browser")
    static let confidential = SignInFlow(
        testDescription: "browser, with a client's secret", added: ["--client-secret-stdin"],
        server: AuthorizationServerConfiguration(clients: [
            RegisteredClient(
                "latchkey", redirectURIs: ["http://127.0.0.1/*", "http://[::1]/*"],
                secret: Secret<ClientSecret>(copying: secret.span))
        ]), clientSecret: secret)
    static let bound = SignInFlow(
        testDescription: "browser, bound to a key", added: ["--dpop"],
        server: AuthorizationServerConfiguration(dpopNonces: true, requiresDPoP: true))
    static let pushed = SignInFlow(
        testDescription: "browser, pushed", added: ["--par"],
        server: AuthorizationServerConfiguration(pushedRequests: .required))
    static let pushedAndBound = SignInFlow(
        testDescription: "browser, pushed, bound to a key", added: ["--par", "--dpop"],
        server: AuthorizationServerConfiguration(dpopNonces: true, requiresDPoP: true, pushedRequests: .required))
    static let registered = SignInFlow(
        testDescription: "browser, registered", added: ["--register"],
        server: AuthorizationServerConfiguration(allowsRegistration: true))
    static let paste = SignInFlow(testDescription: "paste", signedIn: ["--paste"])
    static let device = SignInFlow(
        testDescription: "another device", signedIn: ["--device"],
        server: AuthorizationServerConfiguration(offersDeviceGrant: true, deviceIntervalSeconds: 1))
    static let atProtocol = SignInFlow(
        testDescription: "AT Protocol", added: ["--development"], isATProtocol: true)

    static let all = [
        browser, confidential, bound, pushed, pushedAndBound, registered, paste, device, atProtocol,
    ]

    /// One of each kind of secret: a client's, a key, a pushed request's, a device's, those of a paste.
    static let ofEachSecret = [confidential, pushedAndBound, paste, device, atProtocol]
}
