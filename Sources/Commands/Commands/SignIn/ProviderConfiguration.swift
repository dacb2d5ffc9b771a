internal import LatchkeyJSON
internal import LatchkeyHTTP
internal import LatchkeyOAuth
internal import LatchkeySignIn

/// A provider's file: its server and the client there, without secrets.
struct ProviderConfiguration: Sendable {
    /// How the server is found.
    enum Server: Sendable, Equatable {
        case issuer(String)
        /// One that is built in, such as `github`; `nil` for its own host.
        case builtIn(String, host: String?)

        /// The built-in service; `nil` for an issuer.
        var service: BuiltInProvider? {
            guard case .builtIn(let name, _) = self else { return nil }
            return BuiltInProvider.named(name)
        }
    }

    let name: ProviderName
    var server: Server
    var clientID: String
    var scopes: [String]
    /// Origins that the token may be sent to, beside the provider's own.
    var origins: [String] = []
    /// How a machine gets its tokens: a word of `--grant`; `nil` if a person signs in.
    var grant: String?
    /// The file with what a machine is handed, for the grants that take one.
    var assertionFile: String?
    /// The one resource that tokens are for.
    var resource: String?
    /// Further parameters of the authorization request, as `NAME=VALUE`.
    var parameters: [String] = []
    /// The redirect URI, if it isn't a loopback address with any port.
    var redirect: String?
    /// How the client's secret is sent, when it has one. `Method.none` doesn't send even a stored secret.
    var secretMethod: ClientAuthentication.Method?
    /// Whether the command line set `secretMethod`: then no other method is tried. The file doesn't contain this.
    var hasOneMethod = false
    /// The file of trusted certificates, instead of the system's.
    var certificateFile: String?
    /// Whether tokens are bound to a key.
    var usesDPoP = false
    /// Whether authorization requests must be pushed.
    var requiresPushedRequests = false
    /// Whether the client id is one that this process requested from the server. It isn't in the file.
    var isRegisteredByUs = false
    /// Whether accounts of AT Protocol may lead to servers on loopback addresses.
    var isDevelopment = false

    /// The host of a built-in service, if one is set.
    var host: String? {
        guard case .builtIn(_, let host) = server else { return nil }
        return host
    }

    /// The provider that it describes.
    func provider() throws -> OAuthProvider {
        var provider = try described()
        provider.apiOrigins.formUnion(origins)
        for text in parameters {
            let parameter = try Self.parameter(text)
            provider.parameters.removeAll { $0.name == parameter.name }
            provider.parameters.append(parameter)
        }
        provider.machine = try machine
        provider.triesOtherAuthentication = !hasOneMethod
        if secretMethod == ClientAuthentication.Method.none { provider.proof = .none }
        return provider
    }

    /// The words of `--grant`.
    static let grants: [StaticString] = ["client-credentials", "jwt-bearer", "token-exchange"]

    private var machine: MachineGrant? {
        get throws {
            switch (grant, assertionFile) {
            case (nil, nil): nil
            case ("client-credentials", nil): .clientCredentials
            case ("jwt-bearer", let file?): .jwtBearer(file: file)
            case ("token-exchange", let file?): .tokenExchange(file: file)
            default:
                throw CommandFailure(
                    .usage, "provider.assertion",
                    "--assertion-file goes with --grant jwt-bearer or token-exchange, which need it",
                    hint: "add --assertion-file PATH, or remove it")
            }
        }
    }

    /// Throws what is wrong with a provider that a command line describes.
    func checkCommandLine() throws {
        do {
            _ = try provider()
        } catch let error as OAuthError {
            throw CommandFailure(error, .usage)
        }
    }

    /// The parameters that `--parameter` names.
    static func parameters(_ arguments: ParsedArguments) throws -> [String] {
        let texts = arguments.all(SignInOptions.parameter)
        let names = try texts.map { text in
            try mapError({ (error: OAuthError) in CommandFailure(error, .usage) }, of: parameter(text)).name
        }
        guard Set(names).count == names.count else {
            throw CommandFailure(
                .usage, "provider.parameter-twice", "--parameter sets the same parameter twice",
                hint: "remove one of the options")
        }
        return texts
    }

