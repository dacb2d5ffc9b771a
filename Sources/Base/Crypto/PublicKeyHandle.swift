internal import CLatchkeyCrypto

/// Owns one of libcrypto's public keys.
@safe struct PublicKeyHandle: ~Copyable {
    let pointer: OpaquePointer

    /// `EVP_PKEY_PUBLIC_KEY` of openssl/evp.h, which is too involved for the importer.
    private static let selection = Int32(OSSL_KEYMGMT_SELECT_PUBLIC_KEY | OSSL_KEYMGMT_SELECT_ALL_PARAMETERS)

    /// Makes a key from parameters, or returns `nil` when libcrypto takes them for none.
    @unsafe init?(_ type: StaticString, _ parameters: UnsafeMutablePointer<OSSL_PARAM>) {
        guard let context = unsafe crypto.EVP_PKEY_CTX_new_from_name(nil, type.description, nil) else { return nil }
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
            name.utf8Start.withMemoryRebound(to: CChar.self, capacity: name.utf8CodeUnitCount) { unsafe $0 },
            bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
    }

    @unsafe static func octets(_ name: StaticString, _ bytes: UnsafeMutableRawBufferPointer) -> OSSL_PARAM {
        unsafe crypto.OSSL_PARAM_construct_octet_string(
            name.utf8Start.withMemoryRebound(to: CChar.self, capacity: name.utf8CodeUnitCount) { unsafe $0 },
            bytes.baseAddress, bytes.count)
    }

    @unsafe static func text(_ name: StaticString, _ text: StaticString) -> OSSL_PARAM {
        unsafe crypto.OSSL_PARAM_construct_utf8_string(
            name.utf8Start.withMemoryRebound(to: CChar.self, capacity: name.utf8CodeUnitCount) { unsafe $0 },
            UnsafeMutablePointer(
                mutating: text.utf8Start.withMemoryRebound(to: CChar.self, capacity: text.utf8CodeUnitCount) {
                    unsafe $0
                }), text.utf8CodeUnitCount)
    }
}
