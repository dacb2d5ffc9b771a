import Foundation
import Testing

/// A TCP connection to 127.0.0.1 that says exactly the bytes a test wants.
final class RawConnection: Sendable {
    private let descriptor: Int32

    init(port: UInt16) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        self.descriptor = descriptor
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe connect(descriptor, generic, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(descriptor >= 0 && status == 0)
    }

    deinit {
        close(descriptor)
    }

    /// Sends the text and returns everything that comes until the server closes.
    ///
    /// It waits on a thread of its own: the handler of the server under test needs the threads that tests run on.
    func exchange(_ text: String) async -> String {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: self.exchangeNow(text)) }
        }
    }

    private func exchangeNow(_ text: String) -> String {
        let bytes = Array(text.utf8)
        _ = unsafe bytes.withUnsafeBytes {
            unsafe send(descriptor, $0.baseAddress!, $0.count, Int32(MSG_NOSIGNAL))
        }
        var response: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe recv(descriptor, &piece, piece.count, 0)
            guard count > 0 else { break }
            response += piece[..<count]
        }
        return String(decoding: response, as: UTF8.self)
    }
}
