internal import LatchkeySystem

/// What docker and others call a registry: a host with or without a scheme, a port and a path, as each client likes.
struct RegistryName {
    /// As the client wrote it, without white space around it.
    let text: String
    /// Host and port.
    let host: String
    private let path: String
    private let isInClear: Bool

    /// `nil` for one without a host, with a user in it, or with what another reader could take for another host.
    init?(_ given: String) {
        let text = given.drop { $0.isWhitespace }
        self.text = String(text.reversed().drop { $0.isWhitespace }.reversed())
        var rest = self.text[...]
        isInClear = rest.hasPrefix("http://")
        if let end = HostName.endOfScheme(in: self.text) { rest = rest[end...] }
        let end = rest.firstIndex(of: "/") ?? rest.endIndex
        host = rest[..<end].lowercased()
        path = String(rest[end...].reversed().drop { $0 == "/" }.reversed())
        guard HostName.isSound(host) else { return nil }
    }

    /// Where its sessions' tokens may go.
    var origin: String { "\(isInClear ? "http" : "https")://\(host)" }

    /// The names under which the same registry may be kept, the nearest first: as it was written, by host and path with
    /// and without the scheme, then by the host alone.
    var candidates: [String] {
        let places = path.isEmpty ? [host] : [host + path, host]
        // What was stored for HTTPS isn't for a registry in clear.
        let forms = places.flatMap {
            isInClear
                ? ["http://\($0)", "http://\($0)/"]
                : [$0, "https://\($0)", "\($0)/", "https://\($0)/", "https://\($0)/v1/"]
        }
        var seen: Set<String> = []
        return ([text] + forms).filter { seen.insert($0).inserted }
    }
}
