import LatchkeyLog
import LatchkeySecrets
import Testing

@Suite struct LogMessageTests {
    static func shown(_ text: String) -> String {
        ("\(LoggableText(reviewed: "made up by a test", unredacted: text))" as LogMessage).text
    }

    // MARK: - Values

    @Test func `a message consists of literals and values`() {
        let message: LogMessage =
            "took \(3) of \(UInt(4)), \(true), \(0.5), \(LogLevel.info), \("inner \(1)" as LogMessage)"
        #expect(message.text == "took 3 of 4, true, 0.5, info, inner 1")
        #expect("\(message)" == message.text)
        let purpose: LogMessage = "no \(AccessToken.name), \(MemoryProtection.unlocked)"
        #expect(purpose.text == "no access token, not locked")
        let numbers: LogMessage = "\(Int32(-1)) \(Int64.min) \(UInt16.max) \(UInt32.max) \(UInt64.max)"
        #expect(numbers.text == "-1 -9223372036854775808 65535 4294967295 18446744073709551615")
    }

    @Test(arguments: [
        (Duration.zero, "0.000 s"), (.milliseconds(1), "0.001 s"), (.milliseconds(1250), "1.250 s"),
        (.seconds(3600), "3600.000 s"), (.nanoseconds(999_999), "0.000 s"), (.milliseconds(-500), "-0.500 s"),
        (.milliseconds(-1500), "-1.500 s"),
        (.seconds(Int64.max), "9223372036854775807.000 s"), (.seconds(1e20), "9223372036854775807.000 s"),
        (.seconds(-1e20), "-9223372036854775808.000 s"),
    ])
    func `a duration is shown in seconds`(_ duration: Duration, _ expected: String) {
        #expect(("\(duration)" as LogMessage).text == expected)
    }

    @Test func `messages can be joined`() {
        let parts: [LogMessage] = ["a", "\(1)", "c"]
        #expect(LogMessage.joined(parts).text == "a, 1, c")
        #expect(LogMessage.joined(parts, separator: " ").text == "a 1 c")
        #expect(LogMessage.joined([]).text == "")
    }

    // MARK: - Text from elsewhere (CWE-117)

    @Test func `ordinary text of any script is shown unchanged`() {
        for text in ["", "plain", "zażółć gęślą jaźń", "密码 🔑", "كلمة السر", "it's \"quoted\" <tag> %s {}"] {
            #expect(Self.shown(text) == text)
        }
    }

    @Test func `control characters never get through`() {
        let controls = Array(0..<0x20) + Array(0x7F...0x9F) + [0x2028, 0x2029]
        for value in controls {
            let scalar = Unicode.Scalar(UInt32(value))!
            #expect(Self.shown("a\(scalar)b") == "a\\u{\(String(value, radix: 16))}b")
        }
    }

    @Test func `characters that hide or reverse text never get through`() {
        let marks: [UInt32] = [
            0xAD, 0x61C, 0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x202A, 0x202B, 0x202C, 0x202D, 0x202E, 0x2060, 0x2066,
            0x2067, 0x2068, 0x2069, 0xFEFF, 0xFFF9, 0xFFFB, 0xE0001, 0xE0041, 0xE007F,
        ]
        for value in marks {
            #expect(Self.shown("a\(Unicode.Scalar(value)!)b") == "a\\u{\(String(value, radix: 16))}b")
        }
    }

    @Test func `an escape differs from text that looks like an escape`() {
        #expect(Self.shown("a\\u{a}b") == "a\\\\u{a}b")
        #expect(Self.shown("a\nb") == "a\\u{a}b")
        #expect(Self.shown("\\") == "\\\\")
    }

    @Test func `a forged line, a terminal's escape sequence and an overlong escape stay one line`() {
        let forged = "x\r\n2026-01-01T00:00:00.000Z error latchkey: signed out\u{1B}[2J\u{1B}]0;title\u{7}\u{9B}31m"
        let shown = Self.shown(forged)
        #expect(shown.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) })
        #expect(shown.hasPrefix("x\\u{d}\\u{a}2026-"))
    }

    // MARK: - Size

    @Test func `text of ten megabytes is cut, and the message gives its length`() {
        let shown = Self.shown(String(repeating: "0123456789", count: 1 << 20))
        #expect(shown.utf8.count < LoggableText.maximumByteCount + 64)
        #expect(shown.hasSuffix("… (10485760 bytes in all)"))
        // Escaping makes text longer, but not without bound.
        let controls = Self.shown(String(repeating: "\u{1B}", count: 10 << 20))
        #expect(controls.utf8.count < 8 * LoggableText.maximumByteCount)
    }

    @Test(arguments: 0...4)
    func `a cut never halves a character`(_ padding: Int) {
        let text = String(repeating: "x", count: padding) + String(repeating: "🔑", count: 5000)
        let shown = Self.shown(text)
        #expect(!shown.contains("\u{FFFD}") && shown.hasSuffix("… (\(text.utf8.count) bytes in all)"))
    }
}