    private static func parameter(_ text: String) throws(OAuthError) -> AuthorizationParameter {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { throw OAuthError(.invalidConfiguration(.parameter)) }
        return try AuthorizationParameter(String(parts[0]), String(parts[1]))
    }

    /// The origins that `--origin` names.
    static func origins(_ arguments: ParsedArguments) throws -> [String] {
        try arguments.all(SignInOptions.origin).map { text in
            guard let origin = origin(text) else {
                throw CommandFailure(
                    .usage, "provider.origin", "--origin takes https:// and a host, with or without a port",
                    hint: "write an origin such as https://api.example.org")
            }
            return origin
        }
    }

    /// The origins that `--for-host` names.
    static func originsOfHosts(_ arguments: ParsedArguments) throws -> [String] {
        try arguments.all(ProviderAddCommand.forHost).map { host in
            guard let origin = mailOrigin(host) ?? (BuiltInProvider.isHost(host) ? origin("https://" + host) : nil)
            else {
                throw CommandFailure(
                    .usage, "provider.host",
                    "--for-host takes a host name, with or without a port, or smtp://HOST:PORT",
                    hint: "remove https:// and the path")
            }
            return origin
        }
    }

    /// The origin that a text is, HTTPS or on a loopback address; `nil` for any other text.
    private static func origin(_ text: String) -> String? {
        guard let url = try? HTTPURL(text), url.isConfidential, url.path == "/", url.query == nil else { return nil }
        return url.origin
    }

    /// The mail server that a text names, for programs that ask git's helper for its password.
    private static func mailOrigin(_ text: String) -> String? {
        for scheme in ["smtp", "imap"] where text.hasPrefix("\(scheme)://") {
            guard let url = try? HTTPURL("https" + text.dropFirst(scheme.count)), let port = url.port,
                text.hasSuffix(":\(port)")
            else { return nil }
            return "\(scheme)://\(url.host):\(port)"
        }
        return nil
    }

    private func described() throws -> OAuthProvider {
        let scopes = self.scopes.isEmpty ? nil : try ScopeList(self.scopes)
        let redirect = try redirect.map { try RedirectURI($0, allowingAnyPrivateScheme: true) }
        let proof: OAuthProvider.ClientProof =
            if let secretMethod { .secret(secretMethod) } else { .none }
        switch server {
        case .issuer(let text):
            var provider = try OAuthProvider.issuer(
                Issuer(text), name: name, clientID: clientID,
                scopes: scopes ?? (resource == nil && grant == nil ? ["openid"] : []), redirect: redirect,
                proof: proof, usesDPoP: usesDPoP)
            provider.pushes = requiresPushedRequests ? .required : .whenOffered
            provider.resource = resource
            provider.apiBase = try resource.map { try HTTPURL($0) }
            return provider
        case .builtIn(let service, let host):
            guard let builtIn = BuiltInProvider.named(service) else {
                preconditionFailure("the configuration's service is checked when it is read")
            }
            var choices = BuiltInProvider.Choices(name: name, clientID: clientID)
            choices.host = host
            choices.scopes = scopes
            choices.redirect = redirect
            choices.secretMethod = secretMethod
            return try builtIn.provider(choices)
        }
    }

    // MARK: - As JSON

