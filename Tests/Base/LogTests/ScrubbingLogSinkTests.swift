import LatchkeyLeakAudit
import LatchkeyLog
import LatchkeySecrets
import Testing

@testable import LatchkeyLog

@Suite struct ScrubbingLogSinkTests {
    static func text<Purpose: SecretPurpose>(_ secret: borrowing Secret<Purpose>) -> String {
        secret.withExposedBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
    }

    static func made(_ text: String) -> LoggableText { LoggableText(reviewed: "made up by a test", unredacted: text) }

    @Test func `a record that contains a secret in use is withheld and counted; other records aren't`() throws {
        let live = LiveSecrets()
        let memory = MemoryLogSink()
        let sink = ScrubbingLogSink(over: memory, secrets: live)
        let log = RedactedLogger("test", minimumLevel: .trace, sink: sink)
        let token = try Secret<AccessToken>.random(byteCount: 32).base64URLEncoded()
        let text = Self.text(token)
        log.info("before \(Self.made(text))")
        let watched = live.watch(token)
        log.warning("child said: \(Self.made(text))")
        log.with("note", Self.made("x=\(text);")).error("in a field")
        log.info("ordinary")
        _ = consume watched
        log.info("after \(Self.made(text))")
        #expect(
            memory.records.map(\.message.text) == [
                "before \(text)", "withheld a record, because it contained a secret in use",
                "withheld a record, because it contained a secret in use", "ordinary", "after \(text)",
            ])
        #expect(memory.records.map(\.level) == [.info, .warning, .error, .info, .info])
        #expect(memory.records.allSatisfy(\.fields.isEmpty) && sink.withheldRecordCount == 2)
    }

    /// The text of a record is inert, and a password's backslash is two there.
    @Test(arguments: [#"Tr0u\bad0r"#, "pass\u{1B}word", "pass\u{200B}word", #"\\\\\\\\"#, "ab{}\u{7}}cd"])
    func `a secret with characters that are escaped is withheld`(_ text: String) {
        let live = LiveSecrets()
        let memory = MemoryLogSink()
        let log = RedactedLogger("test", sink: ScrubbingLogSink(over: memory, secrets: live))
        let watched = live.watch(Secret<Passphrase>(copying: text.utf8.span))
        log.info("said: \(Self.made("a\\b \(text) c"))")
        log.info("said: \(Self.made(#"a\u{41}b\x{zz}\"#))")
        #expect(memory.records.map { $0.message.text.contains("withheld") } == [true, false])
        _ = consume watched
    }

    /// Whoever read the log learned by what was missing that a passphrase had words of ours in it.
    @Test func `the scrubber skips literals of the source and searches text from elsewhere`() {
        let live = LiveSecrets()
        let memory = MemoryLogSink()
        let log = RedactedLogger("test", sink: ScrubbingLogSink(over: memory, secrets: live))
        let watched = live.watch(Secret<Passphrase>(copying: Array("correct horse battery".utf8).span))
        log.info("the correct horse battery is stapled \(Self.made("here"))")
        log.with("words", "correct horse battery" as LogMessage).info("in a field")
        let parts: [LogMessage] = ["correct ", "horse ", "battery"]
        log.info("joined: \(LogMessage.joined(parts, separator: ""))")
        #expect(memory.records.count == 3 && memory.records.allSatisfy { !$0.message.text.contains("withheld") })
        log.info(
            "nested: \("\("said: \(Self.made("x correct horse battery y"))" as LogMessage), and so on" as LogMessage)")
        // A secret in two pieces, with nothing of ours between them.
        log.info("\(Self.made("correct hor"))\(Self.made("se battery"))")
        log.info(
            "\(LogMessage.joined([Self.made("correct hor").logMessage, Self.made("se battery").logMessage], separator: ""))"
        )
        #expect(memory.records.dropFirst(3).allSatisfy { $0.message.text.contains("withheld") })
        #expect(memory.records.count == 6)
        _ = consume watched
    }

    @Test(arguments: [8, 9, 15, 16, 17, 43, 200])
    func `the scrubber finds a secret of any length at any place`(_ byteCount: Int) throws {
        let live = LiveSecrets()
        let token = try Secret<AccessToken>.random(byteCount: byteCount).base64URLEncoded()
        let text = String(Self.text(token).prefix(byteCount))
        let secret = Secret<AccessToken>(copying: Array(text.utf8).span)
        let watched = live.watch(secret)
        for padding in 0..<20 {
            let line = String(repeating: ".", count: padding) + text + String(repeating: ".", count: 20 - padding)
            #expect(live.isHeld(by: line))
        }
        #expect(live.isHeld(by: text) && !live.isHeld(by: String(text.dropLast(text.utf8.count - 7))))
        _ = consume watched
        #expect(!live.isHeld(by: text) && live.secretCount == 0)
    }

    @Test func `the scrubber finds any fifteen consecutive bytes`() throws {
        let live = LiveSecrets()
        let token = try Secret<AccessToken>.random(byteCount: 32).base64URLEncoded()
        let text = Array(Self.text(token).utf8)
        let watched = live.watch(token)
        for start in 0...text.count - 15 {
            let piece = String(decoding: text[start..<start + 15], as: UTF8.self)
            #expect(live.isHeld(by: "…\(piece)…"), "\(start)")
        }
        _ = consume watched
    }

    @Test func `a secret that is watched twice is recognized until both watches end`() throws {
        let live = LiveSecrets()
        let token = try Secret<AccessToken>.random(byteCount: 32).base64URLEncoded()
        let first = live.watch(token)
        let second = live.watch(token.duplicate())
        #expect(live.secretCount == 2)
        _ = consume first
        #expect(live.isHeld(by: Self.text(token)))
        _ = consume second
        #expect(!live.isHeld(by: Self.text(token)))
    }

    @Test func `the scrubber ignores secrets that are too short, and finds nothing in short text`() {
        let live = LiveSecrets()
        let watched = live.watch(Secret<Password>(copying: Array("ordinal".utf8).span))
        #expect(live.secretCount == 0 && !live.isHeld(by: "an ordinal number") && !live.isHeld(by: ""))
        _ = consume watched
    }

    @Test func `ordinary lines pass while a hundred secrets are in use`() throws {
        let live = LiveSecrets()
        let memory = MemoryLogSink()
        let sink = ScrubbingLogSink(over: memory, secrets: live)
        final class Kept: Sendable {
            let watched: WatchedSecret
            init(_ watched: consuming WatchedSecret) { self.watched = watched }
        }
        let kept = try (0..<100).map { _ in
            let token = try Secret<AccessToken>.random(byteCount: 32).base64URLEncoded()
            return Kept(live.watch(token))
        }
        let log = RedactedLogger("test", sink: sink)
        for number in 0..<20_000 {
            let digits = String(UInt64.random(in: 0 ... .max), radix: 16)
            log.info("refreshed item \(number), commit \(Self.made(digits)), in \(Duration.milliseconds(number))")
        }
        #expect(memory.records.count == 20_000 && sink.withheldRecordCount == 0)
        withExtendedLifetime(kept) {}
    }

    @Test func `the scrubber itself holds no secret`() throws {
        let live = LiveSecrets()
        let audit = LeakAudit()
        let token = try audit.plantRandom(AccessToken.self)
        let watched = live.watch(token)
        audit.capture(value: live, as: "the watcher")
        try audit.report().check()
        _ = consume watched
    }

    @Test func `a secret of this process is recognized without a watch, and after its end`() throws {
        let live = LiveSecrets.ofThisProcess
        let text = Self.text(try Secret<AccessToken>.random(byteCount: 32).base64URLEncoded())
        #expect(live.isHeld(by: "child said: \(text)"))
        let other = try Secret<PrivateKey>.random(byteCount: 32).base64URLEncoded()
        #expect(!live.isHeld(by: Self.text(other)))
        let word = Self.text(other.repurposed(as: RefreshToken.self))
        #expect(live.isHeld(by: word))
        let memory = MemoryLogSink()
        let before = live.withheldTextCount
        RedactedLogger("test", sink: ScrubbingLogSink(over: memory, secrets: live)).error("\(Self.made(text))")
        #expect(memory.records.map(\.message.text) == ["withheld a record, because it contained a secret in use"])
        #expect(live.withheldTextCount > before)
    }

    @Test func `the scrubber remembers the beginning of a secret of megabytes`() {
        let live = LiveSecrets()
        let (beginning, end) = (Array("begins in this way".utf8), Array("ends in that way".utf8))
        let middle = [UInt8](repeating: 0x78, count: LiveSecrets.rememberedByteCount)
        live.remember((beginning + middle + end).span, amongTheLast: 3)
        #expect(live.isHeld(by: "it begins in this way"))
        #expect(!live.isHeld(by: "it ends in that way"))
        live.remember([UInt8](repeating: 0x79, count: 8 << 20).span, amongTheLast: 3)
        #expect(live.secretCount == 2)
    }

    @Test func `so many remembered secrets stay, and one that is met again`() throws {
        let live = LiveSecrets()
        let texts = try (0..<7).map { _ in
            Self.text(try Secret<AuthorizationState>.random(byteCount: 32).base64URLEncoded())
        }
        for text in texts {
            for _ in 0..<3 { live.remember(Array(text.utf8).span, amongTheLast: 3) }
        }
        #expect(texts.map(live.isHeld(by:)) == [false, false, false, true, true, true, true])
        #expect(live.secretCount == 4)
        live.remember(Array("short".utf8).span, amongTheLast: 3)
        #expect(live.secretCount == 4)
        // A token that is in use for long is met again and again.
        for text in texts {
            live.remember(Array(text.utf8).span, amongTheLast: 3)
            live.remember(Array(texts[6].utf8).span, amongTheLast: 3)
        }
        #expect(live.isHeld(by: texts[6]))
    }
}
