internal import LatchkeyLog
internal import LatchkeySecrets

/// A rough estimate of how many guesses a passphrase withstands, for a word at the prompt where it is chosen.
///
/// It counts what a guesser would try: common words, words, years, repeats and sequences of the keyboard cost little,
/// other characters what their kind offers. It knows no dictionary, so it takes what reads like words for words.
struct PassphraseStrength: Loggable {
    /// The logarithm to base 2 of the number of guesses.
    let bits: Int

    /// Argon2 slows a guesser down to some hundred guesses a second and machine: 2^35 are three years then.
    var isWeak: Bool { bits < 35 }

    init(_ passphrase: borrowing Secret<Passphrase>) {
        bits = passphrase.withExposedBytes { Int(Self.bits($0)) }
    }

    /// Safe: a word and a number that many passphrases have.
    var logMessage: LogMessage {
        let word: StaticString =
            switch bits {
            case ..<35: "weak"
            case ..<55: "fair"
            case ..<75: "good"
            default: "strong"
            }
        return "\(word) (about \(bits) bits)"
    }

    // MARK: - Counting

    private static func bits(_ text: Span<UInt8>) -> Double {
        // What is repeated as a whole counts once.
        if let period = period(of: text) { return bits(text.extracting(first: period)) + 2 }
        var bits = 0.0
        var index = 0
        while index < text.count {
            if let length = commonWord(text, at: index) {
                bits += 8
                index += length
            } else if index > 1 && continues(text, at: index) {
                bits += 0.5
                index += 1
            } else if let length = run(text, at: index, isLetter) {
                bits += letters(text.extracting(index..<index + length))
                index += length
            } else if run(text, at: index, isDigit) == 4, isYear(text, at: index) {
                bits += 6
                index += 4
            } else {
                bits += other(text[index])
                index += 1
            }
        }
        return bits
    }

    private static func other(_ byte: UInt8) -> Double {
        switch byte {
        case 0x20, UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."): 2
        case 0x30...0x39: 3.3
        case 0x80...0xBF: 0  // a continuation of a character
        case 0xC0...: 4
        default: 5
        }
    }

    /// A word of a list of 7,776 has 13 bits, and five letters on average.
    private static func letters(_ run: Span<UInt8>) -> Double {
        var vowels = 0
        var consonantsInARow = 0
        var mostInARow = 0
        var (capitals, smallLetters) = (0, 0)
        for index in run.indices {
            if run[index] > 0x60 { smallLetters += 1 } else if index > 0 { capitals += 1 }
            switch folded(run[index]) {
            case UInt8(ascii: "a"), UInt8(ascii: "e"), UInt8(ascii: "i"), UInt8(ascii: "o"), UInt8(ascii: "u"),
                UInt8(ascii: "y"):
                vowels += 1
                consonantsInARow = 0
            default:
                consonantsInARow += 1
                mostInARow = max(mostInARow, consonantsInARow)
            }
        }
        let readsLikeWords =
            run.count > 2 && mostInARow < 5 && vowels * 5 >= run.count && vowels * 10 <= run.count * 7
        // A capital at the start, or all in capitals, is what guessers try too.
        let isMixed = capitals > 0 && smallLetters > 0
        return Double(run.count) * ((readsLikeWords ? 2.6 : 4.7) + (isMixed ? 1 : 0))
    }

    // MARK: - What guessers try first

    /// Lower-case letters, longer ones before those that they begin with. Words of four letters at least.
    private static let common: [[UInt8]] = [
        "correcthorsebatterystaple", "password", "passwort", "passphrase", "letmein", "welcome", "iloveyou", "princess",
        "sunshine", "football", "baseball", "superman", "batman", "starwars", "trustno", "whatever", "changeme",
        "computer", "internet", "michael", "charlie", "jennifer", "jordan", "shadow", "master", "monkey", "dragon",
        "freedom", "flower", "cheese", "summer", "winter", "spring", "autumn", "secret", "hunter", "latchkey", "qwerty",
        "qwertz", "azerty", "asdf", "admin", "login", "guest", "hello", "default", "root", "test", "pass", "love",
    ].map { Array($0.utf8) }

    /// The length of the common word that begins at an index, its letters in any case or as digits (`p4ssw0rd`).
    private static func commonWord(_ text: Span<UInt8>, at start: Int) -> Int? {
        common.first { word in
            word.count <= text.count - start && word.indices.allSatisfy { unleeted(text[start + $0]) == word[$0] }
        }?.count
    }

    private static func unleeted(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "0"): UInt8(ascii: "o")
        case UInt8(ascii: "1"), UInt8(ascii: "!"): UInt8(ascii: "i")
        case UInt8(ascii: "3"): UInt8(ascii: "e")
        case UInt8(ascii: "4"), UInt8(ascii: "@"): UInt8(ascii: "a")
        case UInt8(ascii: "5"), UInt8(ascii: "$"): UInt8(ascii: "s")
        default: folded(byte)
        }
    }

    private static let rows: [[UInt8]] = ["qwertyuiop", "qwertz", "azerty", "asdfghjkl", "yxcvbnm", "zxcvbnm"].map {
        Array($0.utf8)
    }

    /// Whether a character goes on with what the two before it began: `aaa`, `345`, `cba`, `rty`.
    private static func continues(_ text: Span<UInt8>, at index: Int) -> Bool {
        let (first, second, third) = (folded(text[index - 2]), folded(text[index - 1]), folded(text[index]))
        for step in [-1, 0, 1] where Int(second) - Int(first) == step && Int(third) - Int(second) == step {
            return true
        }
        return rows.contains { row in
            guard let place = row.firstIndex(of: second) else { return false }
            return [-1, 1].contains { step in
                row.indices.contains(place - step) && row.indices.contains(place + step)
                    && row[place - step] == first && row[place + step] == third
            }
        }
    }

    private static func period(of text: Span<UInt8>) -> Int? {
        guard text.count > 1 else { return nil }
        return (1...text.count / 2).first { period in
            (period..<text.count).allSatisfy { text[$0] == text[$0 - period] }
        }
    }

    private static func isYear(_ text: Span<UInt8>, at index: Int) -> Bool {
        (text[index], text[index + 1]) == (UInt8(ascii: "1"), UInt8(ascii: "9"))
            || (text[index], text[index + 1]) == (UInt8(ascii: "2"), UInt8(ascii: "0"))
    }

    // MARK: - Characters

    private static func run(_ text: Span<UInt8>, at start: Int, _ belongs: (UInt8) -> Bool) -> Int? {
        var end = start
        while end < text.count && belongs(text[end]) { end += 1 }
        return end == start ? nil : end - start
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func folded(_ byte: UInt8) -> UInt8 { isLetter(byte) ? byte | 0x20 : byte }
}
