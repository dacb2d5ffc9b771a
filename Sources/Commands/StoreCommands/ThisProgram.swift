internal import Glibc

package enum ThisProgram {
    /// The file that this process was started from (proc(5)), or `nil` when it can't be told.
    package static var path: String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0, count < buffer.count else { return nil }
        return String(decoding: buffer.prefix(count), as: UTF8.self)
    }
}
