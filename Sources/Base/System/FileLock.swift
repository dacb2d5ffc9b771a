package import Glibc

/// An open-file-description lock (fcntl(2), F_OFD_SETLK) on one byte of a file: the kernel frees it when the descriptor is
/// closed or its process dies. SQLite locks other bytes, so it is not in SQLite's way.
package enum FileLock {
    /// Takes the lock if it is free and returns 0, or an errno: EAGAIN or EACCES when another has it.
    ///
    /// - Parameter offset: of the byte, which need not exist.
    package static func take(_ descriptor: Int32, at offset: off_t = 0) -> Int32 {
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = offset
        lock.l_len = 1
        let ofdSetLock: Int32 = 37  // F_OFD_SETLK, which the module map doesn't carry
        return unsafe fcntl(descriptor, ofdSetLock, &lock) == 0 ? 0 : errno
    }

    /// Waits a tenth of a second for the lock at most: it is for what takes microseconds.
    package static func takeSoon(_ descriptor: Int32) -> Int32 {
        var number = take(descriptor)
        for _ in 0..<200 where number == EAGAIN || number == EACCES || number == EINTR {
            var pause = timespec(tv_sec: 0, tv_nsec: Int.random(in: 250_000...750_000))
            unsafe nanosleep(&pause, nil)
            number = take(descriptor)
        }
        return number
    }
}
