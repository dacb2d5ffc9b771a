import RedactedLog
import Testing

@testable import SignIn

struct BrowserChoiceTests {
    private func commands(_ browser: String) throws -> [[String]] {
        try BrowserChoice(environment: ["BROWSER": browser]).commands(for: "http://h/%s")
    }

    @Test func `BROWSER holds several commands, and the address goes where the mark is or at the end`() throws {
        #expect(
            try commands("firefox --new-window %s:lynx::w3m -x=%s '%%s'") == [
                ["firefox", "--new-window", "http://h/%s"], ["lynx", "http://h/%s"],
                ["w3m", "-x=http://h/%s", "%s"],
            ])
    }

    @Test func `words may be quoted, and a trailing ampersand is left out`() throws {
        #expect(
            try commands(#""/opt/my browser/run" 'a b' c\ d "" %s &"#) == [
                ["/opt/my browser/run", "a b", "c d", "", "http://h/%s"]
            ])
    }

    @Test(arguments: ["'firefox", "\"x", "firefox\\", ":", " : "])
    func `a BROWSER that can't be understood is refused`(browser: String) {
        #expect(throws: UserAgentError.unavailable(.malformedBrowser)) { try commands(browser) }
    }

    @Test func `without BROWSER the desktop's browser is taken, if there is a display`() throws {
        for name in ["DISPLAY", "WAYLAND_DISPLAY"] {
            let choice = try BrowserChoice(environment: [name: ":0", "BROWSER": ""])
            #expect(choice.commands(for: "u") == [["xdg-open", "u"]])
        }
    }

    @Test func `without a display the error names what to use instead`() throws {
        let error = #expect(throws: UserAgentError.self) { try BrowserChoice(environment: ["DISPLAY": ""]) }
        #expect(error == .unavailable(.noDisplay))
        #expect(error?.hint?.text.contains("--paste") == true)
    }
}
