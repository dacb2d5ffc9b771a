internal import LatchkeyLog
internal import LatchkeyLoopback

/// A page that the person's browser shows at the end.
struct ResponsePage: Sendable {
    let status: Int
    let title: LogMessage
    let lines: [LogMessage]
    var ability = PlainPage.Ability.none

    static func outcome(_ outcome: SignInOutcome) -> ResponsePage {
        switch outcome {
        case .signedIn:
            ResponsePage(
                status: 200, title: "You are signed in",
                lines: ["You can close this page and go back to where you came from."], ability: .closing)
        case .failed(let cause, let hint):
            ResponsePage(
                status: 200, title: "You are not signed in",
                lines: [cause] + (hint.map { [$0] } ?? []) + ["You can close this page."])
        }
    }

    static let foreign = ResponsePage(
        status: 400, title: "This is not the answer",
        lines: [
            "The address does not belong to the sign-in that is going on, so nothing was done with it.",
            "The sign-in still waits. Answer it on the page that it opened, or start it again.",
        ])
    static let repeated = ResponsePage(
        status: 409, title: "Answered already",
        lines: ["This sign-in has its answer. You can close this page."])
    static let usedLink = ResponsePage(
        status: 410, title: "This link was used already",
        lines: ["It leads to a sign-in page once. Start the sign-in again for another."])
    static let notFound = ResponsePage(
        status: 404, title: "Nothing here",
        lines: ["No sign-in uses this address. You can close this page."])

    // MARK: - HTML

    func response() -> LoopbackResponse {
        LoopbackResponse(
            status: status, contentType: PlainPage.contentType, publicText: html, fields: PlainPage.fields(ability))
    }

    var html: String {
        let paragraphs = lines.map { "<p>\(PlainPage.escaped(Self.sentence($0.text)))</p>\n" }.joined()
        return PlainPage.opening(title: title.text, ability: ability) + paragraphs + PlainPage.closing
    }

    /// Causes and hints are written to stand behind a colon.
    private static func sentence(_ text: String) -> String {
        let capitalized = text.prefix(1).uppercased() + text.dropFirst()
        return capitalized.hasSuffix(".") ? capitalized : capitalized + "."
    }
}
