internal import CLatchkeySodium

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
