import Foundation
import RedactedLog
import Testing

@testable import SignIn

struct AnswerPageTests {
    @Test func `text from elsewhere can't become part of the page`() {
        let nasty = LoggableText(reviewed: "a test", unredacted: "<script>alert('1')</script>&\"")
        let html = AnswerPage.outcome(.failed(cause: "no: \(nasty)", hint: "\(nasty)")).html
        #expect(!html.contains("<script"))
        #expect(html.contains("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;&quot;"))
    }

    @Test func `the content security policy permits exactly the page's own style`() throws {
        let program = Process()
        program.executableURL = URL(fileURLWithPath: "/bin/sh")
        program.arguments = ["-c", "openssl dgst -sha256 -binary | openssl base64"]
        let (input, output) = (Pipe(), Pipe())
        program.standardInput = input
        program.standardOutput = output
        try program.run()
        input.fileHandleForWriting.write(Data(AnswerPage.style.utf8))
        try input.fileHandleForWriting.close()
        let hash = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        program.waitUntilExit()
        #expect(hash == AnswerPage.styleHash + "\n")
        #expect(AnswerPage.notFound.html.contains("<style>\(AnswerPage.style)</style>"))
    }

    @Test func `no page refers to anything outside of itself`() {
        let pages = [
            AnswerPage.outcome(.signedIn), .outcome(.failed(UserAgentError.timedOut)), .foreign, .repeated, .usedLink,
            .notFound,
        ]
        for page in pages {
            for word in ["http:", "https:", "src=", "href=", "url(", "@import", "<script"] {
                #expect(!page.html.contains(word))
            }
            #expect(page.html.contains("color-scheme:light dark"))
        }
    }
}
