internal import LatchkeyOAuth

extension BuiltInProvider {
    /// Bluesky, and every other server of AT Protocol: each account has its own server, which names the one that
    /// authorizes. They are found from the account's handle by the module ATProtocol; the issuer here is that of
    /// Bluesky's own accounts.
    ///
    /// The host is that of the directory of did:plc. Without a client id it is a client on a loopback address, which
    /// needs no registration; otherwise the client id is the address of the client's metadata document.
    static let bluesky = BuiltInProvider(
        "bluesky", host: .standard("plc.directory"), standardClientID: "http://localhost", findsServerByAccount: true
    ) { choices, _ throws(OAuthError) in
        var provider = try OAuthProvider(
            name: choices.name, server: .issuer(Issuer("https://bsky.social")), clientID: choices.clientID,
            scopes: choices.scopes ?? ["atproto", "transition:generic"], redirect: choices.redirect,
            account: .nowhere, usesDPoP: true)
        provider.pushes = .requiredWithProof
        return provider
    }
}
