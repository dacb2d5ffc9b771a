package import LatchkeyLog

/// A page of `help` about something else than a command: tables with a title each.
package struct HelpPage: Sendable {
    package typealias Section = (title: StaticString, rows: [(name: LogMessage, meaning: LogMessage)])

    /// What follows `help`.
    package let name: StaticString
    package let summary: StaticString
    package let sections: [Section]

    package init(_ name: StaticString, summary: StaticString, sections: [Section]) {
        self.name = name
        self.summary = summary
        self.sections = sections
    }

    /// What each exit status means.
    package static let exitStatuses = HelpPage(
        "exit-status", summary: "lists the exit statuses",
        sections: [
            ("exit statuses", ExitStatus.allCases.map { ("\(Int($0.rawValue))", "\($0.meaning)") })
        ])
}
