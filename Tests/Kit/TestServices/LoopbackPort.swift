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
        // starts meanwhile, and the port with it.
        let sockets = ["/proc/net/tcp", "/proc/net/tcp6"].compactMap {
            try? String(contentsOfFile: $0, encoding: .utf8)
        }
        guard !sockets.isEmpty else { throw ServiceFailure("/proc/net/tcp can't be read") }
        for _ in 0..<100 {
            let port = UInt16.random(in: 10_000..<32_000)
            guard given.withLock({ $0.insert(port).inserted }) else { continue }
            // Four digits, as proc_net(5) writes them.
            let entry = ":\(String(port, radix: 16, uppercase: true)) "
            if !sockets.contains(where: { $0.contains(entry) }) { return port }
        }
        throw ServiceFailure("no port of the loopback address is free")
    }
}
