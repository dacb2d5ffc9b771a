import Glibc
import Testing

/// A port of 127.0.0.1 that is taken, so that no other test's server gets it, and on which nobody listens.
final class ReservedPort {
    let number: UInt16
    private let descriptor: Int32

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe bind(descriptor, generic, size) | getsockname(descriptor, generic, &size)
            }
        }
        number = UInt16(bigEndian: address.sin_port)
        try #require(descriptor >= 0 && status == 0)
    }

    deinit {
        close(descriptor)
    }

    var origin: String { "http://127.0.0.1:\(number)" }
}
