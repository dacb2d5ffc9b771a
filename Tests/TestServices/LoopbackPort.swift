internal import Foundation

/// A TCP port on 127.0.0.1 that nobody used a moment ago.
///
/// Another process may take it before it is used; whoever starts a server on it tries again with another one then.
public enum LoopbackPort {
    public static func free() throws -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw ServiceFailure.system("socket", errno) }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                guard unsafe bind(descriptor, generic, size) == 0 else { return Int32(-1) }
                return unsafe getsockname(descriptor, generic, &size)
            }
        }
        guard status == 0 else { throw ServiceFailure.system("bind", errno) }
        return UInt16(bigEndian: address.sin_port)
    }
}
