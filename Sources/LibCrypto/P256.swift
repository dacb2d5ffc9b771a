internal import CCrypto
public import Secrets

/// ECDSA with SHA-256 over P-256: `ES256` of RFC 7518 section 3.4.
///
/// A private key is a scalar of 32 bytes, the greatest first, in guarded memory; libcrypto has a copy of it for the length
/// of a call, and wipes it. A signature is the 64 bytes of R and S.
public enum P256 {
    public static let scalarByteCount = 32
    public static let signatureByteCount = 64

    /// The point of a private key: 32 bytes each of x and y. `nil` unless the scalar is one of the curve's.
    public static func publicKey(of key: borrowing Secret<PrivateKey>) -> [UInt8]? {
        guard key.byteCount == scalarByteCount, let group = unsafe EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1)
        else { return nil }
        defer { unsafe EC_GROUP_free(group) }
        guard let point = unsafe EC_POINT_new(group), let scalar = unsafe BN_secure_new() else { return nil }
        defer {
            unsafe EC_POINT_clear_free(point)
            unsafe BN_clear_free(scalar)
        }
        let isRead = key.withExposedBytes { bytes in
            unsafe bytes.withUnsafeBytes { bytes in
                unsafe BN_bin2bn(
                    bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(bytes.count), scalar) != nil
            }
        }
        unsafe BN_set_flags(scalar, BN_FLG_CONSTTIME)
        var encoded = [UInt8](repeating: 0, count: 65)
        guard isRead, unsafe BN_is_zero(scalar) == 0, unsafe BN_cmp(scalar, EC_GROUP_get0_order(group)) < 0,
            unsafe EC_POINT_mul(group, point, scalar, nil, nil, nil) == 1,
            unsafe EC_POINT_point2oct(group, point, POINT_CONVERSION_UNCOMPRESSED, &encoded, 65, nil) == 65
        else {
            ERR_clear_error()
            return nil
        }
        return Array(encoded.dropFirst())
    }

    /// Signs a message. `nil` when the scalar is none of the curve's, or libcrypto refuses.
    public static func signature(of message: Span<UInt8>, key: borrowing Secret<PrivateKey>) -> [UInt8]? {
        guard key.byteCount == scalarByteCount else { return nil }
        // libcrypto wants the smallest byte first.
        let reversed = Secret<PrivateKey>(byteCount: scalarByteCount) { target in
            key.withExposedBytes { bytes in
                for index in bytes.indices { target[bytes.count - 1 - index] = bytes[index] }
            }
        }
        var encoded = [UInt8](repeating: 0, count: 80)
        var count = encoded.count
        let isSigned = reversed.withExposedBytes { bytes in
            unsafe bytes.withUnsafeBytes { bytes in
                var parameters = unsafe [
                    KeyParameter.text("group", "P-256"),
                    KeyParameter.number("priv", UnsafeMutableRawBufferPointer(mutating: bytes)),
                    OSSL_PARAM_construct_end(),
                ]
                guard let handle = unsafe PublicKeyHandle("EC", selection: keyPair, &parameters) else { return false }
                return sign(message, handle, &encoded, &count)
            }
        }
        guard isSigned else { return nil }
        return raw(encoded[..<count])
    }

    private static func sign(
        _ message: Span<UInt8>, _ key: borrowing PublicKeyHandle, _ encoded: inout [UInt8], _ count: inout Int
    ) -> Bool {
        guard let context = unsafe EVP_MD_CTX_new() else { return false }
        defer { unsafe EVP_MD_CTX_free(context) }
        return unsafe message.withUnsafeBytes { message in
            unsafe EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key.pointer) == 1
                && EVP_DigestSign(
                    context, &encoded, &count, message.baseAddress?.assumingMemoryBound(to: UInt8.self),
                    message.count) == 1
        }
    }

    /// Whether a signature of R and S is the point's over a message. False for a point off the curve.
    ///
    /// - Parameter publicKey: 32 bytes each of x and y.
    public static func isValid(_ signature: [UInt8], of message: Span<UInt8>, publicKey: [UInt8]) -> Bool {
        guard signature.count == signatureByteCount, publicKey.count == 64, let encoded = der(signature) else {
            return false
        }
        var point = [0x04] + publicKey
        return unsafe point.withUnsafeMutableBytes { point in
            var parameters = unsafe [
                KeyParameter.text("group", "P-256"), KeyParameter.octets("pub", point), OSSL_PARAM_construct_end(),
            ]
            guard let key = unsafe PublicKeyHandle("EC", selection: publicPart, &parameters) else { return false }
            return key.accepts(encoded, of: message)
        }
    }

    // MARK: - Two ways to write a signature

    private static func raw(_ encoded: ArraySlice<UInt8>) -> [UInt8]? {
        var raw = [UInt8](repeating: 0, count: signatureByteCount)
        let isWritten = unsafe encoded.withUnsafeBufferPointer { encoded in
            var next = encoded.baseAddress
            guard let signature = unsafe d2i_ECDSA_SIG(nil, &next, encoded.count) else { return false }
            defer { unsafe ECDSA_SIG_free(signature) }
            return unsafe raw.withUnsafeMutableBufferPointer { raw in
                unsafe BN_bn2binpad(ECDSA_SIG_get0_r(signature), raw.baseAddress, 32) == 32
                    && BN_bn2binpad(ECDSA_SIG_get0_s(signature), raw.baseAddress! + 32, 32) == 32
            }
        }
        return isWritten ? raw : nil
    }

    private static func der(_ raw: [UInt8]) -> [UInt8]? {
        guard let signature = unsafe ECDSA_SIG_new() else { return nil }
        defer { unsafe ECDSA_SIG_free(signature) }
        let isRead = unsafe raw.withUnsafeBufferPointer { raw in
            let (r, s) = unsafe (BN_bin2bn(raw.baseAddress, 32, nil), BN_bin2bn(raw.baseAddress! + 32, 32, nil))
            // From here on the signature owns both.
            return unsafe ECDSA_SIG_set0(signature, r, s) == 1
        }
        var encoded = [UInt8](repeating: 0, count: 80)
        let count = unsafe encoded.withUnsafeMutableBufferPointer { encoded in
            var next = encoded.baseAddress
            return unsafe isRead ? i2d_ECDSA_SIG(signature, &next) : 0
        }
        return count > 0 ? Array(encoded.prefix(Int(count))) : nil
    }

    /// `EVP_PKEY_KEYPAIR` and `EVP_PKEY_PUBLIC_KEY` of openssl/evp.h, which are too involved for the importer.
    private static let keyPair = Int32(
        OSSL_KEYMGMT_SELECT_PRIVATE_KEY | OSSL_KEYMGMT_SELECT_PUBLIC_KEY | OSSL_KEYMGMT_SELECT_ALL_PARAMETERS)
    static let publicPart = Int32(OSSL_KEYMGMT_SELECT_PUBLIC_KEY | OSSL_KEYMGMT_SELECT_ALL_PARAMETERS)
}
