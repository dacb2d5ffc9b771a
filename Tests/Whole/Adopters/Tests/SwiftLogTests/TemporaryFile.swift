import Glibc

/// A file without a name.
final class TemporaryFile {
    let descriptor: Int32

    struct Failed: Error { let number: Int32 }

    init() throws {
        var path = Array("/tmp/latchkey-log-XXXXXX".utf8CString)
        descriptor = mkstemp(&path)
        guard descriptor >= 0 else { throw Failed(number: errno) }
        unlink(path)
    }

    deinit { close(descriptor) }

    var text: String {
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
