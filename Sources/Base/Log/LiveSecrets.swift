internal import Synchronization

/// Recognizes secrets in use by keyed hashes of their pieces, without the values.
///
/// The search looks at eight bytes at a time. A multiplication and two places of a table rule out most text; a keyed
/// hash (BLAKE2b) decides the rest. The search finds a whole secret of eight bytes or more, and any fifteen bytes in a
/// row of a secret, verbatim; `LatchkeyLeakAudit` finds encodings. Each value has separate random keys.
public final class LiveSecrets: Sendable {
    /// The length of the shortest secret that differs from ordinary text, in bytes.
    package static let minimumByteCount = 8

    struct Digest: Hashable, Sendable {
        let high: UInt64
        let low: UInt64
    }

    private struct State: Sendable {
        /// The number of pieces for each fingerprint; empty before the first one. A number of 255 stays, because a
        /// place that is never cleared only costs time.
        var fingerprints: [UInt8] = []
        var digests: [Digest: Int] = [:]
        var secretCount = 0
        /// The pieces of the remembered secrets: the recent ones, and the earlier ones. A secret that is seen again is
        /// recent.
        var late: [Digest: [Piece]] = [:]
        var former: [Digest: [Piece]] = [:]

        mutating func add(_ pieces: [Piece]) {
            guard !pieces.isEmpty else { return }
            if fingerprints.isEmpty { fingerprints = Array(repeating: 0, count: 1 << LiveSecrets.fingerprintBits) }
            secretCount += 1
            for piece in pieces {
                for place in [piece.fingerprint.first, piece.fingerprint.second] where fingerprints[place] < .max {
                    fingerprints[place] += 1
                }
                digests[piece.digest, default: 0] += 1
            }
        }

        mutating func remove(_ pieces: [Piece]) {
            if !pieces.isEmpty { secretCount -= 1 }
            for piece in pieces {
                for place in [piece.fingerprint.first, piece.fingerprint.second] where fingerprints[place] < .max {
                    fingerprints[place] -= 1
                }
                digests[piece.digest] = digests[piece.digest].flatMap { $0 > 1 ? $0 - 1 : nil }
            }
        }
    }

    private static let fingerprintBits = 16
    private static let pieceByteCount = 8

    private let key: InlineArray<16, UInt8>
    /// Odd, so that multiplying loses nothing.
    private let multiplier: UInt64
    private let state = Mutex(State())
    private let withheld = Atomic(0)

    /// Watches for nothing yet; see ``watch(_:)``. A program's own secrets are in `ofThisProcess`.
    public init() {
        var generator = SystemRandomNumberGenerator()
        var key = InlineArray<16, UInt8>(repeating: 0)
        let octets: [UInt64] = [generator.next(), generator.next()]
        for index in key.indices { key[index] = UInt8(truncatingIfNeeded: octets[index / 8] >> UInt64(index % 8 * 8)) }
        self.key = key
        multiplier = generator.next() | 1
    }

    /// How many secrets are watched.
    package var secretCount: Int { state.withLock { $0.secretCount } }

    /// How many texts were withheld because one of these secrets stood in them.
    package var withheldTextCount: Int { withheld.load(ordering: .relaxed) }

    /// Counts a text that was withheld.
    package func countWithheld() { withheld.add(1, ordering: .relaxed) }

    /// Watches for a secret as long as the value that is returned lives. One of fewer than eight bytes is not
    /// watched for.
    public func watch<Purpose: SecretPurpose>(_ secret: borrowing Secret<Purpose>) -> WatchedSecret {
        let pieces = secret.withExposedBytes { self.pieces(of: $0) }
        state.withLock { $0.add(pieces) }
        return WatchedSecret(of: self, pieces)
    }

    /// Whether a text holds a watched secret, or fifteen bytes of one in a row.
    package func isHeld(by text: String) -> Bool {
        isHeld(by: text.utf8.span, in: [0..<text.utf8.count])
    }

    /// The same for text that hasn't been made inert, as bytes of UTF-8.
    package func isHeld(by bytes: Span<UInt8>) -> Bool {
        isHeld(by: bytes, in: [0..<bytes.count])
    }

    /// The same for a message. Only text from elsewhere (`LoggableText`) is searched. Otherwise withheld words of the
    /// source would reveal a passphrase of common words.
    package func isHeld(by message: LogMessage) -> Bool {
        let ranges = message.foreignRanges
        if ranges.isEmpty { return false }
        if isHeld(by: message.text.utf8.span, in: ranges) { return true }
        // A secret may have what was escaped since.
        guard message.text.utf8.span.index(of: 0x5C) != nil else { return false }
        let text = Array(message.text.utf8)
        return ranges.contains { isHeld(by: InertText.unescape(text[$0]).span) }
    }

    private func isHeld(by bytes: Span<UInt8>, in ranges: [Range<Int>]) -> Bool {
        guard ranges.contains(where: { $0.count >= Self.pieceByteCount }) else { return false }
        return state.withLock { state in
            guard state.secretCount > 0 else { return false }
            let fingerprints = state.fingerprints.span
            for range in ranges where range.count >= Self.pieceByteCount {
                // The eight bytes that end before the next one.
                var piece: UInt64 = 0
                for offset in range {
                    piece = piece >> 8 | UInt64(bytes[offset]) << 56
                    guard offset - range.lowerBound >= Self.pieceByteCount - 1 else { continue }
                    let fingerprint = fingerprint(piece)
                    guard fingerprints[fingerprint.first] != 0, fingerprints[fingerprint.second] != 0 else { continue }
                    let start = offset + 1 - Self.pieceByteCount
                    if state.digests[digest(bytes.extracting(start...offset))] != nil { return true }
                }
            }
            return false
        }
    }

