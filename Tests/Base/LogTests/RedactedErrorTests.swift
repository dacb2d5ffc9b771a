import Foundation
import LatchkeyLog
import Testing

@Suite struct RedactedErrorTests {
    struct Refused: RedactedError {
        let status: Int
        var explanation: Explanation {
            .init(
                status == 503 ? .tryAgain : .refused, "test.refused", "the server answered \(status)",
                hint: status == 503 ? "try again" : nil)
        }
    }

    @Test func `every rendering of an error is its cause and its code`() {
        let error: any Error = Refused(status: 503)
        let expected = "the server answered 503 [test.refused]"
        #expect("\(error)" == expected)
        #expect(String(describing: error) == expected)
        #expect(String(reflecting: error) == expected)
        #expect((error as? any Loggable)?.logMessage.text == expected)
        #expect((error as? any RedactedError)?.hint?.text == "try again")
        #expect(Refused(status: 1).hint == nil)
        #expect((error as? any RedactedError)?.kind == .tryAgain && Refused(status: 1).kind == .refused)
    }

    @Test func `an error can be logged directly`() {
        let sink = MemoryLogSink()
        RedactedLogger("test", sink: sink).error("sign-in failed: \(Refused(status: 400))")
        #expect(sink.records.map(\.message.text) == ["sign-in failed: the server answered 400 [test.refused]"])
    }

    @Test func `a dump of an error shows its members, which are loggable`() {
        var dumped = ""
        dump(Refused(status: 42), to: &dumped)
        #expect(dumped.contains("42"))
        #expect(!(Refused(status: 42) as any Error).localizedDescription.isEmpty)
    }
}

struct RecoveryTests {
    private struct Refusal: RedactedError {
        let hint: LogMessage?
        var explanation: Explanation { .init(.refused, "test.refusal", "it doesn't work", hint: hint) }
    }

    @Test func `an error lists its recoveries as values, however its hint was composed`() {
        let inner: LogMessage = "\(Recovery.createVault), or start a keyring"
        let error = Refusal(hint: .joined([inner, "\(Recovery.chooseStore)"], separator: "; "))
        #expect(error.recoveries == [.createVault, .chooseStore])
        #expect(error.hint?.text == "create a vault, or start a keyring; choose another store")
        #expect(Refusal(hint: "try again").recoveries == [] && Refusal(hint: nil).recoveries == [])
    }

    @Test func `a program can replace each recovery's words, and foreign text stays marked`() {
        let foreign = LoggableText(reviewed: "a test's own text", unredacted: "näme")
        let message: LogMessage = "\(foreign): \(Recovery.createVault) or \(foreign), \(Recovery.signIn)"
        let worded = message.wording { $0 == .createVault ? "run init" : "log in to \(foreign)" }
        #expect(worded.text == "näme: run init or näme, log in to näme")
        let parts = worded.foreignRanges.map { String(decoding: Array(worded.text.utf8)[$0], as: UTF8.self) }
        #expect(parts == ["näme", "näme", "näme"])
        #expect(worded.recoveries == [])
    }

    @Test(arguments: Recovery.allCases)
    func `each recovery has separate words`(_ recovery: Recovery) {
        #expect("\(recovery)" as LogMessage == recovery.logMessage && !recovery.logMessage.text.isEmpty)
        #expect(recovery.logMessage.recoveries == [recovery])
        #expect(Recovery.allCases.filter { $0.logMessage == recovery.logMessage } == [recovery])
    }
}
