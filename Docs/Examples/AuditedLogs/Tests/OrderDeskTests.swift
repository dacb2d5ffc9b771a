import LatchkeyLeakAudit
import LatchkeyLog
import LatchkeySecrets
import Orders
import Testing

@Suite struct OrderDeskTests {
    @Test func `placing an order tells nobody the token`() throws {
        let audit = LeakAudit()
        let token = try audit.plantRandom(AccessToken.self)
        let desk = OrderDesk(log: RedactedLogger("shop", minimumLevel: .trace, sink: audit.logSink(named: "the log")))
        let errors = try DescriptorTap(descriptor: 2, as: "standard error")
        desk.place(Order(number: 7, state: .open), with: token)
        errors.finish(into: audit)
        try audit.report().check()
    }

    /// The broken branch: the audit fails for the right reason, and says where without saying what.
    @Test func `a desk that logs the token fails the audit`() throws {
        let audit = LeakAudit()
        let token = try audit.plantRandom(AccessToken.self)
        let desk = OrderDesk(log: RedactedLogger("shop", sink: audit.logSink(named: "the log")))
        desk.placeCarelessly(Order(number: 7, state: .open), with: token)
        let failure = #expect(throws: LeakFailure.self) { try audit.report().check() }
        #expect(
            failure?.report.findings.map(\.description) == [
                "the access token, plain, 43 bytes at byte 37 of the log"
            ])
    }
}
