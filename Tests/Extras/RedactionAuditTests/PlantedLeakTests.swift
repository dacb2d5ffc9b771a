import Foundation
import LatchkeyLeakAudit
import LatchkeySecrets
import Testing

/// One planted leak of every kind: each must be found, named and placed.
@Suite struct PlantedLeakTests {
    /// A secret with characters that every encoding changes.
    static let awkward = "aZ9/+ é\"<&>'\\\u{9}q7Xw=~-_.K2"
    static let token = "q7XwK2mVb9RtYpLz4HcNd8FsGjU1eAoI3rTyBnM6kQh"

    struct Leak: Sendable, CustomTestStringConvertible {
        let encoding: LeakEncoding
        let secret: String
        let shown: @Sendable (String) -> [UInt8]
        var testDescription: String { "\(encoding)" }

        init(_ encoding: LeakEncoding, _ secret: String, _ shown: @escaping @Sendable (String) -> [UInt8]) {
            self.encoding = encoding
            self.secret = secret
            self.shown = shown
        }
    }

    /// Made with Foundation's encoders rather than ours.
    static let leaks: [Leak] = [
        Leak(.plain, token) { Array($0.utf8) },
        Leak(.plain, awkward) { Array($0.utf8) },
        Leak(.percentEncoded, awkward) { text in
            let unreserved = CharacterSet(
                charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
            return Array(text.addingPercentEncoding(withAllowedCharacters: unreserved)!.utf8)
        },
        Leak(.formEncoded, awkward) { text in
            let unreserved = CharacterSet(
                charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~ ")
            let encoded = text.addingPercentEncoding(withAllowedCharacters: unreserved)!
            return Array(encoded.replacingOccurrences(of: " ", with: "+").utf8)
        },
        Leak(.fullyPercentEncoded, token) { text in Array(text.utf8.map { String(format: "%%%02x", $0) }.joined().utf8)
        },
        Leak(.hexadecimal, token) { text in Array(text.utf8.map { String(format: "%02x", $0) }.joined().utf8) },
        Leak(.hexadecimal, token) { text in Array(text.utf8.map { String(format: "%02X", $0) }.joined().utf8) },
        Leak(.base64, token) { text in Array(Data(text.utf8).base64EncodedData()) },
        Leak(.base64, token) { text in Array(Data(("x" + text).utf8).base64EncodedData()) },
        Leak(.base64, token) { text in Array(Data(("user:" + text).utf8).base64EncodedData()) },
        Leak(.base64, awkward) { text in Array(Data(("x:" + text + ":y").utf8).base64EncodedData()) },
        Leak(.base64URL, "\u{3FF}\u{3FE}ÿÿÿ>>>???\u{3FF}") { text in
            let encoded = Data(text.utf8).base64EncodedString()
            return Array(
                encoded.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_").utf8)
        },
        Leak(.jsonEscaped, awkward) { text in
            let encoder = JSONEncoder()
            encoder.outputFormatting = .withoutEscapingSlashes
            return Array(try! encoder.encode([text]))
        },
        Leak(.jsonEscaped, awkward) { text in Array(try! JSONEncoder().encode([text])) },
        Leak(.htmlEscaped, awkward) { text in
            Array(
                text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
                    .replacingOccurrences(of: ">", with: "&gt;").replacingOccurrences(of: "\"", with: "&quot;")
                    .replacingOccurrences(of: "'", with: "&#39;").utf8)
        },
        Leak(.utf16, token) { Array($0.data(using: .utf16LittleEndian)!) },
        Leak(.utf16, awkward) { Array($0.data(using: .utf16BigEndian)!) },
        Leak(.reversed, token) { Array($0.utf8.reversed()) },
        Leak(.byteList, token) { Array("\(Array($0.utf8))".utf8) },
        Leak(.splitOverLines, token) { text in
            var lines = ""
            for (number, character) in text.enumerated() {
                lines += (number.isMultiple(of: 6) ? "\r\n" : "") + "\(character)"
            }
            return Array(lines.utf8)
        },
    ]

    @Test func `every encoding has a planted leak`() {
        #expect(Set(Self.leaks.map(\.encoding)) == Set(LeakEncoding.allCases))
    }

    @Test(arguments: leaks)
    func `a planted leak is found whole, with its purpose, stream and encoding`(_ leak: Leak) throws {
        let audit = LeakAudit()
        try audit.plant(Secret<RefreshToken>(copying: Array(leak.secret.utf8).span))
        let before = Array("2026-01-01T00:00:00Z info latchkey.test: ordinary [".utf8)
        audit.capture(before + leak.shown(leak.secret) + Array("] text\n".utf8), as: "standard error")
        audit.capture("nothing here", as: "standard output")
        let report = audit.report()
        #expect(!report.isClean)
        let found = try #require(report.findings.last { $0.encoding == leak.encoding }, "\(report)")
        #expect(found.purpose == "refresh token")
        #expect(found.stream == "standard error")
        #expect((before.count..<before.count + 12).contains(found.offset))
        #expect(found.byteCount >= leak.secret.utf8.count)
        #expect(report.findings.allSatisfy { $0.stream == "standard error" })
        #expect(throws: LeakFailure.self) { try report.check() }
    }

    @Test(arguments: 0...35)
    func `any eight consecutive characters are found`(_ start: Int) throws {
        let audit = LeakAudit()
        try audit.plant(Secret<AccessToken>(copying: Array(Self.token.utf8).span))
        let piece = Array(Self.token.utf8)[start..<start + 8]
        audit.capture(Array("token …".utf8) + piece + Array("…".utf8), as: "log")
        let finding = try #require(audit.report().findings.first)
        #expect(finding.offset == 9 && finding.byteCount == 8 && !finding.isWhole && finding.encoding == .plain)
    }

    @Test(arguments: leaks.filter { $0.secret == token && $0.encoding != .splitOverLines })
    func `any eight consecutive characters are found in an encoding too`(_ leak: Leak) throws {
        let audit = LeakAudit()
        try audit.plant(Secret<AccessToken>(copying: Array(Self.token.utf8).span))
        for start in 0...35 {
            let piece = String(Self.token.dropFirst(start).prefix(8))
            audit.capture(leak.shown("…" + piece + "…"), as: "log \(start)")
        }
        let report = audit.report()
        let found = Set(report.findings.filter { $0.encoding == leak.encoding && !$0.isWhole }.map(\.stream))
        #expect(found.count == 36, "\(report)")
    }

    /// Eight bytes that an encoding makes longer are eight bytes still: three of them, which ordinary text has, are
    /// none.
    @Test func `a few escapes that ordinary text has are not a finding`() throws {
        let audit = LeakAudit()
        try audit.plant(Secret<PrivateKey>(copying: Array("\u{1}://k&\"<\u{2}\u{3}9".utf8).span))
        audit.capture("redirect_uri=http%3A%2F%2Fk%26 k&amp;&quot;&lt;b \\u0002\\u0003", as: "log")
        #expect(audit.report().isClean)
        audit.capture("x=%3A%2F%2Fk%26%22%3C%02%039", as: "log")
        #expect(audit.report().findings.map(\.encoding) == [.percentEncoded])
    }

    /// A secret in lines of every length, at every place of the line: what is longer than a line is found piece by
    /// piece as it stands, what is shorter only across the breaks.
    @Test(arguments: 1...20)
    func `a secret in lines of any length is found`(_ length: Int) throws {
        for padding in 0..<length {
            let audit = LeakAudit()
            try audit.plant(Secret<AccessToken>(copying: Array(Self.token.utf8).span))
            var text = ""
            for (number, character) in (String(repeating: ".", count: padding) + Self.token).enumerated() {
                text += (number > 0 && number.isMultiple(of: length) ? "\n" : "") + "\(character)"
            }
            audit.capture("before\n\(text)\n\nafter", as: "log")
            let found = try #require(audit.report().findings.last { $0.encoding == .splitOverLines })
            #expect(found.isWhole && found.offset == 7 + padding, "\(padding)")
        }
    }

    @Test func `seven characters are not a finding`() throws {
        let audit = LeakAudit()
        try audit.plant(Secret<AccessToken>(copying: Array(Self.token.utf8).span))
        audit.capture("token \(Self.token.prefix(7))… \(Self.token.suffix(7))", as: "log")
        #expect(audit.report().isClean)
    }

    @Test func `sixteen digits of a hexadecimal secret are a finding, and fifteen are not`() throws {
        let digits = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
        let audit = LeakAudit()
        try audit.plant(Secret<AuthorizationState>(copying: Array(digits.utf8).span))
        audit.capture("commit \(digits.prefix(15)).", as: "log")
        #expect(audit.report().isClean)
        audit.capture("commit \(digits.prefix(16)).", as: "log")
        #expect(audit.report().findings.count == 1)
    }

    @Test func `every one of many secrets is found, in the order of the stream`() throws {
        let audit = LeakAudit()
        var text = ""
        for number in 0..<60 {
            let secret = try audit.plantRandom(AccessToken.self)
            secret.withExposedBytes { bytes in
                text += "line \(number) " + String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) + "\n"
            }
        }
        audit.capture(text, as: "log")
        let report = audit.report()
        #expect(report.findings.count == 60 && report.canaryCount == 60)
        #expect(report.findings.map(\.offset) == report.findings.map(\.offset).sorted())
        #expect(report.findings.allSatisfy { $0.isWhole && $0.byteCount == 43 })
    }

    @Test func `a finding never holds the value`() throws {
        let audit = LeakAudit()
        try audit.plant(Secret<AccessToken>(copying: Array(Self.token.utf8).span))
        audit.capture(Self.token, as: "log")
        let report = audit.report()
        let second = LeakAudit()
        try second.plant(Secret<AccessToken>(copying: Array(Self.token.utf8).span))
        second.capture(value: report, as: "the report")
        let failure = try #require(#expect(throws: LeakFailure.self) { try report.check() })
        second.capture(error: failure, as: "the failure")
        #expect(second.report().isClean)
        #expect(!report.isClean)
    }
}
