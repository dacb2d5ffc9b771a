internal import LatchkeySystem

/// Guarded memory that grows, for data that arrives piece by piece, such as a prompt's answer or a body.
///
/// The memory has a limit in bytes. An append beyond the limit throws and changes nothing.
package struct SecretBuilder: ~Copyable, Sendable {
    private var block: GuardedBlock
    /// In bytes.
    package private(set) var byteCount = 0
    /// The most bytes it takes.
    package let limit: Int

    /// Makes an empty builder.
    package init(capacity: Int = 240, limit: Int = .max) {
        block = GuardedPool.shared.take(byteCount: min(capacity, limit))
        self.limit = limit
    }

    deinit {
        GuardedPool.shared.revoke(block)
    }

    /// More than `limit` bytes were appended.
    package struct LimitExceeded: Error, Hashable, Sendable {
        package let limit: Int
    }

    // MARK: - Appending

    package mutating func append(_ byte: UInt8) throws(LimitExceeded) {
        try reserve(1)
        unsafe block.base.storeBytes(of: byte, toByteOffset: byteCount, as: UInt8.self)
        byteCount += 1
    }

    package mutating func append(_ bytes: Span<UInt8>) throws(LimitExceeded) {
        if bytes.isEmpty { return }
        try reserve(bytes.count)
        unsafe bytes.withUnsafeBytes { source in
            unsafe (block.base + byteCount).copyMemory(from: source.baseAddress!, byteCount: source.count)
        }
        byteCount += bytes.count
    }

    /// Appends text that isn't secret.
    package mutating func append(publicText text: String) throws(LimitExceeded) {
        try append(text.utf8.span)
    }

    /// Appends the base64url text of bytes, without padding (RFC 4648 section 5).
    package mutating func append(base64URLOf bytes: Span<UInt8>) throws(LimitExceeded) {
        let count = Base64Codec.url.encodedByteCount(bytes.count)
        try reserve(count)
        var target = unsafe MutableSpan<UInt8>(
            _unsafeBytes: UnsafeMutableRawBufferPointer(start: block.base + byteCount, count: count))
        Base64Codec.url.encode(bytes, into: &target)
        byteCount += count
    }

    /// Appends what percent-encoded bytes encode. Returns `false` where two hexadecimal digits don't follow a `%`.
    package mutating func append(
        percentDecoding bytes: Span<UInt8>, plusIsSpace: Bool = false
    ) throws(LimitExceeded) -> Bool {
        try PercentEncoding.decode(bytes, plusIsSpace: plusIsSpace) { (byte) throws(LimitExceeded) in try append(byte) }
    }

    package mutating func append<Purpose: SecretPurpose>(_ secret: borrowing Secret<Purpose>) throws(LimitExceeded) {
        try secret.withExposedBytes { (bytes) throws(LimitExceeded) in try append(bytes) }
    }

    /// Takes the last byte off, if there is one.
    package mutating func removeLast() {
        guard byteCount > 0 else { return }
        byteCount -= 1
        unsafe block.base.storeBytes(of: 0, toByteOffset: byteCount, as: UInt8.self)
    }

    /// Takes everything off and wipes it.
    package mutating func removeAll() {
        unsafe block.base.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
        byteCount = 0
    }

    // MARK: - Finishing

    /// Ends the building and returns the secret.
    package consuming func finish<Purpose: SecretPurpose>(as purpose: Purpose.Type) -> Secret<Purpose> {
        withExposedBytes { Secret<Purpose>(copying: $0) }
    }

    /// Lends what was built so far; see `Secret.withExposedBytes`.
    package borrowing func withExposedBytes<Result: ~Copyable, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let bytes = unsafe UnsafeRawBufferPointer(start: block.base, count: byteCount)
        return try unsafe body(Span<UInt8>(_unsafeBytes: bytes))
    }

    private mutating func reserve(_ more: Int) throws(LimitExceeded) {
        guard more <= limit - byteCount else { throw LimitExceeded(limit: limit) }
        guard byteCount + more > block.capacity else { return }
        let larger = GuardedPool.shared.take(byteCount: min(max(byteCount + more, block.capacity * 2), limit))
        if byteCount > 0 { unsafe larger.base.copyMemory(from: block.base, byteCount: byteCount) }
        GuardedPool.shared.revoke(block)
        block = larger
    }
}
