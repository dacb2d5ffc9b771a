/// Makes random secrets. Each choice is uniform: octets that would favour some are thrown away.
enum SecretGenerator {
    enum Alphabet: String, CaseIterable {
        case alphanumeric, printable, digits, hexadecimal

        var characters: [UInt8] {
            let digits = Array("0123456789".utf8)
            switch self {
            case .digits: return digits
            case .hexadecimal: return digits + Array("abcdef".utf8)
            case .alphanumeric: return digits + Array(0x41...0x5A) + Array(0x61...0x7A)
            case .printable: return Array(0x21...0x7E)
            }
        }
    }

    static func characters(_ count: Int, of alphabet: Alphabet) throws(CommandFailure) -> Secret<Password> {
        let characters = alphabet.characters
        return try make { (builder, choose) throws(RandomSourceError) in
            for _ in 0..<count { append(characters[try choose(characters.count)], &builder) }
        }
    }

    /// Words that can be spoken, with 16 bits each: a consonant, a vowel and so on, five letters (proquints,
    /// arXiv:0901.4016). A list of real words would have 13 bits each.
    static func words(_ count: Int) throws(CommandFailure) -> Secret<Password> {
        let consonants = Array("bdfghjklmnprstvz".utf8)
        let vowels = Array("aiou".utf8)
        return try make { (builder, choose) throws(RandomSourceError) in
            for word in 0..<count {
                if word > 0 { append(UInt8(ascii: "-"), &builder) }
                for letter in 0..<5 {
                    let letters = letter % 2 == 0 ? consonants : vowels
                    append(letters[try choose(letters.count)], &builder)
                }
            }
        }
    }

    private static func append(_ byte: UInt8, _ builder: inout SecretBuilder) {
        // A secret must not be shorter than requested.
        if failure(SecretBuilder.LimitExceeded.self, of: try builder.append(byte)) != nil {
            preconditionFailure("a builder without a limit refused bytes")
        }
    }

    /// Lends a builder, with a function that chooses one of up to 256.
    private static func make(
        _ body: (inout SecretBuilder, (Int) throws(RandomSourceError) -> Int) throws(RandomSourceError) -> Void
    ) throws(CommandFailure) -> Secret<Password> {
        var builder = SecretBuilder()
        try mappingError({ (error: RandomSourceError) in
            CommandFailure(.internalError, "random.refused", "\(error)")
        }) { () throws(RandomSourceError) in
            try body(&builder) { (count) throws(RandomSourceError) in
                while true {
                    let octet = try Secret<MessageBody>.random(byteCount: 1).withExposedBytes { Int($0[0]) }
                    if octet < 256 - 256 % count { return octet % count }
                }
            }
        }
        return builder.finish(as: Password.self)
    }
}