    var json: JSONOutput {
        var members: [(name: StaticString, value: JSONOutput)] = []
        switch server {
        case .issuer(let issuer): members.append(("issuer", .text(Self.shown(issuer))))
        case .builtIn(let service, let host):
            members.append(("built_in", .text(Self.shown(service))))
            if let host { members.append(("host", .text(Self.shown(host)))) }
        }
        members.append(("client_id", .text(Self.shown(clientID))))
        members.append(("scopes", .array(scopes.map { .text(Self.shown($0)) })))
        if !origins.isEmpty { members.append(("origins", .array(origins.map { .text(Self.shown($0)) }))) }
        if let grant { members.append(("grant", .text(Self.shown(grant)))) }
        if let assertionFile { members.append(("assertion_file", .text(Self.shown(assertionFile)))) }
        if let resource { members.append(("resource", .text(Self.shown(resource)))) }
        if !parameters.isEmpty {
            members.append(("parameters", .array(parameters.map { .text(Self.shown($0)) })))
        }
        if let redirect { members.append(("redirect", .text(Self.shown(redirect)))) }
        if let secretMethod { members.append(("client_authentication", .text(Self.shown(secretMethod.rawValue)))) }
        if let certificateFile { members.append(("ca_file", .text(Self.shown(certificateFile)))) }
        if usesDPoP { members.append(("dpop", .bool(true))) }
        if requiresPushedRequests { members.append(("par", .bool(true))) }
        if isDevelopment { members.append(("development", .bool(true))) }
        // The helpers need the authority of the sessions, and the origins for their tokens.
        if let provider = try? provider() {
            let origins = provider.origins.sorted().map { JSONOutput.text(Self.shown($0)) }
            members.append(("authority", .text(Self.shown(provider.authority))))
            members.append(("token_origins", .array(origins)))
        }
        return .object(members)
    }

    /// Reads a file's content.
    init(name: ProviderName, parsing content: consuming Secret<MessageBody>) throws(JSONError) {
        let document = try JSONDocument(content, limits: JSONLimits(byteCount: 64 << 10, depth: 4, valueCount: 512))
        func text(_ member: StaticString) throws(JSONError) -> String? {
            guard let value = document.member(member) else { return nil }
            return try document.publicText(value, limit: 8192)
        }
        self.name = name
        if let issuer = try text("issuer") {
            server = .issuer(issuer)
        } else if let builtIn = try text("built_in"), BuiltInProvider.named(builtIn) != nil {
            server = .builtIn(builtIn, host: try text("host"))
        } else {
            throw JSONError(.wrongType)
        }
        guard let clientID = try text("client_id") else { throw JSONError(.wrongType) }
        self.clientID = clientID
        func texts(_ member: StaticString) throws(JSONError) -> [String] {
            guard let list = document.member(member) else { return [] }
            return try document.publicTexts(list, limit: 4096)
        }
        scopes = try texts("scopes")
        origins = try texts("origins").map { text throws(JSONError) in
            guard let origin = Self.mailOrigin(text) ?? Self.origin(text) else { throw JSONError(.wrongType) }
            return origin
        }
        grant = try text("grant")
        assertionFile = try text("assertion_file")
        guard (try? machine) != nil || grant == nil else { throw JSONError(.wrongType) }
        resource = try text("resource")
        guard resource.map({ (try? ProtectedResource.identifier($0)) != nil }) ?? true else {
            throw JSONError(.wrongType)
        }
        parameters = try texts("parameters")
        guard parameters.allSatisfy({ (try? Self.parameter($0)) != nil }) else { throw JSONError(.wrongType) }
        redirect = try text("redirect")
        certificateFile = try text("ca_file")
        if let flag = document.member("dpop") { usesDPoP = try document.boolean(flag) }
        if let flag = document.member("par") { requiresPushedRequests = try document.boolean(flag) }
        if let flag = document.member("development") { isDevelopment = try document.boolean(flag) }
        if let method = try text("client_authentication") {
            guard let known = ClientAuthentication.Method(rawValue: method) else {
                throw JSONError(.wrongType)
            }
            secretMethod = known
        }
    }

    init(name: ProviderName, server: Server, clientID: String) {
        self.name = name
        self.server = server
        self.clientID = clientID
        scopes = []
    }

    private static func shown(_ text: String) -> LoggableText {
        LoggableText(reviewed: "a provider's configuration holds no secret", unredacted: text)
    }
}
