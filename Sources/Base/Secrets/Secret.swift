package import LatchkeySystem
internal import Synchronization

/// A secret: bytes in guarded memory that can't be copied, printed, interpolated, dumped, encoded or put into `Any`.
///
/// The memory is locked if the system permits that, left out of core dumps, guarded at its ends, and wiped when the
/// value ends. Only ``withExposedBytes(_:)`` gives access to the bytes; a checked list contains each use of it in this
/// package. The number of bytes isn't treated as secret.
///
/// A secret of more than about 4,000 bytes has pages of its own. Linux gives a process some 15,000 of them by default
/// (vm.max_map_count, proc(5)); without memory for another secret, the process ends.
///
/// `Purpose` is a ``SecretPurpose``, because only extensions with that constraint make secrets. The type itself lacks the
/// constraint: the runtime would search the whole program for each purpose's conformance (100,000 instructions each).
public struct Secret<Purpose>: ~Copyable, Sendable {
    private let block: GuardedBlock
    /// How many bytes it has; 0 is a secret too.
    public let byteCount: Int

    init(adopting block: GuardedBlock, byteCount: Int) {
        self.block = block
        self.byteCount = byteCount
    }

    deinit {
        GuardedPool.shared.revoke(block)
    }
}

extension Secret where Purpose: SecretPurpose {
    /// Copies `bytes` into guarded memory. The original is the caller's to wipe.
    public init(copying bytes: Span<UInt8>) {
        self.init(byteCount: bytes.count) { $0.update(from: bytes) }
    }

    /// Makes a secret of `byteCount` zero bytes, which `body` fills in place.
    ///
    /// Throws the error of `body`, after wiping the memory.
    public init<Failure: Error>(
        byteCount: Int, fillingWith body: (inout MutableSpan<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        let block = GuardedPool.shared.take(byteCount: byteCount)
        self.init(adopting: block, byteCount: byteCount)
        var span = unsafe MutableSpan<UInt8>(
            _unsafeBytes: UnsafeMutableRawBufferPointer(start: block.base, count: byteCount))
        try body(&span)
        SecretNotice.tell(of: self)
    }

    /// Makes a secret of the first bytes that `body` writes into `capacity` zero bytes; `body` returns their number.
    ///
    /// The rest is wiped. Throws the error of `body`, after wiping the memory.
    package init<Failure: Error>(
        capacity: Int, fillingPrefixWith body: (inout MutableSpan<UInt8>) throws(Failure) -> Int
    ) throws(Failure) {
        let block = GuardedPool.shared.take(byteCount: capacity)
        var span = unsafe MutableSpan<UInt8>(
            _unsafeBytes: UnsafeMutableRawBufferPointer(start: block.base, count: capacity))
        let byteCount: Int
        do throws(Failure) {
            byteCount = try body(&span)
        } catch {
            GuardedPool.shared.revoke(block)
            throw error
        }
        precondition((0...capacity).contains(byteCount), "more bytes than the capacity")
        unsafe (block.base + byteCount).initializeMemory(as: UInt8.self, repeating: 0, count: capacity - byteCount)
        self.init(adopting: block, byteCount: byteCount)
        SecretNotice.tell(of: self)
    }

    /// Makes a secret of what one read(2) brings: of no bytes at the end.
    package init(readingFrom descriptor: Int32, atMost capacity: Int) throws(SystemErrorNumber) {
        try self.init(capacity: capacity) { (span) throws(SystemErrorNumber) in
            try unsafe span.withUnsafeMutableBytes { (target) throws(SystemErrorNumber) in
                try unsafe DescriptorBytes.read(descriptor, into: target)
            }
        }
    }

    /// Whether the secret has 0 bytes.
    package var isEmpty: Bool { byteCount == 0 }

    /// Whether the memory could be locked.
    package var memoryProtection: MemoryProtection { block.isLocked ? .locked : .unlocked }

    // MARK: - Lending

    /// The bytes, which are valid as long as this value. Only `LentSecret` uses them.
    @unsafe var storage: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(start: block.base, count: byteCount) }

    /// Lends the bytes to `body` and returns what it returns.
    ///
    /// The span can't outlive the call. Bytes that `body` copies out of it on purpose are no longer protected, so review
    /// each use of this method.
    ///
    /// Throws only the error of `body`.
    public borrowing func withExposedBytes<Result: ~Copyable, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let bytes = unsafe UnsafeRawBufferPointer(start: block.base, count: byteCount)
        return try unsafe body(Span<UInt8>(_unsafeBytes: bytes))
    }

    /// Passes the bytes to a named sink (see ``SecretSink``).
    ///
    /// Throws what the sink throws, and nothing else.
    public borrowing func pour<Sink: SecretSink & ~Copyable>(into sink: inout Sink) throws(Sink.Failure) {
        try withExposedBytes { (bytes) throws(Sink.Failure) in try sink.receive(bytes) }
    }

    // MARK: - Comparing and copying

    /// Whether both hold the same bytes. The time taken depends on the lengths alone.
    public borrowing func matches<Other: SecretPurpose>(_ other: borrowing Secret<Other>) -> Bool {
        withExposedBytes { left in other.withExposedBytes { right in constantTimeEqual(left, right) } }
    }

    /// Whether the secret is exactly these bytes. The time taken depends on the lengths alone.
    public borrowing func matches(_ other: Span<UInt8>) -> Bool {
        withExposedBytes { constantTimeEqual($0, other) }
    }

    /// Ends this secret and returns one of another purpose in the same memory.
    public consuming func repurposed<Other: SecretPurpose>(as purpose: Other.Type) -> Secret<Other> {
        let (block, byteCount) = (block, byteCount)
        discard self
        let secret = Secret<Other>(adopting: block, byteCount: byteCount)
        SecretNotice.tell(of: secret)
        return secret
    }

    /// Returns a second secret with the same bytes.
    public borrowing func duplicate() -> Secret<Purpose> {
        withExposedBytes { Secret<Purpose>(copying: $0) }
    }

    /// Returns a second secret with the same bytes, for another purpose.
    package borrowing func duplicate<Other: SecretPurpose>(as purpose: Other.Type) -> Secret<Other> {
        withExposedBytes { Secret<Other>(copying: $0) }
    }
}

