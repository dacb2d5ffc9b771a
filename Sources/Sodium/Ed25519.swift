internal import CLatchkeySodium

/// Ed25519 signatures (RFC 8032), from a seed.
package enum Ed25519 {
    package static let seedByteCount = 32
    package static let signatureByteCount = 64

    /// Returns the 32 bytes of the public key.
    package static func publicKey(seed: Span<UInt8>) -> [UInt8] {
        withKeyPair(seed: seed) { publicKey, _ in publicKey }
    }

    /// Returns the signature of `message`.
    package static func signature(of message: Span<UInt8>, seed: Span<UInt8>) -> [UInt8] {
        withKeyPair(seed: seed) { _, secretKey in
            var signature = [UInt8](repeating: 0, count: signatureByteCount)
            unsafe signature.withUnsafeMutableBufferPointer { signature in
                unsafe message.withUnsafeBufferPointer { message in
                    _ = unsafe crypto_sign_detached(
                        signature.baseAddress!, nil, message.baseAddress, UInt64(message.count),
                        secretKey.base.assumingMemoryBound(to: UInt8.self))
                }
            }
            return signature
        }
    }

    private static func withKeyPair<Result>(
        seed: Span<UInt8>, _ body: (_ publicKey: [UInt8], _ secretKey: GuardedAllocation) -> Result
    ) -> Result {
        precondition(seed.count == seedByteCount)
        SodiumLibrary.start()
        let secretKey = GuardedAllocation(byteCount: 64)
        defer { secretKey.free() }
        var publicKey = [UInt8](repeating: 0, count: 32)
        unsafe publicKey.withUnsafeMutableBufferPointer { publicKey in
            unsafe seed.withUnsafeBufferPointer { seed in
                _ = unsafe crypto_sign_seed_keypair(
                    publicKey.baseAddress!, secretKey.base.assumingMemoryBound(to: UInt8.self), seed.baseAddress!)
            }
        }
        return body(publicKey, secretKey)
    }
}
