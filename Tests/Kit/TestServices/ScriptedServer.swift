internal import Glibc
internal import Synchronization

/// A TCP server on 127.0.0.1 that says exactly the bytes a test wants, valid HTTP or not.
public final class ScriptedServer: Sendable {
    public enum Step: Sendable {
        /// Reads until an empty line.
        case readHeader
        case say(String)
        case pause(milliseconds: UInt32)
        /// Waits until the other side closes.
        case waitForEnd
    }

    public let port: UInt16
    private let listener: Int32
    private let seen = Mutex<[String]>([])
    private let connections = Atomic(0)

    /// Follows the steps for each connection and closes it.
    public init(_ steps: [Step]) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe bind(listener, generic, size) | getsockname(listener, generic, &size)
            }
        }
        guard listener >= 0, status == 0, listen(listener, 8) == 0 else {
            throw ServiceFailure("no port of the loopback address can be listened on")
        }
        self.listener = listener
        port = UInt16(bigEndian: address.sin_port)
        let conversation = Conversation(steps: steps) { [weak self] header in
            self?.seen.withLock { $0.append(header) }
        }
        let isRunning = Self.spawn { [weak self] in
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { break }
                self?.connections.add(1, ordering: .relaxed)
                _ = Self.spawn { conversation.run(on: connection) }
            }
            close(listener)
        }
        guard isRunning else { throw ServiceFailure("the thread of a server could not be started") }
    }

    deinit {
        // Wakes the thread's accept(2), which then closes the socket.
        shutdown(listener, Int32(SHUT_RDWR))
    }

    public var origin: String { "http://127.0.0.1:\(port)" }

    /// The headers that came in, one a connection.
    public var headers: [String] { seen.withLock { $0 } }

    /// How many connections came in.
    public var connectionCount: Int { connections.load(ordering: .relaxed) }

    private static func spawn(_ body: @escaping @Sendable () -> Void) -> Bool {
        let errand = unsafe Unmanaged.passRetained(Errand(body))
        var thread = pthread_t()
        let status = unsafe pthread_create(
            &thread, nil,
            { argument in
                unsafe Unmanaged<Errand>.fromOpaque(argument!).takeRetainedValue().body()
                return nil
            }, errand.toOpaque())
        pthread_detach(thread)
        return status == 0
    }

    private final class Errand: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) {
            self.body = body
        }
    }

    private struct Conversation: Sendable {
        let steps: [Step]
        let keep: @Sendable (String) -> Void

        func run(on connection: Int32) {
            for step in steps { perform(step, on: connection) }
            close(connection)
        }

        private func perform(_ step: Step, on connection: Int32) {
            switch step {
            case .readHeader:
                var header: [UInt8] = []
                var byte: UInt8 = 0
                while !header.reversed().starts(with: Array("\n\r\n\r".utf8)),
                    unsafe recv(connection, &byte, 1, 0) == 1
                { header.append(byte) }
                keep(String(decoding: header, as: UTF8.self))
            case .say(let text):
                let bytes = Array(text.utf8)
                _ = unsafe bytes.withUnsafeBytes {
                    unsafe send(connection, $0.baseAddress!, $0.count, Int32(MSG_NOSIGNAL))
                }
            case .pause(let milliseconds): usleep(milliseconds * 1000)
            case .waitForEnd:
                var byte: UInt8 = 0
                while unsafe recv(connection, &byte, 1, 0) == 1 {}
            }
        }
    }
}
