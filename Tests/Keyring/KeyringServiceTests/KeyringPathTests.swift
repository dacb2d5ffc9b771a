@testable import LatchkeyKeyringService
internal import Testing

struct KeyringPathTests {
    @Test(arguments: [
        "/org/freedesktop/secrets", "/org/freedesktop/secrets/collection/login",
        "/org/freedesktop/secrets/collection/login/i12", "/org/freedesktop/secrets/aliases/default",
        "/org/freedesktop/secrets/aliases/default/0_Az", "/org/freedesktop/secrets/session/s1",
        "/org/freedesktop/secrets/prompt/p1", "/", "/org", "/org/freedesktop", "/org/freedesktop/secrets/collection",
        "/org/freedesktop/secrets/aliases", "/org/freedesktop/secrets/session", "/org/freedesktop/secrets/prompt",
    ])
    func `paths of the service are read and written in the same form`(_ path: String) {
        #expect(KeyringPath(path)?.text == path)
    }

    @Test(arguments: [
        "", "//", "/org/", "org", "/org/freedesktop/secret", "/org/freedesktop/secrets/", "/org/freedesktop/DBus",
        "/org/freedesktop/secrets/other", "/org/freedesktop/secrets/collection/a-b",
        "/org/freedesktop/secrets/collection//x", "/org/freedesktop/secrets/collection/a/b/c",
        "/org/freedesktop/secrets/session/s1/x", "/org/freedesktop/secrets/collection/é",
        "/org/freedesktop/secrets/collection/" + String(repeating: "a", count: 65),
    ])
    func `a path of another form is refused`(_ path: String) {
        #expect(KeyringPath(path) == nil)
    }

    @Test func `an alias isn't the collection with the same name`() {
        #expect(KeyringPath("/org/freedesktop/secrets/aliases/login") == .collection(.alias("login")))
        #expect(KeyringPath("/org/freedesktop/secrets/collection/login") == .collection(.name("login")))
    }
}
