import Foundation
import LatchkeyLeakAudit
import LatchkeyLog
import LatchkeySecrets
import TestServices
import Testing

@Suite struct LeakAuditTests {
    static func text<Purpose: SecretPurpose>(_ secret: borrowing Secret<Purpose>) -> String {
        secret.withExposedBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
    }

    // MARK: - What is captured

    struct Careless: LocalizedError, CustomDebugStringConvertible {
        let described: String
        let hidden: String
        var errorDescription: String? { "failed" }
        var debugDescription: String { "Careless(\(described))" }
    }

    @Test func `the audit finds an error that shows a secret in any rendering`() throws {
        let audit = LeakAudit()
        let one = try audit.plantRandom(AccessToken.self)
        let two = try audit.plantRandom(AuthorizationCode.self)
        audit.capture(error: Careless(described: Self.text(one), hidden: Self.text(two)), as: "the error")
        let findings = audit.report().findings
        #expect(Set(findings.map(\.purpose)) == ["access token", "authorization code"])
        #expect(findings.contains { $0.stream == "the error, dumped" && $0.purpose == "authorization code" })
        #expect(findings.contains { $0.stream == "the error, reflected" && $0.purpose == "access token" })
    }

    @Test func `the audit finds an error that shows a secret to people`() throws {
        let audit = LeakAudit()
        let token = try audit.plantRandom(AccessToken.self)
        struct Shown: LocalizedError, CustomStringConvertible, CustomReflectable {
            let text: String
            var errorDescription: String? { text }
            var description: String { "quiet" }
            var customMirror: Mirror { Mirror(self, children: []) }
        }
        let error = Shown(text: "failed for \(Self.text(token))")
        audit.capture(error: error, as: "the error")
        #expect(audit.report().isClean)
        audit.capture(error: error, as: "the error", localized: error.localizedDescription)
        #expect(audit.report().findings.map(\.stream) == ["the error, localized"])
    }

