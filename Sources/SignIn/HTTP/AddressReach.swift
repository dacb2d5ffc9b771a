internal import CLatchkeyCurl
internal import Glibc

/// The addresses that a client connects to. The address of the connection decides, not its name.
package enum AddressReach: Sendable, Hashable, CaseIterable {
    case anywhere
    /// Addresses that anyone on the internet can have: no loopback, private, shared, link-local, documentation,
    /// multicast or reserved ones (RFC 6890), and none of those inside of an IPv6 address.
    case publicInternet
    /// The same, and loopback addresses: for tests and for servers under development.
    case publicInternetAndLoopback

    func permits(_ address: InternetAddress?) -> Bool {
        switch self {
        case .anywhere: true
        case .publicInternet: address?.isPublic ?? false
        case .publicInternetAndLoopback: address.map { $0.isPublic || $0.isLoopback } ?? false
        }
    }
}

/// An address of the internet protocol, version 4 or 6.
struct InternetAddress: Hashable, Sendable {
    /// 4 or 16, most significant first.
    private let octets: [UInt8]

    private init(octets: [UInt8]) {
        self.octets = octets
    }

    /// Reads what inet_pton(3) does; `nil` for anything else.
    init?(_ text: String) {
        for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
            var octets = [UInt8](repeating: 0, count: count)
            if unsafe inet_pton(family, text, &octets) == 1 {
                self.init(octets: octets)
                return
            }
        }
        return nil
    }

    /// Takes the address that libcurl is about to connect to; `nil` for another family.
    @unsafe init?(_ address: UnsafePointer<curl_sockaddr>) {
        let (family, length) = unsafe (address.pointee.family, Int(address.pointee.addrlen))
        // The octets come after family and port, and in version 6 after the flow's label (ip(7), ipv6(7)).
        let range: Range<Int>
        switch family {
        case AF_INET: range = 4..<8
        case AF_INET6: range = 8..<24
        default: return nil
        }
        guard length >= range.upperBound, let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else {
            return nil
        }
        let bytes = unsafe UnsafeRawPointer(address) + offset
        self.init(octets: range.map { unsafe bytes.load(fromByteOffset: $0, as: UInt8.self) })
    }

    private func hasPrefix(_ prefix: [UInt8], bits: Int) -> Bool {
        for bit in 0..<bits {
            let mask = UInt8(0x80) >> UInt8(bit % 8)
            let wanted = bit / 8 < prefix.count ? prefix[bit / 8] : 0
            if octets[bit / 8] & mask != wanted & mask { return false }
        }
        return true
    }

    /// The IPv4 address in a mapped (RFC 4291 section 2.5.5.2) or translated (RFC 6052) IPv6 address.
    private var inner: InternetAddress? {
        guard octets.count == 16 else { return nil }
        let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
        let translated: [UInt8] = [0, 0x64, 0xFF, 0x9B]
        guard hasPrefix(mapped, bits: 96) || hasPrefix(translated, bits: 96) else { return nil }
        return InternetAddress(octets: Array(octets[12...]))
    }

    var isLoopback: Bool {
        if let inner { return inner.isLoopback }
        return octets.count == 4 ? octets[0] == 127 : octets == [UInt8](repeating: 0, count: 15) + [1]
    }

    /// Whether it is none of those that IANA's registries of special-purpose addresses keep from the public internet.
    var isPublic: Bool {
        if let inner { return inner.isPublic }
        if octets.count == 4 { return !Self.special4.contains { hasPrefix($0.0, bits: $0.1) } }
        return hasPrefix([0x20], bits: 3) && !Self.special6.contains { hasPrefix($0.0, bits: $0.1) }
    }

    private static let special4: [([UInt8], Int)] = [
        ([0], 8), ([10], 8), ([100, 64], 10), ([127], 8), ([169, 254], 16), ([172, 16], 12), ([192, 0, 0], 24),
        ([192, 0, 2], 24), ([192, 88, 99], 24), ([192, 168], 16), ([198, 18], 15), ([198, 51, 100], 24),
        ([203, 0, 113], 24), ([224], 4), ([240], 4),
    ]

    /// The special ranges of 2000::/3: protocol assignments and Teredo, documentation, and 6to4, which contains IPv4
    /// addresses.
    private static let special6: [([UInt8], Int)] = [
        ([0x20, 0x01], 23), ([0x20, 0x01, 0x0D, 0xB8], 32), ([0x20, 0x02], 16), ([0x3F, 0xFF], 20),
    ]
}
