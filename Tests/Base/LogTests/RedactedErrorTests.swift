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

    @Test func `an error can be logged as it is`() {
        let sink = MemoryLogSink()
        RedactedLogger("test", sink: sink).error("sign-in failed: \(Refused(status: 400))")
        #expect(sink.records.map(\.message.text) == ["sign-in failed: the server answered 400 [test.refused]"])
    }

    @Test func `what an error dumps is its members, which are loggable`() {
        var dumped = ""
        dump(Refused(status: 42), to: &dumped)
        #expect(dumped.contains("42"))
        #expect(!(Refused(status: 42) as any Error).localizedDescription.isEmpty)
    }
}