    @Test func `the audit finds a list of bytes, whatever separates them`() throws {
        final class Holder {
            let bytes: [UInt8]
            init(_ bytes: [UInt8]) { self.bytes = bytes }
        }
        let audit = LeakAudit()
        let token = try audit.plantRandom(AccessToken.self)
        let bytes = Array(Self.text(token).utf8)
        audit.capture(value: Holder(bytes), as: "value")
        audit.capture("[\(bytes.map(String.init).joined(separator: ","))]", as: "without spaces")
        audit.capture(bytes.map(String.init).joined(separator: " "), as: "with spaces")
        audit.capture(bytes.map { "UInt8(\($0))" }.joined(separator: ", "), as: "with types")
        audit.capture(bytes.map(String.init).joined(separator: "\\n"), as: "with escapes")
        audit.capture(bytes.map(String.init).joined(separator: "\\\\n"), as: "with escaped escapes")
        audit.capture(bytes.map { "\\\($0)" }.joined(), as: "with backslashes")
        let findings = audit.report().findings
        #expect(
            findings.map(\.stream)
                == [
                    "value, dumped", "without spaces", "with spaces", "with types", "with escapes",
                    "with escaped escapes", "with backslashes",
                ])
        #expect(findings.allSatisfy { $0.encoding == .byteList && $0.isWhole })
        #expect(findings.dropFirst().map(\.offset) == [1, 0, 6, 0, 0, 1])
        audit.capture("1,2,3,4,5,6,7,8,9 of 255 at 12:30:45.678", as: "numbers")
        #expect(audit.report().findings.count == 7)
    }

    @Test(arguments: [
        ("a\\u003cb\\u0026c\\u003ed\\\"e'f/g", LeakEncoding.jsonEscaped),
        ("a&#60;b&#x26;c&gt;d&#34;e&#x27;f/g", .htmlEscaped), ("a%3cb%26c%3Ed%22e'f%2Fg", .percentEncoded),
    ])
    func `the audit finds a secret, whatever its encoder escapes`(_ text: String, _ encoding: LeakEncoding) throws {
        let audit = LeakAudit()
        try audit.plant(Secret<Password>(copying: Array("a<b&c>d\"e'f/g".utf8).span))
        audit.capture("before \(text) after", as: "log")
        let findings = audit.report().findings
        #expect(findings.count == 1 && findings[0].encoding == encoding && findings[0].isWhole, "\(findings)")
        #expect(findings[0].offset == 7 && findings[0].byteCount == text.utf8.count, "\(findings)")
    }

    /// Latchkey's log escapes text, and JSON escapes that once more.
    @Test(arguments: ["Tr0ub4\\dor&3x", "caf\u{E9}s\u{AD}w0rd1", "ab\tcde\tfgh\u{1b}ijk\u{7}lmn"])
    func `the audit finds a secret in our own logs, whatever they escape`(_ password: String) throws {
        let audit = LeakAudit()
        try audit.plant(Secret<Password>(copying: Array(password.utf8).span))
        let text = LoggableText(reviewed: "a planted leak", unredacted: password)
        RedactedLogger("test", sink: audit.logSink(named: "sink")).info("ended with \(text)")
        for (name, format) in [("text", LogLineFormat.text), ("json", .json)] {
            let pipe = Pipe()
            let sink = TextLogSink(descriptor: pipe.fileHandleForWriting.fileDescriptor, format: format)
            RedactedLogger("test", sink: sink).info("ended with \(text)")
            try pipe.fileHandleForWriting.close()
            audit.capture(Array(try pipe.fileHandleForReading.readToEnd() ?? Data()), as: name)
        }
        #expect(audit.report().findings.filter(\.isWhole).map(\.stream) == ["text", "json", "sink"])
    }

    /// As Python's json.dumps writes it, as UTF-16 with line breaks, and with one escape in each line.
    @Test func `the audit finds surrogates, UTF-16 over lines, and escapes over lines`() throws {
        let password = "gr🔑Ab9🔐q7🗝Zx1"
        func audited(_ bytes: [UInt8], _ password: String = password) throws -> [LeakFinding] {
            let audit = LeakAudit()
            try audit.plant(Secret<Password>(copying: Array(password.utf8).span))
            audit.capture(bytes, as: "log")
            return audit.report().findings.filter(\.isWhole)
        }
        let escaped = password.utf16.map { $0 < 128 ? String(UnicodeScalar(UInt8($0))) : String(format: "\\u%04x", $0) }
        #expect(try audited(Array(escaped.joined().utf8)).map(\.encoding) == [.jsonEscaped])
        let plain = "q7XwK2mVb9RtYpLz4HcN"
        for encoding in [String.Encoding.utf16LittleEndian, .utf16BigEndian] {
            let lines = Array(plain).enumerated().map { $0 % 6 == 5 ? "\($1)\n" : "\($1)" }.joined()
            #expect(try audited(Array(lines.data(using: encoding)!), plain).map(\.encoding) == [.splitOverLines])
        }
        let lines = plain.utf8.map { String(format: "\\u%04x\n", $0) }.joined()
        #expect(try audited(Array(lines.utf8), plain).map(\.encoding) == [.jsonEscaped])
    }

    @Test func `an audit of empty output isn't clean`() throws {
        let audit = LeakAudit()
        _ = try audit.plantRandom(AccessToken.self)
        _ = audit.logSink(named: "log")
        #expect(!audit.report().isClean && audit.report().description.contains("nothing was searched"))
    }

    @Test func `the audit finds a log's field that shows a secret`() throws {
        let audit = LeakAudit()
        let token = try audit.plantRandom(AccessToken.self)
        let text = LoggableText(reviewed: "a planted leak", unredacted: Self.text(token))
        RedactedLogger("test", sink: audit.logSink(named: "log")).with("note", text).info("ordinary")
        #expect(audit.report().findings.map(\.stream) == ["log"])
    }

    @Test func `the audit finds a log that shows a secret, in its message and through a sink`() throws {
        let audit = LeakAudit()
        let memory = MemoryLogSink()
        let logger = RedactedLogger("test", sink: audit.logSink(named: "log", forwardingTo: memory))
        let token = try audit.plantRandom(AccessToken.self)
        logger.info("ordinary")
        #expect(audit.report().isClean)
        logger.info("\(LoggableText(reviewed: "a planted leak", unredacted: Self.text(token)))")
        #expect(audit.report().findings.map(\.stream) == ["log"])
        #expect(memory.records.count == 2)
        audit.capture(log: memory.records, as: "records")
        #expect(audit.report().findings.map(\.stream).sorted() == ["log", "records"])
    }

    @Test func `the audit searches files and their names, in nested folders too`() throws {
        let folder = "/tmp/lk-audit-\(UInt64.random(in: 0 ... .max))"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder + "/a/b", withIntermediateDirectories: true)
        let audit = LeakAudit()
        let inside = try audit.plantRandom(AccessToken.self)
        let named = try audit.plantRandom(CodeVerifier.self)
        try Data("x=\(Self.text(inside))".utf8).write(to: URL(fileURLWithPath: folder + "/a/b/file"))
        try Data().write(to: URL(fileURLWithPath: folder + "/" + Self.text(named)))
        try FileManager.default.createSymbolicLink(
            atPath: folder + "/link", withDestinationPath: "/proc/self/mem")
        try audit.capture(folder: folder)
        let findings = audit.report().findings
        #expect(findings.map(\.purpose).sorted() == ["access token", "code verifier"])
        #expect(findings.contains { $0.stream == folder + "/a/b/file" && $0.offset == 2 })
    }

    @Test func `a folder that can't be read is an error, not an empty search`() {
        let audit = LeakAudit()
        #expect(throws: CaptureFailed.self) { try audit.capture(folder: "/tmp/lk-audit-is-not-there") }
    }

    @Test func `the audit searches a process's arguments and environment`() throws {
        let audit = LeakAudit()
        let argument = try audit.plantRandom(AccessToken.self)
        let variable = try audit.plantRandom(ClientSecret.self)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "echo started; read line", Self.text(argument)]
        process.environment = ["LEAK": Self.text(variable)]
        let input = Pipe()
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        _ = output.fileHandleForReading.availableData
        try audit.capture(process: process.processIdentifier)
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
        #expect(audit.report().findings.map(\.purpose).sorted() == ["access token", "client secret"])
    }

    // MARK: - What is refused

    @Test func `an audit of nothing is not clean`() throws {
        #expect(!LeakAudit().report().isClean)
        let planted = LeakAudit()
        _ = try planted.plantRandom(AccessToken.self)
        #expect(!planted.report().isClean)
        let captured = LeakAudit()
        captured.capture("text", as: "log")
        #expect(!captured.report().isClean)
        #expect(throws: LeakFailure.self) { try captured.report().check() }
    }

    @Test func `the audit refuses a secret that is too short to search for`() throws {
        let audit = LeakAudit()
        let refused = #expect(throws: LeakAudit.CanaryTooShort.self) {
            try audit.plant(Secret<Password>(copying: Array("1234567".utf8).span))
        }
        #expect(refused?.purpose == "password" && refused?.byteCount == 7)
        try audit.plant(Secret<Password>(copying: Array("12345678".utf8).span))
        audit.capture("x12345678", as: "log")
        #expect(audit.report().findings.map(\.offset) == [1])
    }

    // MARK: - The one exception

    @Test func `state inside the URL that paste prints is allowed, on that stream alone`() throws {
        let audit = LeakAudit()
        let state = try audit.plantRandom(AuthorizationState.self)
        let url = "open https://example.org/authorize?client_id=x&state=\(Self.text(state))&scope=y\n"
        audit.capture(url, as: "terminal", allowing: .stateInURLThatPastePrints)
        #expect(audit.report().isClean && audit.report().allowed.count == 1)
        audit.capture(url, as: "log")
        #expect(audit.report().findings.map(\.stream) == ["log"])
    }

    @Test(arguments: [
        "state=VALUE", "https://example.org/a?xstate=VALUE", "http://example.org/a?state=VALUE",
        "https://example.org/a?state= VALUE", "https://example.org/a?code=VALUE", "state VALUE",
    ])
    func `state anywhere else on that stream is a finding`(_ text: String) throws {
        let audit = LeakAudit()
        let state = try audit.plantRandom(AuthorizationState.self)
        audit.capture(
            text.replacingOccurrences(of: "VALUE", with: Self.text(state)), as: "terminal",
            allowing: .stateInURLThatPastePrints)
        #expect(audit.report().findings.count == 1)
    }

    @Test func `another secret in state's place is a finding`() throws {
        let audit = LeakAudit()
        let code = try audit.plantRandom(AuthorizationCode.self)
        audit.capture(
            "https://example.org/a?state=\(Self.text(code))", as: "terminal", allowing: .stateInURLThatPastePrints)
        #expect(audit.report().findings.map(\.purpose) == ["authorization code"])
    }

    // MARK: - Ordinary output

    /// Four megabytes, and the whole hundred with `LATCHKEY_LONG=1`.
    @Test func `ordinary logs stay silent`() async throws {
        let audit = LeakAudit()
        for _ in 0..<10 {
            _ = try audit.plantRandom(AccessToken.self)
            _ = try audit.plantRandom(AuthorizationState.self)
            try audit.plant(Secret<PrivateKey>.random(byteCount: 32))
            let digits = (0..<4).map { _ in String(UInt64.random(in: 0 ... .max), radix: 16) }.joined()
            try audit.plant(Secret<OpenIDNonce>(copying: Array(digits.utf8).span))
            let number = "\(UInt64.random(in: 1 << 60 ... .max))"
            try audit.plant(Secret<Password>(copying: Array(number.utf8).span))
        }
        let megabytes = runsLong ? 100 : 4
        var logs = OrdinaryLogs()
        for megabyte in 0..<megabytes {
            audit.capture(logs.text(byteCount: 1_000_000), as: "log \(megabyte)")
            // Tests beside this one wait for processes and servers, and there are few threads for all.
            await Task.yield()
        }
        let log = RedactedLogger(
            "latchkey.github.auth", minimumLevel: .trace, sink: audit.logSink(named: "our own log"))
        for number in 0..<1000 {
            let flow = log.with("sign_in", CorrelationID())
            flow.info("refreshed item \(number) in \(Duration.milliseconds(number)), \(LogLevel.debug)")
        }
        let report = audit.report()
        #expect(report.isClean, "\(report)")
        #expect(report.byteCount >= megabytes * 1_000_000 && report.canaryCount == 50)
    }
}
