internal import CLatchkeyCrypto
package import LatchkeyLog

/// ECDSA with SHA-256 over P-256: `ES256` of RFC 7518 section 3.4.
///
/// A private key is a scalar of 32 bytes, the greatest first, in guarded memory; libcrypto has a copy of it for the
/// length of a call, and wipes it. A signature is the 64 bytes of R and S.
package enum P256 {
    package static let scalarByteCount = 32
    package static let signatureByteCount = 64

    /// The point of a private key: 32 bytes each of x and y. `nil` unless the scalar is one of the curve's.
    package static func publicKey(of key: borrowing Secret<PrivateKey>) throws(LibraryFailure) -> [UInt8]? {
        try LibraryFailure.check(latchkey_crypto_load())
        guard let curve, let scalar = P256Scalar(key, on: curve), let point = unsafe crypto.EC_POINT_new(curve.group)
        else {
            return nil
        }
        defer { unsafe crypto.EC_POINT_clear_free(point) }
        var encoded = [UInt8](repeating: 0, count: 65)
        guard unsafe crypto.EC_POINT_mul(curve.group, point, scalar.number, nil, nil, nil) == 1,
            unsafe crypto.EC_POINT_point2oct(curve.group, point, POINT_CONVERSION_UNCOMPRESSED, &encoded, 65, nil) == 65
        else {
            unsafe crypto.ERR_clear_error()
            return nil
        }
        return Array(encoded.dropFirst())
    }

    /// Signs a message. `nil` when the scalar is none of the curve's, or libcrypto refuses.
    package static func signature(
        of message: Span<UInt8>, key: borrowing Secret<PrivateKey>
    ) throws(LibraryFailure) -> [UInt8]? {
        try LibraryFailure.check(latchkey_crypto_load())
        guard let curve, let hash, let scalar = P256Scalar(key, on: curve) else { return nil }
        var digest = [UInt8](repeating: 0, count: 32)
        let isHashed = unsafe message.withUnsafeBytes { message in
            unsafe crypto.EVP_Digest(message.baseAddress, message.count, &digest, nil, hash.method, nil) == 1
        }
        guard isHashed,
            let signature = unsafe latchkey_ecdsa_sign(curve.group, scalar.number, digest, Int32(digest.count))
        else {
            unsafe crypto.ERR_clear_error()
            return nil
        }
        defer { unsafe crypto.ECDSA_SIG_free(signature) }
        var raw = [UInt8](repeating: 0, count: signatureByteCount)
        let isWritten = unsafe raw.withUnsafeMutableBufferPointer { raw in
            unsafe crypto.BN_bn2binpad(crypto.ECDSA_SIG_get0_r(signature), raw.baseAddress, 32) == 32
                && crypto.BN_bn2binpad(crypto.ECDSA_SIG_get0_s(signature), raw.baseAddress! + 32, 32) == 32
        }
        return isWritten ? raw : nil
    }

    /// Whether a signature of R and S is the point's over a message. False for a point off the curve.
    ///
    /// - Parameter publicKey: 32 bytes each of x and y.
    package static func isValid(
        _ signature: [UInt8], of message: Span<UInt8>, publicKey: [UInt8]
    ) throws(LibraryFailure) -> Bool {
        try PublicKey.ecdsa(.p256, point: publicKey).accepts(signature, of: message, by: .es256)
    }

    /// The scalar of a private key in PEM, in PKCS #8 or by SEC 1. `nil` for anything else, such as an encrypted key or
    /// one of another curve.
    package static func privateKey(
        pem: borrowing Secret<PrivateKey>
    ) throws(LibraryFailure) -> Secret<PrivateKey>? {
        try LibraryFailure.check(latchkey_crypto_load())
        let key: OpaquePointer? = unsafe pem.withExposedBytes { bytes in
            unsafe bytes.withUnsafeBytes { bytes in
                guard let source = unsafe crypto.BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else {
                    return nil
                }
                defer { _ = unsafe crypto.BIO_free(source) }
                // The callback fails, so that libcrypto doesn't ask for a passphrase.
                return unsafe crypto.PEM_read_bio_PrivateKey(source, nil, { _, _, _, _ in -1 }, nil)
            }
        }
        defer { unsafe crypto.ERR_clear_error() }
        guard let key = unsafe key else { return nil }
        defer { unsafe crypto.EVP_PKEY_free(key) }
        var group = [CChar](repeating: 0, count: 32)
        var number: OpaquePointer?
        guard unsafe crypto.EVP_PKEY_get_group_name(key, &group, group.count, nil) == 1,
            unsafe group.withUnsafeBufferPointer({ unsafe strcmp($0.baseAddress!, "prime256v1") }) == 0,
            unsafe crypto.EVP_PKEY_get_bn_param(key, "priv", &number) == 1, let number = unsafe number
        else { return nil }
        defer { unsafe crypto.BN_clear_free(number) }
        return Secret(byteCount: scalarByteCount) { target in
            unsafe target.withUnsafeMutableBytes { target in
                _ = unsafe crypto.BN_bn2binpad(
                    number, target.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(scalarByteCount))
            }
        }
    }

    /// Built once for the process; `nil` if libcrypto lacks the curve.
    private static let curve = P256Curve()
    private static let hash = SHA256Method()
}

/// SHA-256 of libcrypto, looked up once. With `EVP_sha256` alone libcrypto would look it up for each digest.
@safe private struct SHA256Method: @unchecked Sendable {
    // Sendable: no code changes a fetched method.
    let method: OpaquePointer

    init?() {
        guard let method = unsafe crypto.EVP_MD_fetch(nil, "SHA256", nil) else { return nil }
        unsafe self.method = method
    }
}

/// The curve, which isn't secret and never changes.
@safe private struct P256Curve: @unchecked Sendable {
    // Sendable: no code changes the group, and libcrypto only reads a constant one.
    let group: OpaquePointer

    init?() {
        guard let group = unsafe crypto.EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1) else { return nil }
        unsafe self.group = group
    }
}

/// libcrypto's copy of a private scalar, wiped with this value.
@safe private struct P256Scalar: ~Copyable {
    let number: OpaquePointer

    /// Returns `nil` unless the key is 32 bytes and in 1...n-1.
    init?(_ key: borrowing Secret<PrivateKey>, on curve: P256Curve) {
        guard key.byteCount == P256.scalarByteCount, let number = unsafe crypto.BN_secure_new() else { return nil }
        let isRead = key.withExposedBytes { bytes in
            unsafe bytes.withUnsafeBytes { bytes in
                unsafe crypto.BN_bin2bn(
                    bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(bytes.count), number) != nil
            }
        }
        unsafe crypto.BN_set_flags(number, BN_FLG_CONSTTIME)
        guard isRead, unsafe crypto.BN_is_zero(number) == 0,
            unsafe crypto.BN_cmp(number, crypto.EC_GROUP_get0_order(curve.group)) < 0
        else {
            unsafe crypto.BN_clear_free(number)
            return nil
        }
        unsafe self.number = number
    }

    deinit {
        unsafe crypto.BN_clear_free(number)
    }
}
