import Foundation
import LatchkeyLog
import LatchkeyLoopback
import Testing

@testable import LatchkeySignIn

struct ResponsePageTests {
    @Test func `text from elsewhere can't become part of the page`() {
        let nasty = LoggableText(reviewed: "a test", unredacted: "<script>alert('1')</script>&\"")
        let html = ResponsePage.outcome(.failed(cause: "no: \(nasty)", hint: "\(nasty)")).html
        #expect(!html.contains("<script"))
        #expect(html.contains("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;&quot;"))
    }

    @Test func `no page refers to anything outside of itself`() {
        let pages = [
            ResponsePage.outcome(.signedIn), .outcome(.failed(UserAgentError.timedOut)), .foreign, .repeated, .usedLink,
            .notFound,
        ]
        for page in pages {
            for word in ["http:", "https:", "src=", "href=", "url(", "@import"] {
                #expect(!page.html.contains(word))
            }
            #expect(page.html.contains("<script") == (page.ability == .closing))
            #expect(page.html.contains("color-scheme:light dark"))
        }
    }

    @Test func `a page closes itself when all is well, and stays when there is something to read`() {
        let pages = [ResponsePage.outcome(.failed(UserAgentError.timedOut)), .foreign, .repeated, .usedLink, .notFound]
        #expect(pages.allSatisfy { $0.ability == .none })
        #expect(ResponsePage.outcome(.signedIn).ability == .closing)
    }
}
