/// A host with or without a port, as an address has it (RFC 3986, 3.2).
package enum HostName {
    /// Where the scheme of an address ends with its slashes; `nil` for a text that doesn't begin with a scheme.
    package static func endOfScheme(in text: String) -> String.Index? {
        guard let mark = text.firstRange(of: "://") else { return nil }
        let scheme = text[..<mark.lowerBound].utf8
        guard scheme.first.map(ASCII.isLetter) ?? false,
            scheme.allSatisfy({ ASCII.isLetter($0) || ASCII.isDigit($0) || "+-.".utf8.contains($0) })
        else { return nil }
        return mark.upperBound
    }

    /// Whether data that is sent to a host, without its port, stays on this machine: `127.0.0.1`, `::1` in brackets or
    /// without (RFC 8252 section 7.3), or `localhost` (RFC 6761 section 6.3).
    ///
    /// Nothing else counts, not even the rest of 127.0.0.0/8: of `127.1` or `0177.0.0.1` readers of addresses make
    /// different things.
    package static func isLoopback(_ host: some StringProtocol) -> Bool {
        ["localhost", "127.0.0.1", "::1", "[::1]"].contains(ASCII.lowercased(host))
    }

    /// The host without its port.
    package static func withoutPort(_ text: some StringProtocol) -> String {
        guard let colon = text.lastIndex(of: ":"), text.last != "]" else { return String(text) }
        return String(text[..<colon])
    }

    /// Whether the text is a host, without anything that another reader of addresses could take for the end of one.
    package static func isSound(_ text: some StringProtocol) -> Bool {
        let bytes = Array(text.utf8)
        var end = bytes.count
        if let colon = bytes.lastIndex(of: UInt8(ascii: ":")), bytes.last != UInt8(ascii: "]") {
            end = colon
            guard colon + 1 < bytes.count, bytes[(colon + 1)...].allSatisfy(ASCII.isDigit) else { return false }
        }
        let name = bytes[..<end]
        if name.first == UInt8(ascii: "["), name.last == UInt8(ascii: "]"), name.count > 2 {
            return name.dropFirst().dropLast().allSatisfy {
                ASCII.hexValue($0) != nil || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".")
            }
        }
        // Beyond ASCII: a name that isn't written in Punycode.
        return !name.isEmpty && name.allSatisfy { ASCII.isUnreserved($0) && $0 != UInt8(ascii: "~") || $0 >= 0x80 }
    }
}
