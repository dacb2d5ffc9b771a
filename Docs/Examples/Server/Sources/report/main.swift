import Glibc
import HTTPTypes
import Latchkey
import LatchkeySwiftLog
import Logging
import ReportKit

_ = ProcessHardening.apply()  // first: no core dump, and no other process of this user may read the memory

// All lines, our own and those of packages that log with swift-log, in systemd's form: it adds the time.
let sink = ScrubbingLogSink(over: TextLogSink(format: .priorityPrefixed), secrets: .ofThisProcess)
LoggingSystem.bootstrap { RedactedLogHandler(label: $0, sink: sink) }
let log = RedactedLogger("report", sink: sink)

let environment = ProgramEnvironment.current()
let folder = environment["STATE_DIRECTORY"] ?? "/var/lib/report"

do {
    let command = CommandLine.arguments.dropFirst().first
    if command == "install" {
        try await Report.install(in: folder, environment: environment)
        exit(0)
    }
    let report = try await Report(
        in: folder, of: .issuer(Issuer("https://login.bank.example"), name: "bank", clientID: "report"),
        environment: environment, log: log)
    if command == "sign-in" {
        try await report.signIn(presenting: .automatic(in: environment))
    } else {
        let request = HTTPRequest(method: .get, scheme: "https", authority: "login.bank.example", path: "/balance")
        try await report.run(request, every: .seconds(3600)) { log.info("the bank answered with status \($0)") }
    }
} catch let error as any RedactedError {
    log.error("\(error)")
    exit(1)
}
