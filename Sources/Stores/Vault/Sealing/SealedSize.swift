/// How large things may be, and to which sizes they are padded: what is stored shows a bucket, not a length.
enum SealedSize {
    /// 16 MiB.
    static let maximumSecretByteCount = 16 << 20
    /// Of a label, in bytes of UTF-8.
    static let maximumLabelByteCount = 4096
    /// An item's attributes, their lengths, its label, and all that is short.
    static let maximumMetadataByteCount = bucket(32768 + 64 * 4 + maximumLabelByteCount + 512)
    /// The largest secret's bucket, its sealing, and the other columns.
    static let maximumRowByteCount = bucket(maximumSecretByteCount) + 65536

    /// The smallest bucket with room for `byteCount` bytes.
    ///
    /// Powers of two from 256 to 16,384; above, a number whose binary form has at most as many significant bits as its
    /// length in bits has digits (Padmé, arXiv:1806.03160): at most 12 % more, and few different sizes.
    static func bucket(_ byteCount: Int) -> Int {
        if byteCount <= 256 { return 256 }
        let exponent = Int.bitWidth - 1 - byteCount.leadingZeroBitCount
        if byteCount <= 16384 { return byteCount == 1 << exponent ? byteCount : 1 << (exponent + 1) }
        let significant = Int.bitWidth - exponent.leadingZeroBitCount
        let mask = (1 << (exponent - significant)) - 1
        return (byteCount + mask) & ~mask
    }
}
