import Foundation
import LatchkeyLog
import Testing
import TestServices

@testable import LatchkeySignIn

struct BrowserChoiceTests {
    private func commands(_ browser: String) throws -> [[String]] {
        try BrowserChoice(environment: ["BROWSER": browser]).commands(for: "http://h/%s")
    }

    @Test func `BROWSER holds several commands, and the address replaces the mark or comes last`() throws {
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
    func `an invalid BROWSER is refused`(browser: String) {
        #expect(throws: UserAgentError.unavailable(.malformedBrowser)) { try commands(browser) }
    }

    @Test func `without BROWSER the desktop's browser is used, if a display exists`() throws {
        for name in ["DISPLAY", "WAYLAND_DISPLAY"] {
            let choice = try BrowserChoice(environment: [name: ":0", "BROWSER": ""])
            #expect(choice.commands(for: "u") == [["xdg-open", "u"]])
        }
    }

    @Test func `without a display the error names an alternative`() throws {
        let error = #expect(throws: UserAgentError.self) { try BrowserChoice(environment: ["DISPLAY": ""]) }
        #expect(error == .unavailable(.noDisplay))
        #expect(error?.recoveries == [.paste])
    }

    // MARK: - Private windows

    private func ephemeral(_ browser: String) throws -> [[String]] {
        try BrowserChoice(environment: ["BROWSER": browser, "PATH": "/nonexistent"], ephemeral: true)
            .commands(for: "u")
    }

    @Test(arguments: [
        ("firefox", ["firefox", "--private-window", "u"]),
        ("firefox --new-window %s --kiosk", ["firefox", "--private-window", "u", "--kiosk"]),
        ("/usr/lib/firefox-esr --private-window", ["/usr/lib/firefox-esr", "--private-window", "u"]),
        ("librewolf -P work", ["librewolf", "-P", "work", "--private-window", "u"]),
        ("chromium --app=%s", ["chromium", "--incognito", "--app=u"]),
        ("google-chrome --incognito", ["google-chrome", "--incognito", "u"]),
        ("brave-browser", ["brave-browser", "--incognito", "u"]), ("vivaldi", ["vivaldi", "--incognito", "u"]),
        ("microsoft-edge", ["microsoft-edge", "--inprivate", "u"]),
    ])
    func `a known browser gets its own option for a private window`(
        browser: String, command: [String]
    ) throws {
        #expect(try ephemeral(browser) == [command])
    }

    @Test func `a private window opens only on request`() throws {
        #expect(try commands("firefox:chromium") == [["firefox", "http://h/%s"], ["chromium", "http://h/%s"]])
    }

    @Test func `of several browsers only those with private windows are tried`() throws {
        #expect(try ephemeral("lynx:chromium:w3m") == [["chromium", "--incognito", "u"]])
    }

    @Test(arguments: ["lynx", "xdg-open", "/opt/my-firefox", "flatpak run org.mozilla.firefox"])
    func `an unknown browser is never used for a private window`(browser: String) throws {
        let error = #expect(throws: UserAgentError.self) { try ephemeral(browser) }
        #expect(error == .unavailable(.noPrivateWindow))
        #expect(error?.recoveries == [.paste])
    }

    @Test func `an installed browser with private windows is found, behind a link too`() async throws {
        let folder = try TestDirectory()
        let environment = ["DISPLAY": ":0", "PATH": folder.path]
        _ = try folder.script("xdg-open", "exit 1")
        #expect(throws: UserAgentError.unavailable(.noPrivateWindow)) {
            try BrowserChoice(environment: environment, ephemeral: true)
        }
        let chromium = try folder.script("chromium", "exit 1")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/x-www-browser", withDestinationPath: chromium)
        let choice = try BrowserChoice(environment: environment, ephemeral: true)
        #expect(
            choice.commands(for: "u") == [["x-www-browser", "--incognito", "u"], ["chromium", "--incognito", "u"]])
        #expect(throws: UserAgentError.unavailable(.noDisplay)) {
            try BrowserChoice(environment: ["PATH": folder.path], ephemeral: true)
        }
    }
}
