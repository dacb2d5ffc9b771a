internal import Glibc

/// write(2) that returns what is wrong, and raises no signal that would end the process.
package enum PipeSafeWrite {
    /// Writes all of `text`. Returns the errno of a failure, or `nil`.
    package static func write(_ text: String, to descriptor: Int32) -> Int32? {
        var text = text
        return text.withUTF8 { bytes in
            var written = 0
            while written < bytes.count {
                let rest = unsafe UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[written...])
                switch unsafe write(rest, to: descriptor) {
                case .success(let count): written += count
                case .failure(let failure): return failure.number
                }
            }
            return nil
        }
    }

    struct Failure: Error {
        let number: Int32
    }

    /// One write(2), repeated while signals interrupt it; how many bytes it took.
    ///
    /// A pipe without a reader would raise SIGPIPE, and a file at its limit SIGXFSZ: both are held back in this thread
    /// and taken out again, so that whoever else waits for one still gets theirs.
    static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Result<Int, Failure> {
        var (held, before) = (sigset_t(), sigset_t())
        unsafe sigemptyset(&held)
        for signal in [SIGPIPE, SIGXFSZ] { unsafe sigaddset(&held, signal) }
        unsafe pthread_sigmask(SIG_BLOCK, &held, &before)
        var count = unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        while count < 0 && errno == EINTR { count = unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count) }
        let number = errno
        if count < 0, let signal = number == EPIPE ? SIGPIPE : number == EFBIG ? SIGXFSZ : nil,
            unsafe sigismember(&before, signal) == 0
        {
            var raised = sigset_t()
            unsafe sigemptyset(&raised)
            unsafe sigaddset(&raised, signal)
            var atOnce = timespec()
            _ = unsafe sigtimedwait(&raised, nil, &atOnce)
        }
        unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
        if count > 0 { return .success(count) }
        return .failure(Failure(number: count == 0 ? EIO : number))
    }
}
