import Foundation

/// A name server on a loopback port (UDP) that responds to questions for TXT records as a test tells it.
final class NameServer: Sendable {
    enum Response: Sendable {
        /// Records, each in pieces.
        case texts([[String]])
        case absent
        case failure
        case silence
    }

    let port: UInt16
    private let descriptor: Int32

    init(_ response: @escaping @Sendable (String) -> Response) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw POSIXError(.EIO) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe bind(descriptor, generic, length) == 0 && getsockname(descriptor, generic, &length) == 0
            }
        }
        guard isBound else { throw POSIXError(.EADDRINUSE) }
        port = UInt16(bigEndian: address.sin_port)
        self.descriptor = descriptor
        Thread.detachNewThread { Self.serve(descriptor, response) }
    }

    deinit {
        // Wakes the thread, which closes it.
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    private static func serve(_ descriptor: Int32, _ response: (String) -> Response) {
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 1024)
        while true {
            var peer = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let count = unsafe withUnsafeMutablePointer(to: &peer) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                    unsafe recvfrom(descriptor, &buffer, buffer.count, 0, generic, &length)
                }
            }
            guard count > 12 else { return }
            let question = Array(buffer.prefix(count))
            let number = Int(question[0]) << 8 | Int(question[1])
            let name = name(in: question)
            let message: [UInt8]
            switch response(name) {
            case .texts(let texts): message = Self.message(number: number, name: name, texts: texts)
            case .absent: message = Self.message(number: number, name: name, texts: [], code: 3)
            case .failure: message = Self.message(number: number, name: name, texts: [], code: 2)
            case .silence: continue
            }
            _ = unsafe withUnsafeMutablePointer(to: &peer) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                    unsafe sendto(descriptor, message, message.count, 0, generic, length)
                }
            }
        }
    }

    private static func name(in question: [UInt8]) -> String {
        var (labels, place): ([String], Int) = ([], 12)
        while place < question.count, question[place] != 0 {
            let count = Int(question[place])
            labels.append(String(decoding: question[(place + 1)...].prefix(count), as: UTF8.self))
            place += count + 1
        }
        return labels.joined(separator: ".").lowercased()
    }

    /// A whole response (RFC 1035 section 4).
    static func message(number: Int, name: String, texts: [[String]], code: UInt8 = 0) -> [UInt8] {
        func two(_ value: Int) -> [UInt8] { [UInt8(value >> 8 & 255), UInt8(value & 255)] }
        func piece(_ text: some StringProtocol) -> [UInt8] { [UInt8(text.utf8.count)] + Array(text.utf8) }
        var labels: [UInt8] = []
        for label in name.split(separator: ".") { labels += piece(label) }
        labels.append(0)
        var message = two(number) + [0x85, 0x80 | code] + two(1) + two(texts.count) + two(0) + two(0)
        message += labels + two(16) + two(1)
        for pieces in texts {
            var data: [UInt8] = []
            for text in pieces { data += piece(text) }
            message += [0xC0, 12] + two(16) + two(1) + [0, 0, 0, 60] + two(data.count) + data
        }
        return message
    }
}
