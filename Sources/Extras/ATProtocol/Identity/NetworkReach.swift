internal import LatchkeyHTTP

/// Which servers requests may go to: names of accounts come from strangers, and must not lead into a private network.
public enum NetworkReach: Sendable, Hashable {
    /// HTTPS to hosts with a public domain name, which must lead to a public address when the connection is made.
    case publicInternet
    /// The same, and loopback addresses, in the clear too: for tests and for servers under development.
    case development

    /// What its connections may be made to. A name that was public when it was looked up may lead elsewhere a moment
    /// later.
    var addresses: AddressReach {
        switch self {
        case .publicInternet: .publicInternet
        case .development: .publicInternetAndLoopback
        }
    }

    /// Throws `.addressRefused` for a URL that no request may go to.
    func check(_ url: HTTPURL) throws(ATProtocolError) {
        if self == .development, url.isLoopback { return }
        guard url.scheme == .https, Self.isPublicName(url.host) else { throw ATProtocolError(.addressRefused) }
    }

    /// A domain name, no IP address in any of its forms (inet_aton(3) reads `0x7f.1` and `2130706433`).
    private static func isPublicName(_ host: String) -> Bool {
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count >= 2, labels.allSatisfy(ATProtocolHandle.isLabel), let last = labels.last?.utf8.first else {
            return false
        }
        return (0x61...0x7A).contains(last) && (try? ATProtocolHandle(host)) != nil
    }
}
