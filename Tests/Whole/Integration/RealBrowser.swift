import Foundation
import Testing
import TestServices

/// What a person sees and does in a real browser: Debian's Chromium, one for each suite in here, one test after the
/// other.
enum RealBrowser {
    @TaskLocal static var current: HeadlessBrowser?

    /// The browser of a suite in here.
    static func browser() throws -> HeadlessBrowser {
        try #require(current, "a test outside of RealBrowser has no browser")
    }
}

/// Starts Chromium before a suite, and ends it afterwards.
struct ChromiumTrait: SuiteTrait, TestScoping {
    @concurrent func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let browser = try await HeadlessBrowser()
        try await RealBrowser.$current.withValue(browser) { try await function() }
        await browser.stop()
    }
}

extension Trait where Self == ChromiumTrait {
    static var inChromium: Self { ChromiumTrait() }
}

extension FlowSession {
    /// Signs in through a browser in which somebody does what `person` says, once the page is there.
    @discardableResult
    func signIn(
        in browser: HeadlessBrowser, expecting status: Int32 = 0, page: String = "Let latchkey sign you in as octocat?",
        sourceLocation: SourceLocation = #_sourceLocation, person: (BrowserTab, RunningProgram) async throws -> Void
    ) async throws -> ProgramRun {
        let running = try BuiltProducts.latchkey().start(logging() + signIn, environment: environment)
        let tab = try await browser.newTab()
        try await tab.wait(forTitle: page)
        try await person(tab, running)
        let run = try await running.finish()
        try note(run, signIn)
        #expect(run.status == status, "\(run.errorText)", sourceLocation: sourceLocation)
        return run
    }
}
