package import LatchkeySecrets
internal import LatchkeySystem

extension TOMLStrings {
    /// The bytes of a string in guarded memory, or `nil` for escapes that TOML hasn't.
    package static func decoded<Purpose: SecretPurpose>(
        _ text: Span<UInt8>, _ place: Range<Int>, as purpose: Purpose.Type = Password.self
    ) -> Secret<Purpose>? {
        let opening = openingCount(text, place.lowerBound)
        let isLiteral = text[place.lowerBound] == UInt8(ascii: "'")
        guard place.count >= 2 * opening else { return nil }
        let end = place.upperBound - opening
        var index = place.lowerBound + opening
        if opening == 3 {
            // A line break right behind the opening is no part of it.
            if text.starts(with: "\r\n", at: index) {
                index += 2
            } else if text.starts(with: "\n", at: index) {
                index += 1
            }
        }
        var result = SecretBuilder(capacity: place.count)
        while index < end {
            let byte = text[index]
            index += 1
            guard byte == UInt8(ascii: "\\"), !isLiteral else {
                try? result.append(byte)
                continue
            }
            guard index < end, let next = unescape(text, index, end, into: &result) else { return nil }
            index = next
        }
        return result.finish(as: purpose)
    }

    /// Appends what the escape stands for whose letter is at `index`, and returns where it ends.
    private static func unescape(
        _ text: Span<UInt8>, _ index: Int, _ end: Int, into result: inout SecretBuilder
    ) -> Int? {
        let letter = text[index]
        let short: [UInt8: UInt8] = [
            UInt8(ascii: "b"): 0x08, UInt8(ascii: "t"): 0x09, UInt8(ascii: "n"): 0x0A, UInt8(ascii: "f"): 0x0C,
            UInt8(ascii: "r"): 0x0D, UInt8(ascii: "e"): 0x1B, UInt8(ascii: "\""): 0x22, UInt8(ascii: "\\"): 0x5C,
        ]
        if let byte = short[letter] {
            try? result.append(byte)
            return index + 1
        }
        if letter == UInt8(ascii: "u") || letter == UInt8(ascii: "U") {
            let stop = index + (letter == UInt8(ascii: "u") ? 5 : 9)
            guard stop <= end else { return nil }
            var value: UInt32 = 0
            for place in (index + 1)..<stop {
                guard let digit = ASCII.hexValue(text[place]) else { return nil }
                value = value << 4 | UInt32(digit)
            }
            guard let scalar = Unicode.Scalar(value) else { return nil }
            for byte in UTF8.encode(scalar)! { try? result.append(byte) }
            return stop
        }
        // A backslash before a line break joins the lines.
        var next = index
        var hasBreak = false
        while next < end, [0x20, 0x09, 0x0D, 0x0A].contains(text[next]) {
            if text[next] == 0x0A { hasBreak = true }
            next += 1
        }
        return hasBreak ? next : nil
    }
}
