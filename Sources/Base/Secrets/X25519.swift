internal import CLatchkeySodium

/// Diffie-Hellman on Curve25519 (RFC 7748 section 5). Any 32 bytes are a private key.
package enum X25519 {
    package static let keyByteCount = 32

    /// Returns the 32 bytes of the public key.
    package static func publicKey(of privateKey: Span<UInt8>) -> [UInt8] {
        precondition(privateKey.count == keyByteCount)
        SodiumLibrary.start()
        var publicKey = [UInt8](repeating: 0, count: keyByteCount)
        unsafe publicKey.withUnsafeMutableBufferPointer { publicKey in
            unsafe privateKey.withUnsafeBufferPointer { privateKey in
                _ = unsafe crypto_scalarmult_base(publicKey.baseAddress!, privateKey.baseAddress!)
            }
        }
        return publicKey
    }

    /// Writes the secret that both sides share into `secret` (32 bytes).
    ///
    /// Returns false for a public key of low order, with which the secret would be no secret (RFC 7748 section 6.1).
    package static func share(
        _ privateKey: Span<UInt8>, with publicKey: Span<UInt8>, into secret: inout MutableSpan<UInt8>
    ) -> Bool {
        precondition([privateKey.count, publicKey.count, secret.count].allSatisfy { $0 == keyByteCount })
        SodiumLibrary.start()
        return unsafe secret.withUnsafeMutableBufferPointer { secret in
            unsafe privateKey.withUnsafeBufferPointer { privateKey in
                unsafe publicKey.withUnsafeBufferPointer { publicKey in
                    unsafe crypto_scalarmult(secret.baseAddress!, privateKey.baseAddress!, publicKey.baseAddress!) == 0
                }
            }
        }
    }
}
