import Foundation
import LatchkeyCredentials
import LatchkeyLog
import LatchkeyOAuth
import LatchkeySecrets
import Testing
import TestSecrets
import TestServices

@testable import LatchkeySignIn

struct SessionStoreTests {
    private let folder: TestDirectory
    private let store: InMemoryStore
    private let sessions: SessionStore

    init() throws {
        folder = try TestDirectory()
        store = try InMemoryStore()
        sessions = SessionStore(store: store, provider: "test", leases: LeaseDirectory(path: folder.path))
    }

    private func session(
        _ account: String = "octocat", refresh: String? = "refresh", expiry: Int64? = 2000, token: String = "access"
    ) -> StoredSession {
        StoredSession(
            authority: "https://example.org/\u{FC}", clientID: "client", account: account, subject: "42",
            scopes: ["a", "b:c"], issued: UnixTime(seconds: 1000), expiry: expiry.map(UnixTime.init(seconds:)),
            basicForm: .raw, accessToken: .test(token), refreshToken: refresh.map { .test($0) })
    }

    @Test(arguments: [nil, "refresh \"\\ \u{1F511}"])
    func `a session is read back unchanged`(refresh: String?) async throws {
        try await sessions.save(session("\u{E9}t\u{E9} & co.", refresh: refresh))
        guard let found = try await sessions.load("\u{E9}t\u{E9} & co.") else {
            Issue.record("no session")
            return
        }
        let (summary, access) = (found.summary, found.accessToken.testText)
        let kept: String? =
            switch found.refreshToken {
            case .some(let token): token.testText
            case .none: nil
            }
        #expect(summary == session("\u{E9}t\u{E9} & co.", refresh: refresh).summary)
        #expect(access == "access")
        #expect(kept == refresh)
        let (authority, client, form) = (found.authority, found.clientID, found.basicForm)
        #expect(authority == "https://example.org/\u{FC}" && client == "client" && form == .raw)
    }

    @Test func `the example of the format's page is read`() async throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let page = try String(
            contentsOf: folder.appendingPathComponent("../../../Docs/Reference/session-format.md"), encoding: .utf8)
        let example = try #require(
            page.components(separatedBy: "```json\n").last?.components(separatedBy: "\n```").first)
        let key = try CredentialKey(service: "latchkey:test", account: "alice", kind: .session)
        try await store.save(Secret<StoredLogin>.test(example), for: key)
        let summary = try await sessions.load("alice")?.summary
        #expect(
            summary
                == SessionSummary(
                    account: "alice", subject: "248289761001", scopes: ["openid", "offline_access"],
                    issued: UnixTime(seconds: 1_790_000_000), expiry: UnixTime(seconds: 1_790_003_600),
                    isRefreshable: true))
        // And written again as it stands there.
        if let session = try await sessions.load("alice") { try await sessions.save(session) }
        let written = try await store.read(key, as: StoredLogin.self)?.takeSecret().testText
        #expect(written == example)
    }

    @Test func `each account has one item, named as the format's page says`() async throws {
        try await sessions.save(session())
        try await sessions.setCurrentAccount("octocat")
        let keys = try await store.list().all().map(\.key)
        #expect(
            try Set(keys) == [
                CredentialKey(service: "latchkey:test", account: "octocat", kind: .session),
                CredentialKey(service: "latchkey:test", account: "current", kind: .current),
            ])
    }

    @Test func `absence is nil, and deleting nothing is false`() async throws {
        let isAbsent = try await sessions.load("nobody") == nil
        #expect(isAbsent)
        #expect(try await sessions.currentAccount() == nil)
        #expect(try await !sessions.delete("nobody"))
        #expect(try await sessions.accounts() == [])
    }

    @Test func `deleting the current account's session leaves no current account`() async throws {
        try await sessions.save(session("a"))
        try await sessions.save(session("b"))
        try await sessions.setCurrentAccount("a")
        #expect(try await sessions.delete("b"))
        #expect(try await sessions.currentAccount() == "a")
        #expect(try await sessions.delete("a"))
        #expect(try await sessions.currentAccount() == nil)
    }

    @Test func `an account can have the name current`() async throws {
        try await sessions.save(session("current"))
        try await sessions.setCurrentAccount("current")
        #expect(try await sessions.accounts() == ["current"])
        #expect(try await sessions.load("current")?.account == "current")
    }

    @Test(arguments: [
        // Another account's.
        #"{"latchkey_session":1,"token_type":"Bearer","authority":"a","client_id":"c","account":"y","access_token":"t"}"#,
        "", "{}", "null", "[]", "{\"latchkey_session\":1}", "not json",
        #"{"latchkey_session":2,"token_type":"Bearer","authority":"a","client_id":"c","account":"x","access_token":"t"}"#,
        #"{"latchkey_session":1,"token_type":"MAC","authority":"a","client_id":"c","account":"x","access_token":"t"}"#,
        #"{"latchkey_session":1,"token_type":"Bearer","authority":"a","client_id":"c","account":"x","access_token":""}"#,
        #"{"latchkey_session":1,"token_type":"Bearer","authority":"a","client_id":"c","account":"x","access_token":1}"#,
        #"{"latchkey_session":1,"token_type":"Bearer","authority":"a","client_id":"c","account":"x","access_token":"t","scopes":[" "]}"#,
        #"{"latchkey_session":1,"token_type":"Bearer","authority":"a","client_id":"c","account":"x","access_token":"t","expires_at":"1"}"#,
    ])
    func `a malformed session is a typed error without its text`(text: String) async throws {
        let key = try CredentialKey(service: "latchkey:test", account: "x", kind: .session)
        try await store.save(Secret<StoredLogin>.test(text), for: key)
        let error = await #expect(throws: StoreError.self) { _ = try await sessions.load("x") }
        #expect(error?.code == .corrupted)
        #expect(error?.hint?.text == "sign in again")
    }

    @Test func `an unreadable session is listed as such, and hides no other`() async throws {
        try await sessions.save(session("b"))
        let key = try CredentialKey(service: "latchkey:test", account: "a", kind: .session)
        try await store.save(Secret<StoredLogin>.test("damaged"), for: key)
        let summaries = try await sessions.summaries()
        #expect(summaries.map(\.account) == ["a", "b"])
        #expect(summaries.map(\.isReadable) == [false, true])
    }

    @Test func `a session is fresh until a minute before its end, or the last quarter of a short life`() {
        func isFresh(life: Int64?, age: Int64) -> Bool {
            session(expiry: life.map { 1000 + $0 }).isFresh(at: UnixTime(seconds: 1000 + age))
        }
        #expect(isFresh(life: 3600, age: 3539))
        #expect(!isFresh(life: 3600, age: 3540))
        #expect(isFresh(life: 8, age: 5))
        #expect(!isFresh(life: 8, age: 6))
        // If the server didn't say, for an hour.
        #expect(isFresh(life: nil, age: 3599))
        #expect(!isFresh(life: nil, age: 3600))
        #expect(!isFresh(life: -5, age: 0))
    }

    @Test(arguments: ["", "a\nb", String(repeating: "x", count: 1025)])
    func `a name that can't be a key is refused`(account: String) async throws {
        let error = await #expect(throws: StoreError.self) { _ = try await sessions.load(account) }
        #expect(error?.codeName.description == "store.permission-denied")
    }
}
