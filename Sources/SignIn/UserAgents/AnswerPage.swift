internal import LoopbackHTTP
internal import RedactedLog

/// A page that the person's browser shows at the end: plain HTML without scripts and external resources, light and dark.
struct AnswerPage: Sendable {
    let status: Int
    let title: LogMessage
    let lines: [LogMessage]

    static func outcome(_ outcome: SignInOutcome) -> AnswerPage {
        switch outcome {
        case .signedIn:
            AnswerPage(
                status: 200, title: "You are signed in",
                lines: ["You can close this page and go back to where you came from."])
        case .failed(let cause, let hint):
            AnswerPage(
                status: 200, title: "You are not signed in",
                lines: [cause] + (hint.map { [$0] } ?? []) + ["You can close this page."])
        }
    }

    static let foreign = AnswerPage(
        status: 400, title: "This is not the answer",
        lines: [
            "The address does not belong to the sign-in that is going on, so nothing was done with it.",
            "If you have just signed in, go back and start again.",
        ])
    static let repeated = AnswerPage(
        status: 409, title: "Answered already",
        lines: ["This sign-in has its answer. You can close this page."])
    static let usedLink = AnswerPage(
        status: 410, title: "This link was used already",
        lines: ["It leads to a sign-in page once. Start the sign-in again for another."])
    static let notFound = AnswerPage(status: 404, title: "Nothing here", lines: [])

    // MARK: - HTML

    func response() -> LoopbackResponse {
        LoopbackResponse(
            status: status, contentType: "text/html; charset=utf-8", publicText: html,
            fields: [
                LoopbackField(
                    "Content-Security-Policy",
                    "default-src 'none'; style-src 'sha256-\(Self.styleHash)'; base-uri 'none'; form-action 'none'; "
                        + "frame-ancestors 'none'"),
                LoopbackField("Referrer-Policy", "no-referrer"),
                LoopbackField("X-Content-Type-Options", "nosniff"),
                LoopbackField("X-Frame-Options", "DENY"),
                LoopbackField("Cross-Origin-Opener-Policy", "same-origin"),
            ])
    }

    var html: String {
        let title = Self.escape(title.text)
        let paragraphs = lines.map { "<p>\(Self.escape(Self.sentence($0.text)))</p>\n" }.joined()
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(title)</title>
            <style>\(Self.style)</style>
            </head>
            <body>
            <main>
            <h1>\(title)</h1>
            \(paragraphs)</main>
            </body>
            </html>

            """
    }

    static let style = """
        :root{color-scheme:light dark}\
        body{margin:0;min-height:100vh;display:grid;place-items:center;font:1.125rem/1.5 system-ui,sans-serif;\
        background:light-dark(#f6f6f4,#1b1c1e);color:light-dark(#1b1c1e,#ececea)}\
        main{max-width:34rem;padding:2rem}\
        h1{font-size:1.75rem;line-height:1.2;margin:0 0 1rem}\
        p{margin:0 0 .75rem}
        """

    /// The base64 SHA-256 of `style`, for the content security policy; a test compares them.
    static let styleHash = "vgL9CeRUx506PrfqngTFRs+bMHXmB/VfO1NB4186Aeo="

    /// Causes and hints are written to stand behind a colon.
    private static func sentence(_ text: String) -> String {
        let capitalized = text.prefix(1).uppercased() + text.dropFirst()
        return capitalized.hasSuffix(".") ? capitalized : capitalized + "."
    }

    static func escape(_ text: String) -> String {
        var result = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }
}
