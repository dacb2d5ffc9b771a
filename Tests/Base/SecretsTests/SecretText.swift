import LatchkeySecrets

extension Secret where Purpose: SecretPurpose {
    init(text: String) {
        let bytes = Array(text.utf8)
        self.init(copying: bytes.span)
    }

    borrowing func copiedBytes() -> [UInt8] {
        withExposedBytes { bytes in bytes.indices.map { bytes[$0] } }
    }

    /// Where the bytes are.
    borrowing func address() -> UInt {
        withExposedBytes { bytes in unsafe bytes.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) } }
    }
}

/// Memory that a secret was in. The pool keeps it mapped, so it can be looked at after the secret's death.
enum Memory {
    static func bytes(at address: UInt, count: Int) -> [UInt8] {
        unsafe Array(UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: address), count: count))
    }
}

/// Bytes as published vectors write them.
enum Hexadecimal {
    static func bytes(_ text: String) -> [UInt8] {
        let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        precondition(digits.count.isMultiple(of: 2))
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    static func text(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
