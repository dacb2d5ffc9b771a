internal import CLatchkeySodium
internal import Glibc
package import LatchkeySystem

/// The one-time start of libsodium; every entry to the library goes through `start()`.
package enum SodiumLibrary {
    private static let started: Bool = sodium_init() >= 0

    /// Initialises libsodium once per process. Stops the process when the library can't start: no secret may be
    /// handled without it.
    package static func start() {
        precondition(started, "libsodium could not be initialised")
    }
}

/// Overwrites memory in a way that the optimiser keeps (sodium_memzero).
package func wipe(_ bytes: inout MutableSpan<UInt8>) {
    unsafe bytes.withUnsafeMutableBytes { buffer in
        guard let base = buffer.baseAddress else { return }
        unsafe sodium_memzero(base, buffer.count)
    }
}

/// Whether two byte strings are equal. The time taken depends on their lengths alone (sodium_memcmp).
package func constantTimeEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    if left.isEmpty { return true }
    return unsafe left.withUnsafeBytes { a in
        unsafe right.withUnsafeBytes { b in unsafe sodium_memcmp(a.baseAddress!, b.baseAddress!, a.count) == 0 }
    }
}

/// Random octets from the kernel's generator, the status of each call checked.
package enum RandomOctets {
    /// Fills `bytes` with random octets, or throws with the kernel's error number.
    package static func fill(_ bytes: inout MutableSpan<UInt8>) throws(SystemErrorNumber) {
        var failure: Int32 = 0
        unsafe bytes.withUnsafeMutableBytes { buffer in
            var rest = unsafe buffer[...]
            while unsafe !rest.isEmpty {
                // getentropy returns at most 256 octets a call. Such a call is never interrupted or short.
                let piece = unsafe UnsafeMutableRawBufferPointer(rebasing: rest.prefix(256))
                guard unsafe getentropy(piece.baseAddress!, piece.count) == 0 else {
                    failure = errno
                    return
                }
                unsafe rest = unsafe rest.dropFirst(256)
            }
        }
        if failure != 0 { throw SystemErrorNumber(failure) }
    }

    /// Returns `count` random octets that aren't secret, such as a salt, a nonce or a file name.
    package static func array(_ count: Int) throws(SystemErrorNumber) -> [UInt8] {
        var octets = [UInt8](repeating: 0, count: count)
        var span = octets.mutableSpan
        try fill(&span)
        return octets
    }
}

/// The rest of finished calls on a thread's stack below the caller's frame.
package enum DeadStack {
    /// Overwrites 4 KiB of it. For who has moved bytes of a secret through registers and frames of its own.
    package static func wipe() { sodium_stackzero(4096) }
}