// MARK: - Random

extension Secret where Purpose: SecretPurpose {
    /// Returns `byteCount` octets from the kernel's generator (getentropy(3)); its status is checked.
    ///
    /// Throws if the kernel refuses; the call never uses a weaker source.
    public static func random(byteCount: Int) throws(RandomSourceError) -> Secret<Purpose> {
        try Secret(byteCount: byteCount) { (span) throws(RandomSourceError) in
            try mapError(
                { (error: SystemErrorNumber) in RandomSourceError(number: error.number) }, of: RandomOctets.fill(&span))
        }
    }
}

/// An error: the kernel refused random octets.
public struct RandomSourceError: Error, Hashable, Sendable {
    /// Its errno.
    public let number: Int32

    package init(number: Int32) {
        self.number = number
    }
}

/// The purpose of a secret. A purpose has no values: it distinguishes kinds of ``Secret`` at compile time.
public protocol SecretPurpose: Sendable {
    /// A short name for people, such as "access token". Logs may contain it.
    static var name: StaticString { get }
}

/// An OAuth access token (RFC 6749 section 1.4).
public enum AccessToken: SecretPurpose { public static var name: StaticString { "access token" } }
/// An OAuth refresh token (RFC 6749 section 1.5).
public enum RefreshToken: SecretPurpose { public static var name: StaticString { "refresh token" } }
/// An OAuth authorization code (RFC 6749 section 4.1.2).
package enum AuthorizationCode: SecretPurpose { public static var name: StaticString { "authorization code" } }
/// A PKCE code verifier (RFC 7636 section 4.1).
public enum CodeVerifier: SecretPurpose { public static var name: StaticString { "code verifier" } }
/// The `state` of an authorization request (RFC 6749 section 10.12).
package enum AuthorizationState: SecretPurpose { public static var name: StaticString { "state" } }
/// The `nonce` of an OpenID authentication request (OpenID Connect Core section 3.1.2.1).
package enum OpenIDNonce: SecretPurpose { public static var name: StaticString { "nonce" } }
/// An OpenID ID token.
package enum IDToken: SecretPurpose { public static var name: StaticString { "ID token" } }
/// A device code (RFC 8628 section 3.2).
package enum DeviceCode: SecretPurpose { public static var name: StaticString { "device code" } }
/// An OAuth client secret (RFC 6749 section 2.3.1).
public enum ClientSecret: SecretPurpose { public static var name: StaticString { "client secret" } }
/// A passphrase from which a key is derived.
public enum Passphrase: SecretPurpose { public static var name: StaticString { "passphrase" } }
/// A private or symmetric key.
public enum PrivateKey: SecretPurpose { public static var name: StaticString { "private key" } }
/// A password or other credential that someone else handed us to keep.
public enum Password: SecretPurpose { public static var name: StaticString { "password" } }
/// A whole session: tokens and what is needed to refresh them.
public enum StoredLogin: SecretPurpose { public static var name: StaticString { "session" } }
/// A message body that contains secrets.
public enum MessageBody: SecretPurpose { public static var name: StaticString { "message body" } }

/// A secret that a C library reads for longer than one call, such as the header of a request that is on its way.
///
/// The bytes stay in place and are wiped at the end of this object. Code that passes their address to a library keeps the
/// object until the library no longer uses the address.
package final class LentSecret<Purpose: SecretPurpose>: Sendable {
    private let secret: Secret<Purpose>

    package init(_ secret: consuming Secret<Purpose>) {
        self.secret = secret
    }

    /// `nil` for no secret.
    package convenience init?(_ secret: consuming Secret<Purpose>?) {
        guard let secret else { return nil }
        self.init(secret)
    }

    package var byteCount: Int { secret.byteCount }

    /// Good as long as this object.
    @unsafe package var lentBytes: UnsafeRawBufferPointer { unsafe secret.storage }
}

/// Reports each new secret to one listener, so that a guard of the program's output learns every secret. By default no
/// listener is set.
package enum SecretNotice {
    /// Gets the purpose's type and lends the bytes.
    package typealias Listener = @Sendable (ObjectIdentifier, Span<UInt8>) -> Void

    private static let isHeard = Atomic(false)
    /// In a box: a closure in a `Mutex` itself is wrapped once more at each look, and grows slower with every secret.
    private static let listener = Mutex<Box<Listener>?>(nil)

    /// Calls `body` for each new secret from then on, before its creator gets the secret. `body` must not make secrets.
    package static func listen(_ body: @escaping Listener) {
        listener.withLock { $0 = Box(body) }
        isHeard.store(true, ordering: .releasing)
    }

    static func tell<Purpose: SecretPurpose>(of secret: borrowing Secret<Purpose>) {
        guard isHeard.load(ordering: .acquiring), let listener = listener.withLock({ $0 }) else { return }
        secret.withExposedBytes { listener.value(ObjectIdentifier(Purpose.self), $0) }
    }
}
