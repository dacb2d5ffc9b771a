internal import CLatchkeySodium

/// BLAKE2b (RFC 7693) with an optional key. libsodium leaves the words of key and message on the stack; they are
/// overwritten here, whatever is hashed.
package enum KeyedHash {
    /// Returns the hash of `message` under `key` (16 to 64 bytes, or empty for none), 16 to 64 bytes long.
    package static func digest(_ message: Span<UInt8>, key: Span<UInt8>, byteCount: Int = 32) -> [UInt8] {
        var out = [UInt8](repeating: 0, count: byteCount)
        var span = out.mutableSpan
        digest(message, key: key, into: &span)
        return out
    }

    /// Returns the hashes of several messages, 32 bytes each; the stack is overwritten once.
    package static func digests(of messages: [[UInt8]], key: Span<UInt8>) -> [[UInt8]] {
        SodiumLibrary.start()
        defer { DeadStack.wipe() }
        return messages.map { message in
            var out = [UInt8](repeating: 0, count: 32)
            var span = out.mutableSpan
            hash(message.span, key, &span)
            return out
        }
    }

    /// Writes the hash of `message` under `key` into `output` (16 to 64 bytes), for digests that are keys themselves.
    package static func digest(_ message: Span<UInt8>, key: Span<UInt8>, into output: inout MutableSpan<UInt8>) {
        SodiumLibrary.start()
        defer { DeadStack.wipe() }
        hash(message, key, &output)
    }

    private static func hash(_ message: Span<UInt8>, _ key: Span<UInt8>, _ output: inout MutableSpan<UInt8>) {
        precondition((16...64).contains(output.count) && (key.isEmpty || (16...64).contains(key.count)))
        let status = unsafe output.withUnsafeMutableBufferPointer { out in
            unsafe message.withUnsafeBufferPointer { message in
                unsafe key.withUnsafeBufferPointer { key in
                    unsafe crypto_generichash(
                        out.baseAddress!, out.count, message.baseAddress, UInt64(message.count), key.baseAddress,
                        key.count)
                }
            }
        }
        precondition(status == 0, "BLAKE2b refused its arguments")
    }

    /// Returns the hash of `message` without a key.
    package static func digest(_ message: [UInt8], byteCount: Int = 32) -> [UInt8] {
        let none: [UInt8] = []
        return digest(message.span, key: none.span, byteCount: byteCount)
    }
}

/// SHA-256 (FIPS 180-4).
package enum SHA256 {
    /// Returns the 32 bytes of the digest.
    package static func digest(_ message: Span<UInt8>) -> [UInt8] {
        SodiumLibrary.start()
        var out = [UInt8](repeating: 0, count: 32)
        unsafe out.withUnsafeMutableBufferPointer { out in
            unsafe message.withUnsafeBufferPointer { message in
                _ = unsafe crypto_hash_sha256(out.baseAddress!, message.baseAddress, UInt64(message.count))
            }
        }
        return out
    }
}
