internal import Glibc

/// A TCP socket that listens on a loopback address.
struct ListeningSocket: ~Copyable {
    let descriptor: Int32
    let port: UInt16

    /// Port 0 means any free port.
    init(_ family: LoopbackServer.Family, port: UInt16) throws(LoopbackError) {
        let domain = family == .ipv4 ? AF_INET : AF_INET6
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(domain, type, 0)
        guard descriptor >= 0 else { throw Self.error(errno, port: port) }
        do throws(LoopbackError) {
            try Self.check(Self.bind(descriptor, family, port: port), port: port)
            try Self.check(listen(descriptor, 32), port: port)
            let bound = Self.boundPort(descriptor, family)
            guard let bound else { throw Self.error(errno, port: port) }
            self.port = bound
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
    }

    private static func check(_ status: Int32, port: UInt16) throws(LoopbackError) {
        if status != 0 { throw error(errno, port: port) }
    }

    private static func bind(_ descriptor: Int32, _ family: LoopbackServer.Family, port: UInt16) -> Int32 {
        // This process may use its former port again at once; another listener on it is still an error.
        var on: Int32 = 1
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        switch family {
        case .ipv4:
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            return unsafe withUnsafeBytes(of: &address) { bytes in
                unsafe Glibc.bind(
                    descriptor, bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
            }
        case .ipv6:
            unsafe setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &on, socklen_t(MemoryLayout<Int32>.size))
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            address.sin6_addr = in6addr_loopback
            return unsafe withUnsafeBytes(of: &address) { bytes in
                unsafe Glibc.bind(
                    descriptor, bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
            }
        }
    }

    private static func boundPort(_ descriptor: Int32, _ family: LoopbackServer.Family) -> UInt16? {
        // The port has the same offset in both families.
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let status = unsafe withUnsafeMutableBytes(of: &address) { bytes in
            unsafe getsockname(descriptor, bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self), &length)
        }
        return status == 0 ? UInt16(bigEndian: address.sin6_port) : nil
    }

    private static func error(_ number: Int32, port: UInt16) -> LoopbackError {
        switch number {
        case EADDRINUSE: LoopbackError(.portInUse, port: port, number: number)
        case EACCES: LoopbackError(.portForbidden, port: port, number: number)
        case EADDRNOTAVAIL, EAFNOSUPPORT: LoopbackError(.noSuchAddress, port: port, number: number)
        default: LoopbackError(.other, port: port, number: number)
        }
    }
}
