internal import CLatchkeyMicroHTTPD
internal import Glibc
internal import LatchkeySecrets

/// The library's connection. Valid until its exchange has ended.
@safe struct Connection: @unchecked Sendable {
    // Sendable: suspending happens on the daemon's thread, resuming is thread-safe, the rest belongs to the thread.
    private let pointer: OpaquePointer

    @unsafe init(_ pointer: OpaquePointer) {
        unsafe self.pointer = unsafe pointer
    }

    func suspend() { unsafe microHTTPD.MHD_suspend_connection(pointer) }
    func resume() { unsafe microHTTPD.MHD_resume_connection(pointer) }

    func peer(serverPort: UInt16) -> LoopbackPeer? {
        unsafe LoopbackPeer(latchkey_peer(pointer), serverPort: serverPort)
    }

    /// Copies the header out of the library's memory.
    func header() -> RequestHeader {
        let header = RequestHeader()
        let context = unsafe Unmanaged.passUnretained(header).toOpaque()
        _ = unsafe microHTTPD.MHD_get_connection_values(
            pointer, .HEADER_KIND,
            { context, _, name, value in
                guard let context = unsafe context, let name = unsafe name else { return .YES }
                let header = unsafe Unmanaged<RequestHeader>.fromOpaque(context).takeUnretainedValue()
                let bytes = unsafe UnsafeRawBufferPointer(start: value, count: value == nil ? 0 : strlen(value!))
                header.take(name: unsafe String(cString: name), value: unsafe Span(_unsafeBytes: bytes))
                return .YES
            }, context)
        return header
    }

    func queue(_ message: OutgoingMessage) -> MHD_Result {
        unsafe microHTTPD.MHD_queue_response(pointer, UInt32(message.status), message.pointer)
    }
}

/// The header of a request, the secret field apart.
final class RequestHeader {
    private(set) var fields: [LoopbackField] = []
    var authorization: Secret<MessageBody>?

    /// Fields that hold credentials and that nothing here reads.
    private static let unread: Set<String> = ["cookie", "proxy-authorization"]

    func take(name: String, value: Span<UInt8>) {
        switch name.lowercased() {
        case "authorization": authorization = Secret(copying: value)
        case let other where Self.unread.contains(other): break
        default: fields.append(LoopbackField(name, String(decoding: value.indices.map { value[$0] }, as: UTF8.self)))
        }
    }
}
