internal import CLatchkeyCrypto
internal import Glibc
package import LatchkeyLog

/// The ciphers of other programs' files that libsodium lacks: from OpenSSL's libcrypto, which only this module loads.
package enum FileCipher {
    /// PBKDF2 (RFC 8018, 5.2) with HMAC-SHA-256: a key of 16 bytes. Returns `nil` when libcrypto refuses.
    ///
    /// - Parameter iterations: from 1; the caller bounds it.
    package static func passphraseKey(
        _ passphrase: borrowing Secret<Passphrase>, salt: [UInt8], iterations: Int32
    ) throws(LibraryFailure) -> Secret<PrivateKey>? {
        try LibraryFailure.check(latchkey_crypto_load())
        var status: Int32 = 0
        let key = Secret<PrivateKey>(byteCount: 16) { key in
            passphrase.withExposedBytes { passphrase in
                status = unsafe key.withUnsafeMutableBytes { key in
                    unsafe passphrase.withUnsafeBytes { passphrase in
                        unsafe crypto.PKCS5_PBKDF2_HMAC(
                            passphrase.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(passphrase.count), salt,
                            Int32(salt.count), iterations, crypto.EVP_sha256(), Int32(key.count),
                            key.baseAddress?.assumingMemoryBound(to: UInt8.self))
                    }
                }
            }
        }
        guard status == 1 else { return nil }
        return key
    }

    /// HMAC-SHA-256 (RFC 2104): 32 bytes.
    package static func authenticationTag(
        of bytes: [UInt8], key: borrowing Secret<PrivateKey>
    ) throws(LibraryFailure) -> [UInt8] {
        try LibraryFailure.check(latchkey_crypto_load())
        var tag = [UInt8](repeating: 0, count: 32)
        var count: UInt32 = 0
        let isMade = key.withExposedBytes { key in
            unsafe key.withUnsafeBytes { key in
                unsafe crypto.HMAC(
                    crypto.EVP_sha256(), key.baseAddress, Int32(key.count), bytes, bytes.count, &tag, &count) != nil
            }
        }
        // Zeros would be a tag that everybody can make.
        guard isMade else { throw LibraryFailure(.unfit, .crypto, name: "HMAC") }
        return tag
    }

    /// Opens AES-128-CBC with PKCS #7 padding, or returns `nil` when the padding is wrong.
    ///
    /// - Parameters:
    ///   - key: 16 bytes.
    ///   - initializationVector: 16 bytes.
    package static func openCBC(
        _ ciphertext: [UInt8], key: borrowing Secret<PrivateKey>, initializationVector: [UInt8]
    ) throws(LibraryFailure) -> Secret<Password>? {
        try LibraryFailure.check(latchkey_crypto_load())
        guard key.byteCount == 16, initializationVector.count == 16, let context = unsafe crypto.EVP_CIPHER_CTX_new()
        else {
            return nil
        }
        // It wipes what it kept of the key and the text.
        defer { unsafe crypto.EVP_CIPHER_CTX_free(context) }
        var isSound = false
        let text = Secret<Password>(capacity: ciphertext.count + 16) { span in
            var first: Int32 = 0
            var last: Int32 = 0
            isSound = key.withExposedBytes { key in
                unsafe span.withUnsafeMutableBytes { target in
                    unsafe key.withUnsafeBytes { key in
                        let target = unsafe target.baseAddress!.assumingMemoryBound(to: UInt8.self)
                        let key = unsafe key.baseAddress!.assumingMemoryBound(to: UInt8.self)
                        return unsafe crypto.EVP_DecryptInit_ex(
                            context, crypto.EVP_aes_128_cbc(), nil, key, initializationVector) == 1
                            && crypto.EVP_DecryptUpdate(context, target, &first, ciphertext, Int32(ciphertext.count))
                                == 1
                            && crypto.EVP_DecryptFinal_ex(context, target + Int(first), &last) == 1
                    }
                }
            }
            return isSound ? Int(first + last) : 0
        }
        guard isSound else { return nil }
        return text
    }

    /// Seals with AES-128-CBC and PKCS #7 padding, or returns `nil` when libcrypto refuses.
    ///
    /// - Parameters:
    ///   - key: 16 bytes.
    ///   - initializationVector: 16 random bytes.
    package static func sealCBC<Purpose: SecretPurpose>(
        _ text: borrowing Secret<Purpose>, key: borrowing Secret<PrivateKey>, initializationVector: [UInt8]
    ) throws(LibraryFailure) -> [UInt8]? {
        try LibraryFailure.check(latchkey_crypto_load())
        guard key.byteCount == 16, initializationVector.count == 16, let context = unsafe crypto.EVP_CIPHER_CTX_new()
        else {
            return nil
        }
        defer { unsafe crypto.EVP_CIPHER_CTX_free(context) }
        var ciphertext = [UInt8](repeating: 0, count: (text.byteCount / 16 + 1) * 16)
        let count = Int32(text.byteCount)
        var first: Int32 = 0
        var last: Int32 = 0
        let isSealed = key.withExposedBytes { key in
            text.withExposedBytes { text in
                unsafe key.withUnsafeBytes { key in
                    unsafe text.withUnsafeBytes { text in
                        unsafe ciphertext.withUnsafeMutableBufferPointer { target in
                            let key = unsafe key.baseAddress!.assumingMemoryBound(to: UInt8.self)
                            let text = unsafe text.baseAddress?.assumingMemoryBound(to: UInt8.self)
                            let target = target.baseAddress!
                            return unsafe crypto.EVP_EncryptInit_ex(
                                context, crypto.EVP_aes_128_cbc(), nil, key, initializationVector) == 1
                                && crypto.EVP_EncryptUpdate(context, target, &first, text, count) == 1
                                && crypto.EVP_EncryptFinal_ex(context, target + Int(first), &last) == 1
                        }
                    }
                }
            }
        }
        return isSealed && Int(first + last) == ciphertext.count ? ciphertext : nil
    }
}
