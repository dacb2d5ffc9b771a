internal import CLatchkeyCrypto
package import LatchkeyLog

/// An asymmetric signature algorithm of JSON Web Signatures (RFC 7518 section 3.1, RFC 8037 section 3.1).
///
/// It excludes symmetric algorithms and `none`, so that a public key can't be used as a shared secret.
package enum SignatureAlgorithm: String, Sendable, Hashable, CaseIterable {
    case es256 = "ES256"
    case es384 = "ES384"
    case es512 = "ES512"
    case rs256 = "RS256"
    case rs384 = "RS384"
    case rs512 = "RS512"
    case ps256 = "PS256"
    case ps384 = "PS384"
    case ps512 = "PS512"
    case edDSA = "EdDSA"

    /// libcrypto's name of the hash; `nil` for EdDSA, which has its own.
    fileprivate var hash: StaticString? {
        switch self {
        case .es256, .rs256, .ps256: "SHA256"
        case .es384, .rs384, .ps384: "SHA384"
        case .es512, .rs512, .ps512: "SHA512"
        case .edDSA: nil
        }
    }
}

/// A public key that signatures are verified with.
package enum PublicKey: Sendable, Hashable {
    /// The curves of ECDSA. Each has one algorithm (RFC 7518 section 3.4). The raw value is libcrypto's and RFC 7518's
    /// name.
    package enum Curve: String, Sendable, Hashable, CaseIterable {
        case p256 = "P-256"
        case p384 = "P-384"
        case p521 = "P-521"

        /// Of x, y, R and S alike.
        package var byteCount: Int {
            switch self {
            case .p256: 32
            case .p384: 48
            case .p521: 66
            }
        }

        fileprivate var name: StaticString {
            switch self {
            case .p256: "P-256"
            case .p384: "P-384"
            case .p521: "P-521"
            }
        }
    }

    /// The curves of EdDSA. The raw value is RFC 8037's name; libcrypto ignores its case.
    package enum EdwardsCurve: String, Sendable, Hashable, CaseIterable {
        case ed25519 = "Ed25519"
        case ed448 = "Ed448"

        package var byteCount: Int {
            switch self {
            case .ed25519: 32
            case .ed448: 57
            }
        }
    }

    /// Modulus and exponent have the greatest byte first, as in a JSON Web Key.
    case rsa(modulus: [UInt8], exponent: [UInt8])
    /// The point is x and y, the greatest byte first.
    case ecdsa(Curve, point: [UInt8])
    case edDSA(EdwardsCurve, [UInt8])

    /// RFC 7518 section 3.3 wants 2,048 bits or more; what a stranger may make us compute with has an end too.
    private static let modulusByteCounts = 256...1024

    /// Whether an algorithm is one of this kind of key.
    package func fits(_ algorithm: SignatureAlgorithm) -> Bool {
        switch (self, algorithm) {
        case (.rsa, .rs256), (.rsa, .rs384), (.rsa, .rs512), (.rsa, .ps256), (.rsa, .ps384), (.rsa, .ps512),
            (.ecdsa(.p256, _), .es256), (.ecdsa(.p384, _), .es384), (.ecdsa(.p521, _), .es512), (.edDSA, .edDSA):
            true
        default: false
        }
    }

    /// Whether a signature, in the form of RFC 7518 section 3, is the key's over a message.
    ///
    /// False for an algorithm of another kind of key, for an RSA key that is too short, too long, or has an even
    /// exponent or one of more than 64 bits, and for a point off its curve.
    package func accepts(
        _ signature: [UInt8], of message: Span<UInt8>, by algorithm: SignatureAlgorithm
    ) throws(LibraryFailure) -> Bool {
        try LibraryFailure.check(latchkey_crypto_load())
        guard fits(algorithm) else { return false }
        let form = PublicKeyHandle.Form(hash: algorithm.hash, isPSS: algorithm.rawValue.hasPrefix("PS"))
        return switch self {
        case .rsa(let modulus, let exponent): Self.rsa(modulus, exponent, accepts: signature, of: message, form)
        case .ecdsa(let curve, let point): Self.ecdsa(curve, point, accepts: signature, of: message, form)
        case .edDSA(let curve, let bytes): Self.edDSA(curve, bytes, accepts: signature, of: message, form)
        }
    }

    private static func rsa(
        _ modulus: [UInt8], _ exponent: [UInt8], accepts signature: [UInt8], of message: Span<UInt8>,
        _ form: PublicKeyHandle.Form
    ) -> Bool {
        let modulus = Array(modulus.drop { $0 == 0 })
        let exponent = Array(exponent.drop { $0 == 0 })
        guard modulusByteCounts.contains(modulus.count), modulus.count > 256 || modulus[0] >= 0x80,
            (1...8).contains(exponent.count), let last = exponent.last, last & 1 == 1, exponent != [1]
        else { return false }
        // libcrypto wants the smallest byte first.
        var (n, e) = (Array(modulus.reversed()), Array(exponent.reversed()))
        return unsafe n.withUnsafeMutableBytes { n in
            unsafe e.withUnsafeMutableBytes { e in
                var parameters = unsafe [
                    KeyParameter.number("n", n), KeyParameter.number("e", e), crypto.OSSL_PARAM_construct_end(),
                ]
                guard let key = unsafe PublicKeyHandle("RSA", &parameters) else { return false }
                return key.accepts(signature, of: message, form)
            }
        }
    }

    private static func ecdsa(
        _ curve: Curve, _ point: [UInt8], accepts signature: [UInt8], of message: Span<UInt8>,
        _ form: PublicKeyHandle.Form
    ) -> Bool {
        guard point.count == 2 * curve.byteCount, let encoded = der(signature, curve) else { return false }
        var point = [0x04] + point
        return unsafe point.withUnsafeMutableBytes { point in
            var parameters = unsafe [
                KeyParameter.text("group", curve.name), KeyParameter.octets("pub", point),
                crypto.OSSL_PARAM_construct_end(),
            ]
            guard let key = unsafe PublicKeyHandle("EC", &parameters) else { return false }
            return key.accepts(encoded, of: message, form)
        }
    }

    private static func edDSA(
        _ curve: EdwardsCurve, _ bytes: [UInt8], accepts signature: [UInt8], of message: Span<UInt8>,
        _ form: PublicKeyHandle.Form
    ) -> Bool {
        guard bytes.count == curve.byteCount else { return false }
        var bytes = bytes
        return unsafe bytes.withUnsafeMutableBytes { bytes in
            var parameters = unsafe [KeyParameter.octets("pub", bytes), crypto.OSSL_PARAM_construct_end()]
            guard let key = unsafe PublicKeyHandle(curve.rawValue, &parameters) else { return false }
            return key.accepts(signature, of: message, form)
        }
    }

    /// R and S as libcrypto's verification wants them: the DER form of ECDSA-Sig-Value (RFC 3279 section 2.2.3).
    private static func der(_ raw: [UInt8], _ curve: Curve) -> [UInt8]? {
        let half = curve.byteCount
        guard raw.count == 2 * half, let signature = unsafe crypto.ECDSA_SIG_new() else { return nil }
        defer { unsafe crypto.ECDSA_SIG_free(signature) }
        let isRead = unsafe raw.withUnsafeBufferPointer { raw in
            let (r, s) = unsafe (
                crypto.BN_bin2bn(raw.baseAddress, Int32(half), nil),
                crypto.BN_bin2bn(raw.baseAddress! + half, Int32(half), nil)
            )
            // From here on the signature owns both.
            return unsafe crypto.ECDSA_SIG_set0(signature, r, s) == 1
        }
        // Room for three headers of at most three bytes each, and for a zero before each of the two numbers.
        var encoded = [UInt8](repeating: 0, count: 2 * half + 11)
        let count = unsafe encoded.withUnsafeMutableBufferPointer { encoded in
            var next = encoded.baseAddress
            return unsafe isRead ? crypto.i2d_ECDSA_SIG(signature, &next) : 0
        }
        return count > 0 ? Array(encoded.prefix(Int(count))) : nil
    }
}

