internal import CLatchkeySodium

/// Argon2id (RFC 9106) with one lane, as libsodium offers it.
package enum Argon2id {
    package static let saltByteCount = 16

    /// Derives `output.count` bytes (16 to 64) from a passphrase.
    ///
    /// `passes` is the time cost, `memoryByteCount` the memory cost in bytes. Returns false when the memory can't be
    /// had or the costs are outside what libsodium accepts.
    package static func derive(
        passphrase: Span<UInt8>, salt: Span<UInt8>, passes: Int, memoryByteCount: Int,
        into output: inout MutableSpan<UInt8>
    ) -> Bool {
        guard salt.count == saltByteCount, (16...64).contains(output.count), passes > 0, memoryByteCount > 0 else {
            return false
        }
        SodiumLibrary.start()
        return unsafe output.withUnsafeMutableBufferPointer { output in
            unsafe passphrase.withUnsafeBufferPointer { passphrase in
                unsafe salt.withUnsafeBufferPointer { salt in
                    // An empty span may lack an address, and libsodium requires one.
                    let empty: [CChar] = [0]
                    return unsafe empty.withUnsafeBufferPointer { empty in
                        let text = unsafe passphrase.baseAddress.map {
                            unsafe UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self)
                        }
                        return unsafe crypto_pwhash(
                            output.baseAddress!, UInt64(output.count), text ?? empty.baseAddress!,
                            UInt64(passphrase.count), salt.baseAddress!, UInt64(passes), memoryByteCount,
                            crypto_pwhash_ALG_ARGON2ID13) == 0
                    }
                }
            }
        }
    }
}
