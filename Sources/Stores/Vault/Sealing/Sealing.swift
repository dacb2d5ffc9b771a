internal import LatchkeyCredentials
internal import LatchkeyLog

/// The key of one use inside a vault.
enum VaultSubkey: SecretPurpose { static var name: StaticString { "vault subkey" } }

/// Seals bytes as nonce (24) + XChaCha20-Poly1305 ciphertext + tag (16).
enum Sealing {
    static let overheadByteCount = XChaCha20Poly1305.nonceByteCount + XChaCha20Poly1305.tagByteCount

    /// The subkey of one use: BLAKE2b-256 under `key` of "latchkey vault v1 ", the use's name and the vault's id.
    static func subkey<Purpose: SecretPurpose>(
        _ use: StaticString, of key: borrowing Secret<Purpose>, vault: VaultID
    ) -> Secret<VaultSubkey> {
        let message = Array("latchkey vault v1 \(use)".utf8) + vault.bytes
        return Secret(byteCount: 32) { out in
            key.withExposedBytes { KeyedHash.digest(message.span, key: $0, into: &out) }
        }
    }

    static func seal(
        _ plaintext: Span<UInt8>, associatedData: [UInt8], key: borrowing Secret<VaultSubkey>
    ) throws(StoreError) -> [UInt8] {
        let nonce = try randomOctets(XChaCha20Poly1305.nonceByteCount)
        return key.withExposedBytes { key in
            nonce
                + XChaCha20Poly1305.seal(
                    plaintext, associatedData: associatedData.span, nonce: nonce.span, key: key)
        }
    }

    /// Opens into `plaintext`, which must be exactly `overheadByteCount` shorter; false when it doesn't open.
    static func open(
        _ sealed: Span<UInt8>, associatedData: [UInt8], key: borrowing Secret<VaultSubkey>,
        into plaintext: inout MutableSpan<UInt8>
    ) -> Bool {
        guard sealed.count >= overheadByteCount else { return false }
        return key.withExposedBytes { key in
            XChaCha20Poly1305.open(
                sealed.extracting(droppingFirst: XChaCha20Poly1305.nonceByteCount), associatedData: associatedData.span,
                nonce: sealed.extracting(first: XChaCha20Poly1305.nonceByteCount), key: key, into: &plaintext)
        }
    }

    /// Decrypts data that isn't secret; `nil` on failure.
    static func openPublic(
        _ sealed: Span<UInt8>, associatedData: [UInt8], key: borrowing Secret<VaultSubkey>
    ) -> [UInt8]? {
        guard sealed.count >= overheadByteCount else { return nil }
        var plaintext = [UInt8](repeating: 0, count: sealed.count - overheadByteCount)
        var span = plaintext.mutableSpan
        return open(sealed, associatedData: associatedData, key: key, into: &span) ? plaintext : nil
    }

    static func randomOctets(_ count: Int) throws(StoreError) -> [UInt8] {
        return try mapError(
            { (error: SystemErrorNumber) in
                StoreError(.unavailable, "the kernel returned no random bytes", platform: .errno(error.number))
            },
            of: RandomOctets.array(count))
    }

    static func randomKey<Purpose: SecretPurpose>(as purpose: Purpose.Type) throws(StoreError) -> Secret<Purpose> {
        return try mapError(
            { (error: RandomSourceError) in
                StoreError(.unavailable, "the kernel returned no random bytes", platform: .errno(error.number))
            },
            of: Secret<Purpose>.random(byteCount: 32))
    }
}

/// A vault's number: 16 random bytes, chosen when it is made and bound into everything that it seals. No secret.
struct VaultID: Sendable, Hashable {
    let bytes: [UInt8]

    /// In hexadecimal digits.
    var identifier: String { Hexadecimal.encode(bytes) }

    static func random() throws(StoreError) -> VaultID { VaultID(bytes: try Sealing.randomOctets(16)) }
}

/// How large things may be, and to which sizes they are padded: what is stored shows a bucket, not a length.
enum SealedSize {
    /// 16 MiB.
    static let maximumSecretByteCount = 16 << 20
    /// The limit of a label, in bytes of UTF-8.
    static let maximumLabelByteCount = 4096
    /// An item's attributes, their lengths, its label, and all that is short.
    static let maximumMetadataByteCount = bucket(32768 + 64 * 4 + maximumLabelByteCount + 512)
    /// The largest secret's bucket, with its encryption and the other columns.
    static let maximumRowByteCount = bucket(maximumSecretByteCount) + 65536

    /// The smallest bucket with room for `byteCount` bytes.
    ///
    /// Powers of two from 256 to 16,384; above, a number whose binary form has at most as many significant bits as its
    /// length in bits has digits (Padmé, arXiv:1806.03160): at most 12 % more, and few different sizes.
    static func bucket(_ byteCount: Int) -> Int {
        if byteCount <= 256 { return 256 }
        let exponent = Int.bitWidth - 1 - byteCount.leadingZeroBitCount
        if byteCount <= 16384 { return byteCount == 1 << exponent ? byteCount : 1 << (exponent + 1) }
        let significant = Int.bitWidth - exponent.leadingZeroBitCount
        let mask = (1 << (exponent - significant)) - 1
        return (byteCount + mask) & ~mask
    }
}
