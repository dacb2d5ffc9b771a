import LatchkeyLeakAudit
import LatchkeyLog
import LatchkeySecrets
import Orders
import XCTest

/// The same with XCTest.
final class OrderDeskXCTests: XCTestCase {
    func testPlacingAnOrderTellsNobodyTheToken() throws {
        let audit = LeakAudit()
        let token = try audit.plantRandom(AccessToken.self)
        let desk = OrderDesk(log: RedactedLogger("shop", minimumLevel: .trace, sink: audit.logSink(named: "the log")))
        desk.place(Order(number: 7, state: .shipped), with: token)
        XCTAssertNoThrow(try audit.report().check())
    }

    func testADeskThatLogsTheTokenFailsTheAudit() throws {
        let audit = LeakAudit()
        let token = try audit.plantRandom(AccessToken.self)
        let desk = OrderDesk(log: RedactedLogger("shop", sink: audit.logSink(named: "the log")))
        desk.placeCarelessly(Order(number: 7, state: .open), with: token)
        XCTAssertThrowsError(try audit.report().check()) { XCTAssert($0 is LeakFailure) }
    }
}
