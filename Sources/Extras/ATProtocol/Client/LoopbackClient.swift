package import LatchkeyOAuth
internal import LatchkeySystem

/// The client that needs no document: for command lines and for development. Its id says all that there is to know.
package enum LoopbackClient {
    /// Returns `http://localhost?redirect_uri=…&scope=…` for a redirect on a loopback address, the port left out.
    ///
    /// Throws `.invalidRedirectURI` for any other redirect.
    package static func identifier(redirect: RedirectURI, scopes: ScopeList) throws(ATProtocolError) -> String {
        guard redirect.kind == .loopback, let address = redirect.loopbackAddress else {
            throw ATProtocolError(.invalidRedirectURI)
        }
        let text = "http://\(address.rawValue)\(redirect.path)"
        return
            "http://localhost?redirect_uri=\(PercentEncoding.encode(text))&scope=\(PercentEncoding.encode(scopes.text))"
    }
}
