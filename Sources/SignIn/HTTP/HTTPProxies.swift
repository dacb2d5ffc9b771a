internal import LatchkeySecrets
internal import LatchkeySystem

/// The proxy that the environment names for HTTPS, and the hosts that are reached without it.
///
/// Loopback addresses never go through a proxy. Plain HTTP goes to loopback addresses alone, so `http_proxy` has
/// nothing to say. An address may hold a password: it is kept as a secret and never shown.
package struct HTTPProxies: Sendable {
    /// No proxy at all.
    package static let none = HTTPProxies(environment: [:])

    /// Such as `http://user:password@proxy.example:3128`. Ends in a zero byte, for C.
    let address: Box<Secret<Password>>?
    /// As libcurl reads it: names, addresses and networks with commas between them, or `*`.
    let exceptions: String

    /// Takes `https_proxy`, `all_proxy` and `no_proxy`, or the same in capitals, from an environment.
    package init(environment: [String: String]) {
        func value(_ names: String...) -> String? {
            names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        }
        address = value("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY").map {
            Box(Secret(copying: (Array($0.utf8) + [0]).span))
        }
        exceptions = value("no_proxy", "NO_PROXY") ?? ""
    }

    /// The proxy to use for a URL, or `nil`.
    func address(for url: HTTPURL) -> Box<Secret<Password>>? { url.isLoopback ? nil : address }
}
