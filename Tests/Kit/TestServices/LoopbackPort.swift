internal import Foundation
internal import Synchronization

/// A TCP port on 127.0.0.1 that nobody used a moment ago.
///
/// It lies below the ports that the kernel gives to outgoing connections, of which a busy test run has many: one of
/// them would take it before it is used (ip_local_port_range, 32768 to 60999). Another process may still do so.
public enum LoopbackPort {
    /// No port is given out twice: whoever has it may use it much later.
    private static let given = Mutex<Set<UInt16>>([])

    public static func free() throws -> UInt16 {
        var failure: Int32 = 0
        for _ in 0..<100 {
            let port = UInt16.random(in: 10_000..<32_000)
            guard given.withLock({ $0.insert(port).inserted }) else { continue }
            failure = try tryBind(port)
            if failure == 0 { return port }
        }
        throw ServiceFailure.system("bind", failure)
    }

    /// Returns 0, or the errno of bind(2).
    private static func tryBind(_ port: UInt16) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw ServiceFailure.system("socket", errno) }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe bind(descriptor, generic, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 ? 0 : errno
            }
        }
    }
}
