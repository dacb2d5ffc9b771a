import Foundation
import LatchkeyLoopback
import Testing

struct PlainPageTests {
    private static func hash(_ text: String) throws -> String {
        let program = Process()
        program.executableURL = URL(fileURLWithPath: "/bin/sh")
        program.arguments = ["-c", "openssl dgst -sha256 -binary | openssl base64"]
        let (input, output) = (Pipe(), Pipe())
        program.standardInput = input
        program.standardOutput = output
        try program.run()
        input.fileHandleForWriting.write(Data(text.utf8))
        try input.fileHandleForWriting.close()
        let hash = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        program.waitUntilExit()
        return hash
    }

    private static func policy(_ ability: PlainPage.Ability) -> String {
        PlainPage.fields(ability).first { $0.name == "Content-Security-Policy" }?.value ?? ""
    }

    @Test func `the content security policy permits exactly the page's own style and script`() throws {
        #expect(try Self.hash(PlainPage.style) == PlainPage.styleHash + "\n")
        #expect(try Self.hash(PlainPage.script) == PlainPage.scriptHash + "\n")
        for ability in [PlainPage.Ability.none, .form, .closing] {
            let page = PlainPage.opening(title: "A page", ability: ability)
            #expect(page.contains("<style>\(PlainPage.style)</style>"))
            #expect(page.contains("<script>\(PlainPage.script)</script>") == (ability == .closing))
            let policy = Self.policy(ability)
            #expect(policy.hasPrefix("default-src 'none'; style-src 'sha256-\(PlainPage.styleHash)'; "))
            #expect(policy.contains("script-src 'sha256-\(PlainPage.scriptHash)'") == (ability == .closing))
            #expect(policy.contains("form-action 'none'") == (ability != .form))
            #expect(!policy.contains("unsafe"))
        }
    }

    @Test func `a title is text wherever it appears`() {
        let page = PlainPage.opening(title: "<b>&\"'")
        #expect(page.contains("<title>&lt;b&gt;&amp;&quot;&#39;</title>"))
        #expect(page.contains("<h1>&lt;b&gt;&amp;&quot;&#39;</h1>"))
        #expect(page.hasPrefix("<!DOCTYPE html>\n<html lang=\"en\">\n"))
    }
}