    /// The limit of remembered bytes of a secret, because each eight bytes cost a hash and a secret may have megabytes.
    static let rememberedByteCount = 4096

    /// Watches for these bytes, `rememberedByteCount` of them at most, until at least so many others were
    /// remembered after them.
    func remember(_ bytes: Span<UInt8>, amongTheLast count: Int) {
        let pieces = pieces(of: bytes.extracting(first: Self.rememberedByteCount))
        guard !pieces.isEmpty else { return }
        state.withLock { state in
            let name = pieces.reduce(Digest(high: 0, low: 0)) {
                Digest(high: $0.high &+ $1.digest.high, low: $0.low &+ $1.digest.low)
            }
            if state.late[name] != nil { return }
            if state.former.removeValue(forKey: name) == nil { state.add(pieces) }
            if state.late.count == count {
                for forgotten in state.former.values { state.remove(forgotten) }
                state.former = state.late
                state.late = [:]
            }
            state.late[name] = pieces
        }
    }

    // MARK: - Pieces

    /// Two places in the table, of which a piece of a secret has both.
    struct Fingerprint: Sendable {
        let first: Int
        let second: Int
    }

    struct Piece: Sendable {
        let fingerprint: Fingerprint
        let digest: Digest
    }

    /// Returns the pieces: the bytes in groups of eight, and the last eight bytes. Any fifteen bytes in a row contain a
    /// piece. The function overwrites the copies of the pieces on the stack.
    private func pieces(of bytes: Span<UInt8>) -> [Piece] {
        guard bytes.count >= Self.minimumByteCount else { return [] }
        defer { DeadStack.wipe() }
        return hashedPieces(of: bytes)
    }

    @inline(never)
    private func hashedPieces(of bytes: Span<UInt8>) -> [Piece] {
        let last = bytes.count - Self.pieceByteCount
        let starts = Array(stride(from: 0, to: last, by: Self.pieceByteCount)) + [last]
        return starts.map { start in
            var piece: UInt64 = 0
            for index in 0..<Self.pieceByteCount { piece |= UInt64(bytes[start + index]) << UInt64(8 * index) }
            let digest = digest(bytes.extracting(start..<start + Self.pieceByteCount))
            return Piece(fingerprint: fingerprint(piece), digest: digest)
        }
    }

    private func fingerprint(_ piece: UInt64) -> Fingerprint {
        let product = piece &* multiplier
        let bits = UInt64(Self.fingerprintBits)
        return Fingerprint(
            first: Int(truncatingIfNeeded: product >> (64 - bits)),
            second: Int(truncatingIfNeeded: product >> (64 - 2 * bits) & (1 << bits - 1)))
    }

    private func digest(_ piece: Span<UInt8>) -> Digest {
        let hash = KeyedHash.digest(piece, key: key.span, byteCount: 16)
        return unsafe hash.withUnsafeBytes {
            unsafe Digest(
                high: $0.loadUnaligned(as: UInt64.self), low: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
    }

    fileprivate func forget(_ pieces: [Piece]) {
        state.withLock { $0.remove(pieces) }
    }
}

/// A secret that ``LiveSecrets`` watches for; it is forgotten when this dies.
public struct WatchedSecret: ~Copyable, Sendable {
    private let watcher: LiveSecrets
    private let pieces: [LiveSecrets.Piece]

    fileprivate init(of watcher: LiveSecrets, _ pieces: [LiveSecrets.Piece]) {
        self.watcher = watcher
        self.pieces = pieces
    }

    deinit {
        watcher.forget(pieces)
    }
}

// MARK: - This process

extension LiveSecrets {
    /// The tokens, codes and passwords that this process handles. From the first use of this property on, it remembers
    /// the first 4 KiB of every new ``Secret`` of such a purpose. It forgets an ended secret only after at least a
    /// thousand others were made. A program uses the property once at its start:
    ///
    ///     let log = RedactedLogger("shop", sink: ScrubbingLogSink(over: TextLogSink(), secrets: .ofThisProcess))
    ///
    /// Keys and whole messages are left out, because a session's text also contains addresses, which any line may show.
    public static let ofThisProcess: LiveSecrets = {
        let live = LiveSecrets()
        SecretNotice.listen { purpose, bytes in
            guard purposes.contains(purpose) else { return }
            live.remember(bytes, amongTheLast: rememberedCount)
        }
        return live
    }()

    /// How many secrets `ofThisProcess` keeps in mind at least.
    static let rememberedCount = 1000

    private static let purposes = [
        ObjectIdentifier(AccessToken.self), ObjectIdentifier(RefreshToken.self), ObjectIdentifier(IDToken.self),
        ObjectIdentifier(AuthorizationCode.self), ObjectIdentifier(CodeVerifier.self),
        ObjectIdentifier(AuthorizationState.self),
        ObjectIdentifier(OpenIDNonce.self), ObjectIdentifier(DeviceCode.self), ObjectIdentifier(ClientSecret.self),
        ObjectIdentifier(Passphrase.self), ObjectIdentifier(Password.self),
    ]
}