/// Owns one of libcrypto's public keys.
@safe struct PublicKeyHandle: ~Copyable {
    let pointer: OpaquePointer

    /// `EVP_PKEY_PUBLIC_KEY` of openssl/evp.h, which is too involved for the importer.
    private static let selection = Int32(OSSL_KEYMGMT_SELECT_PUBLIC_KEY | OSSL_KEYMGMT_SELECT_ALL_PARAMETERS)

    /// Makes a key from parameters, or returns `nil` when libcrypto takes them for none.
    @unsafe init?(_ type: String, _ parameters: UnsafeMutablePointer<OSSL_PARAM>) {
        guard let context = unsafe crypto.EVP_PKEY_CTX_new_from_name(nil, type, nil) else { return nil }
        defer { unsafe crypto.EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard unsafe crypto.EVP_PKEY_fromdata_init(context) == 1,
            unsafe crypto.EVP_PKEY_fromdata(context, &key, Self.selection, parameters) == 1, let key = unsafe key
        else {
            unsafe crypto.ERR_clear_error()
            return nil
        }
        unsafe pointer = key
    }

    deinit { unsafe crypto.EVP_PKEY_free(pointer) }

    /// How signatures are made.
    struct Form {
        /// libcrypto's name of the message's hash; `nil` where the kind of key has its own.
        let hash: StaticString?
        /// Whether an RSA signature is RSASSA-PSS, with a salt of the hash's length (RFC 7518 section 3.5).
        let isPSS: Bool
    }

    /// Whether a signature in libcrypto's own encoding fits.
    borrowing func accepts(_ signature: [UInt8], of message: Span<UInt8>, _ form: Form) -> Bool {
        guard let context = unsafe crypto.EVP_MD_CTX_new() else { return false }
        defer {
            unsafe crypto.EVP_MD_CTX_free(context)
            // A failure leaves its reasons in the thread's queue.
            unsafe crypto.ERR_clear_error()
        }
        // The context owns it.
        var keyContext: OpaquePointer?
        guard
            unsafe crypto.EVP_DigestVerifyInit_ex(context, &keyContext, form.hash?.description, nil, nil, pointer, nil)
                == 1,
            unsafe !form.isPSS
                || (crypto.EVP_PKEY_CTX_set_rsa_padding(keyContext, RSA_PKCS1_PSS_PADDING) == 1
                    && crypto.EVP_PKEY_CTX_set_rsa_pss_saltlen(keyContext, RSA_PSS_SALTLEN_DIGEST) == 1)
        else { return false }
        return unsafe message.withUnsafeBytes { message in
            unsafe crypto.EVP_DigestVerify(
                context, signature, signature.count, message.baseAddress?.assumingMemoryBound(to: UInt8.self),
                message.count) == 1
        }
    }
}

/// Names that C wants as text that stays.
enum KeyParameter {
    @unsafe static func number(_ name: StaticString, _ bytes: UnsafeMutableRawBufferPointer) -> OSSL_PARAM {
        unsafe crypto.OSSL_PARAM_construct_BN(
            cString(name), bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
    }

    @unsafe static func octets(_ name: StaticString, _ bytes: UnsafeMutableRawBufferPointer) -> OSSL_PARAM {
        unsafe crypto.OSSL_PARAM_construct_octet_string(cString(name), bytes.baseAddress, bytes.count)
    }

    @unsafe static func text(_ name: StaticString, _ text: StaticString) -> OSSL_PARAM {
        unsafe crypto.OSSL_PARAM_construct_utf8_string(
            cString(name), UnsafeMutablePointer(mutating: cString(text)), text.utf8CodeUnitCount)
    }

    @unsafe private static func cString(_ text: StaticString) -> UnsafePointer<CChar> {
        unsafe text.utf8Start.withMemoryRebound(to: CChar.self, capacity: text.utf8CodeUnitCount) { unsafe $0 }
    }
}
