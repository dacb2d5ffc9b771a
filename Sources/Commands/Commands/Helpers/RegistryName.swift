internal import LatchkeySystem

/// What docker and others call a registry: a host with or without a scheme, a port and a path, as each client likes.
struct RegistryName {
    /// As the client wrote it, without white space around it.
    let text: String
    /// Host and port.
    let host: String
    private let path: String
    /// In lower case; HTTPS where none is written.
    private let scheme: String

    /// `nil` for one without a host, with a user in it, or with what another reader could take for another host.
    init?(_ given: String) {
        let text = given.drop { $0.isWhitespace }
        self.text = String(text.reversed().drop { $0.isWhitespace }.reversed())
        var rest = self.text[...]
        let start = HostName.endOfScheme(in: self.text) ?? self.text.startIndex
        scheme = start == self.text.startIndex ? "https://" : ASCII.lowercased(rest[..<start])
        rest = rest[start...]
        let end = rest.firstIndex(of: "/") ?? rest.endIndex
        host = ASCII.lowercased(rest[..<end])
        path = String(rest[end...].reversed().drop { $0 == "/" }.reversed())
        guard HostName.isSound(host) else { return nil }
    }

    /// Where its sessions' tokens may go.
    var origin: String { scheme + host }

    /// The names under which the same registry may be stored, the nearest first: as it was written, by host and path with
    /// and without the scheme, then by the host alone. With a scheme other than HTTP and HTTPS, as it was written.
    var candidates: [String] {
        let places = path.isEmpty ? [host] : [host + path, host]
        // What was stored for HTTPS goes to no other scheme.
        let forms = places.flatMap { place -> [String] in
            switch scheme {
            case "https://": [place, "https://\(place)", "\(place)/", "https://\(place)/", "https://\(place)/v1/"]
            case "http://": ["http://\(place)", "http://\(place)/"]
            default: []
            }
        }
        var seen: Set<String> = []
        return ([text] + forms).filter { seen.insert($0).inserted }
    }
}
