internal import LatchkeyLoopback
internal import LatchkeySecrets

extension RegisteredClient {
    /// The client that an id of the form `http://localhost?redirect_uri=…&scope=…` describes, for AT Protocol. Returns
    /// `nil` for any other id, and for a redirect that is not on a loopback IP address.
    convenience init?(loopback identifier: String) {
        let prefix = "http://localhost"
        guard identifier.hasPrefix(prefix) else { return nil }
        var rest = identifier.dropFirst(prefix.count)
        if rest.hasPrefix("/") { rest = rest.dropFirst() }
        guard rest.isEmpty || rest.hasPrefix("?") else { return nil }
        let query = Array(rest.dropFirst().utf8)
        guard let fields = FormFields(Secret<MessageBody>(copying: query.span)) else { return nil }
        let redirects = fields.text("redirect_uri").map { [$0] } ?? ["http://127.0.0.1/", "http://[::1]/"]
        let isLoopback = redirects.allSatisfy { $0.hasPrefix("http://127.0.0.1/") || $0.hasPrefix("http://[::1]/") }
        guard isLoopback else { return nil }
        self.init(identifier, redirectURIs: redirects)
    }
}
