internal import CLatchkeyMicroHTTPD
internal import Glibc
internal import LatchkeySecrets
internal import LatchkeySystem

/// A response as the library wants it. The body stays in guarded memory; of `Location` the library makes a copy, which
/// is overwritten when this value dies, after the exchange.
@safe final class OutgoingMessage {
    let status: Int
    let pointer: OpaquePointer

    /// Returns `nil` when the connection is to be closed without a response.
    init?(_ response: consuming LoopbackResponse) {
        let delivery = response.delivery
        guard let pointer = unsafe OutgoingBody(response.body.take(), delivery: delivery).makeResponse() else {
            return nil
        }
        unsafe self.pointer = unsafe pointer
        status = response.status
        for field in response.fields { add(field.name, field.value) }
        add("Cache-Control", "no-store")
        add("Connection", "close")
        switch response.location {
        case .some(let location): add("Location", location)
        case .none: break
        }
    }

    deinit {
        unsafe latchkey_response_wipe(pointer, "Location")
        unsafe microHTTPD.MHD_destroy_response(pointer)
    }

    private func add(_ name: String, _ value: String) {
        _ = unsafe microHTTPD.MHD_add_response_header(pointer, name, value)
    }

    private func add(_ name: String, _ value: borrowing Secret<MessageBody>) {
        // C wants a zero byte at the end.
        let text = Secret<MessageBody>(byteCount: value.byteCount + 1) { target in
            value.withExposedBytes { target.update(from: $0) }
        }
        text.withExposedBytes { bytes in
            unsafe bytes.withUnsafeBytes { bytes in
                _ = unsafe microHTTPD.MHD_add_response_header(
                    pointer, name, bytes.baseAddress!.assumingMemoryBound(to: CChar.self))
            }
        }
    }
}

/// Lends a body to the library, which releases this object after the last byte or at the end of the connection.
private final class OutgoingBody {
    let bytes: LentSecret<MessageBody>?
    let delivery: LoopbackResponse.Delivery

    init(_ bytes: consuming Secret<MessageBody>?, delivery: LoopbackResponse.Delivery) {
        self.bytes = LentSecret(bytes)
        self.delivery = delivery
    }

    @unsafe func makeResponse() -> OpaquePointer? {
        switch delivery {
        case .dropped: return nil
        case .whole: return unsafe makeWhole()
        case .truncated(let announced): return unsafe makeStream(byteCount: UInt64(max(announced, byteCount + 1)))
        case .filler: return unsafe makeStream(byteCount: .max)  // MHD_SIZE_UNKNOWN
        }
    }

    private var byteCount: Int { bytes?.byteCount ?? 0 }

    @unsafe private func makeWhole() -> OpaquePointer? {
        // The library gives this object back when it is done with it, and only reads.
        let base = unsafe UnsafeMutableRawPointer(mutating: bytes?.lentBytes.baseAddress)
        return unsafe microHTTPD.MHD_create_response_from_buffer_with_free_callback_cls(
            byteCount, base, releaseBody, Unmanaged.passRetained(self).toOpaque())
    }

    @unsafe private func makeStream(byteCount: UInt64) -> OpaquePointer? {
        unsafe microHTTPD.MHD_create_response_from_callback(
            byteCount, 16_384,
            { context, position, target, room in
                guard let context = unsafe context, let target = unsafe target else { return -2 }
                let body = unsafe Unmanaged<OutgoingBody>.fromOpaque(context).takeUnretainedValue()
                let buffer = unsafe UnsafeMutableRawBufferPointer(start: target, count: room)
                return unsafe body.read(from: Int(position), into: buffer)
            }, Unmanaged.passRetained(self).toOpaque(), releaseBody)
    }

    /// Returns how many bytes were written, or the library's mark for "close the connection" or for "the end".
    @unsafe private func read(from position: Int, into target: UnsafeMutableRawBufferPointer) -> Int {
        if case .filler(let total) = delivery {
            let count = min(target.count, total - position)
            guard count > 0 else { return -1 }
            unsafe memset(target.baseAddress!, 0x20, count)
            return count
        }
        guard let bytes, position < bytes.byteCount else { return -2 }
        let rest = unsafe bytes.lentBytes[position...].prefix(target.count)
        unsafe target.copyMemory(from: UnsafeRawBufferPointer(rebasing: rest))
        return unsafe rest.count
    }
}

private let releaseBody: MHD_ContentReaderFreeCallback = { context in
    if let context = unsafe context { unsafe Unmanaged<OutgoingBody>.fromOpaque(context).release() }
}
