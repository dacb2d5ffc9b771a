internal import Foundation
internal import Synchronization

/// A TCP port on 127.0.0.1 and ::1 that nobody used a moment ago.
///
/// It lies below the ports that the kernel gives to outgoing connections, of which a busy test run has many: one of
/// them would take it before it is used (ip_local_port_range, 32768 to 60999). Another process may still do so.
public enum LoopbackPort {
    /// No port is given out twice: whoever has it may use it much later.
    private static let given = Mutex<Set<UInt16>>([])

    public static func free() throws -> UInt16 {
        // Looked up rather than tried: a socket that tries a port is held for a moment by each program that another test
        // starts meanwhile, and the port with it. A socket that is bound and nothing else isn't listed.
        var sockets = try String(kernelFile: "/proc/net/tcp")
        // Without IPv6 it isn't there.
        sockets += (try? String(kernelFile: "/proc/net/tcp6")) ?? ""
        for _ in 0..<100 {
            let port = UInt16.random(in: 10_000..<32_000)
            guard given.withLock({ $0.insert(port).inserted }) else { continue }
            // In hexadecimal, always four digits. It may be the other end's port: another one does as well.
            if !sockets.contains(":\(String(port, radix: 16, uppercase: true)) ") { return port }
        }
        throw ServiceFailure("a hundred ports of the loopback address are in use")
    }
}
