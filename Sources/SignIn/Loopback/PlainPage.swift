/// The look of every page for a person: plain HTML in the desktop's colours, light or dark, which fits a telephone and
/// loads nothing.
///
/// HTML goes between `opening` and `closing`; text goes through `escaped`.
package enum PlainPage {
    /// The abilities of a page.
    package enum Ability: Sendable, Hashable {
        case none
        /// The page has a form. Its target isn't limited, because browsers apply such a limit to redirects too. The
        /// response to the form may redirect to any client.
        case form
        /// It closes its tab after a moment, where the browser lets it: where nothing but this sign-in was in the tab.
        case closing
    }

    /// Everything before the page's own content, its heading included.
    package static func opening(title: String, ability: Ability = .none) -> String {
        let title = escaped(title)
        let script = ability == .closing ? "\n<script>\(script)</script>" : ""
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(title)</title>
            <style>\(style)</style>\(script)
            </head>
            <body>
            <main>
            <h1>\(title)</h1>

            """
    }

    package static let closing = """
        </main>
        </body>
        </html>

        """

    package static let contentType = "text/html; charset=utf-8"

    /// The response's fields beside the content's type.
    package static func fields(_ ability: Ability = .none) -> [LoopbackField] {
        var policy = "default-src 'none'; style-src 'sha256-\(styleHash)'; base-uri 'none'; frame-ancestors 'none'"
        if ability != .form { policy += "; form-action 'none'" }
        if ability == .closing { policy += "; script-src 'sha256-\(scriptHash)'" }
        return [
            LoopbackField("Content-Security-Policy", policy),
            LoopbackField("Referrer-Policy", "no-referrer"),
            LoopbackField("X-Content-Type-Options", "nosniff"),
            LoopbackField("X-Frame-Options", "DENY"),
            LoopbackField("Cross-Origin-Opener-Policy", "same-origin"),
        ]
    }

    package static let style = """
        :root{color-scheme:light dark}\
        *{box-sizing:border-box}\
        body{margin:0;min-height:100vh;display:grid;place-items:center;font:1.125rem/1.5 system-ui,sans-serif;\
        overflow-wrap:anywhere;background:light-dark(#f6f6f4,#1b1c1e);color:light-dark(#1b1c1e,#ececea)}\
        main{width:100%;max-width:38rem;padding:2rem}\
        h1{font-size:1.5rem;line-height:1.25;margin:0 0 1rem}\
        p{margin:0 0 .75rem}\
        form{display:flex;flex-wrap:wrap;gap:.75rem;margin:1.5rem 0 0}\
        button{font:inherit;min-width:8rem;padding:.5rem 1.25rem;border-radius:.5rem;border:1px solid;\
        background:transparent;color:inherit;cursor:pointer}\
        button:first-of-type{background:light-dark(#1d5c3c,#9bd8b6);border-color:transparent;\
        color:light-dark(#fff,#10241a)}\
        :focus-visible{outline:3px solid light-dark(#1d5c3c,#9bd8b6);outline-offset:3px}
        """

    package static let script = "setTimeout(()=>close(),3000)"

    /// The base64 SHA-256 of `style` and of `script`, for the content security policy; a test compares them.
    package static let styleHash = "z4bFQrWqvnXVh8cFlvcbhocKKgskBwiI78rdKYq0QqM="
    package static let scriptHash = "n+AAw9mCbYhy1VytFxlCWZG+vFL4w5ObwdY7T64Tw/w="

    /// Escapes text for HTML, including attributes.
    package static func escaped(_ text: String) -> String {
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
