internal import Glibc

/// Reading and writing all bytes of a descriptor: calls that a signal interrupted, and calls that took a part, are
/// repeated (read(2), write(2)).
package enum DescriptorBytes {
    /// Reads once, and returns the number of bytes; 0 is the end.
    @unsafe package static func read(
        _ descriptor: Int32, into target: UnsafeMutableRawBufferPointer
    ) throws(SystemErrorNumber) -> Int {
        while true {
            let count = unsafe Glibc.read(descriptor, target.baseAddress, target.count)
            if count >= 0 { return count }
            if errno != EINTR { throw SystemErrorNumber(errno) }
        }
    }

    /// Reads until memory is full or the end has come, and returns the number of bytes.
    package static func fill(
        _ target: inout MutableSpan<UInt8>, from descriptor: Int32
    ) throws(SystemErrorNumber) -> Int {
        try unsafe target.withUnsafeMutableBytes { (target) throws(SystemErrorNumber) in
            var count = 0
            while count < target.count {
                let more = try unsafe read(descriptor, into: UnsafeMutableRawBufferPointer(rebasing: target[count...]))
                if more == 0 { break }
                count += more
            }
            return count
        }
    }

    /// Reads to the end. More than `limit` bytes are EFBIG.
    package static func all(of descriptor: Int32, limit: Int) throws(SystemErrorNumber) -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: min(limit, 1 << 16 - 1) + 1)
        while true {
            var span = piece.mutableSpan
            let count = try fill(&span, from: descriptor)
            if count == 0 { return bytes }
            bytes += piece[..<count]
            guard bytes.count <= limit else { throw SystemErrorNumber(EFBIG) }
        }
    }

    /// Returns a pipe's ends (pipe(2)). Programs that are started later don't inherit them.
    package static func pipe() throws(SystemErrorNumber) -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        guard unsafe Glibc.pipe(&ends) == 0 else { throw SystemErrorNumber(errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    /// A descriptor of the same pipe or terminal that never waits, to be closed by the caller. The settings of the first
    /// may be shared with other programs. `nil` for anything else, and if the system refuses.
    package static func withoutWaiting(_ descriptor: Int32) -> Int32? {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return nil }
        // Only terminals respond to TIOCGDEV (ioctl_tty(2)), each with its own number.
        var (terminal, other) = (UInt32(0), UInt32(0))
        switch status.st_mode & S_IFMT {
        case S_IFIFO: break
        case S_IFCHR: guard unsafe ioctl(descriptor, 0x8004_5432, &terminal) == 0 else { return nil }
        default: return nil
        }
        guard fcntl(descriptor, F_GETFL) & O_ACCMODE != O_RDONLY else { return nil }
        let flags = O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
        let opened = unsafe open("/proc/self/fd/\(descriptor)", flags)
        guard opened >= 0 else { return nil }
        // A terminal's controller opens as another one.
        let isOther =
            status.st_mode & S_IFMT == S_IFCHR
            && (unsafe ioctl(opened, 0x8004_5432, &other) != 0 || terminal != other)
        if isOther { close(opened) }
        return isOther ? nil : opened
    }

    /// Calls write(2) once. A socket doesn't wait.
    @unsafe package static func writeOnce(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int {
        let options = Int32(MSG_DONTWAIT | MSG_NOSIGNAL)
        let count = unsafe send(descriptor, bytes.baseAddress, bytes.count, options)
        guard count < 0, errno == ENOTSOCK else { return count }
        return unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
    }

    /// Writes everything. A descriptor that takes nothing more for the moment (EAGAIN) is a failure.
    package static func write(_ bytes: Span<UInt8>, to descriptor: Int32) throws(SystemErrorNumber) {
        try unsafe bytes.withUnsafeBytes { (bytes) throws(SystemErrorNumber) in
            var written = 0
            while written < bytes.count {
                let count = unsafe Glibc.write(descriptor, bytes.baseAddress! + written, bytes.count - written)
                if count < 0 && errno == EINTR { continue }
                // A device that takes nothing would take nothing the next time either.
                if count <= 0 { throw SystemErrorNumber(count == 0 ? ENOSPC : errno) }
                written += count
            }
        }
    }
}
