internal import CLatchkeySodium

/// XChaCha20-Poly1305 (IETF construction, libsodium), with a 192-bit nonce that may be chosen at random.
package enum XChaCha20Poly1305 {
    package static let keyByteCount = 32
    package static let nonceByteCount = 24
    package static let tagByteCount = 16

    /// Returns ciphertext followed by the tag: `plaintext.count + 16` bytes.
    package static func seal(
        _ plaintext: Span<UInt8>, associatedData: Span<UInt8>, nonce: Span<UInt8>, key: Span<UInt8>
    ) -> [UInt8] {
        precondition(nonce.count == nonceByteCount && key.count == keyByteCount)
        SodiumLibrary.start()
        var out = [UInt8](repeating: 0, count: plaintext.count + tagByteCount)
        unsafe out.withUnsafeMutableBufferPointer { out in
            unsafe plaintext.withUnsafeBufferPointer { plaintext in
                unsafe associatedData.withUnsafeBufferPointer { data in
                    unsafe nonce.withUnsafeBufferPointer { nonce in
                        unsafe key.withUnsafeBufferPointer { key in
                            _ = unsafe crypto_aead_xchacha20poly1305_ietf_encrypt(
                                out.baseAddress!, nil, plaintext.baseAddress, UInt64(plaintext.count),
                                data.baseAddress, UInt64(data.count), nil, nonce.baseAddress!, key.baseAddress!)
                        }
                    }
                }
            }
        }
        return out
    }

    /// Opens `ciphertext` (with its tag at the end) into `plaintext`, which must be exactly 16 bytes shorter.
    ///
    /// Returns false when the tag doesn't fit; `plaintext` is zeroed then.
    package static func open(
        _ ciphertext: Span<UInt8>, associatedData: Span<UInt8>, nonce: Span<UInt8>, key: Span<UInt8>,
        into plaintext: inout MutableSpan<UInt8>
    ) -> Bool {
        guard nonce.count == nonceByteCount, key.count == keyByteCount, ciphertext.count >= tagByteCount,
            plaintext.count == ciphertext.count - tagByteCount
        else { return false }
        SodiumLibrary.start()
        let status = unsafe plaintext.withUnsafeMutableBufferPointer { out in
            unsafe ciphertext.withUnsafeBufferPointer { ciphertext in
                unsafe associatedData.withUnsafeBufferPointer { data in
                    unsafe nonce.withUnsafeBufferPointer { nonce in
                        unsafe key.withUnsafeBufferPointer { key in
                            unsafe crypto_aead_xchacha20poly1305_ietf_decrypt(
                                out.baseAddress, nil, nil, ciphertext.baseAddress!, UInt64(ciphertext.count),
                                data.baseAddress, UInt64(data.count), nonce.baseAddress!, key.baseAddress!)
                        }
                    }
                }
            }
        }
        if status != 0 { wipe(&plaintext) }
        return status == 0
    }
}
