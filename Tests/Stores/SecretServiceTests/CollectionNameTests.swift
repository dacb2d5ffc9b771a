import LatchkeyLog
import Testing

@testable import LatchkeySecretService

struct CollectionNameTests {
    private typealias Collection = SecretServiceConfiguration.Collection

    @Test func `two words are aliases, what starts with a slash is a path, and all else a label`() throws {
        #expect(try Collection.named("default") == .standard)
        #expect(try Collection.named("session") == .session)
        #expect(try Collection.named("Default") == .labelled("Default"))
        #expect(try Collection.named("collection/login") == .labelled("collection/login"))
        let path = "/org/freedesktop/secrets/collection/Work_5f1"
        #expect(try Collection.named(path) == .at(path: path))
        #expect(try Collection.named(path).text == path)
        #expect(try Collection.labelled("default") != .standard)
    }

    @Test(arguments: [
        "/", "/org/freedesktop/secrets/aliases/default", "/org/freedesktop/secrets/collection/",
        "/org/freedesktop/secrets/collection/a/b", "/org/freedesktop/secrets/collection/a-b",
        "/org/freedesktop/secrets/collection/a\n", "/org/freedesktop/secrets/collection/ł",
        "/org/freedesktop/secrets/collection/" + String(repeating: "a", count: 1024),
    ])
    func `a path that no collection has is refused`(_ path: String) {
        #expect(refusal { try Collection.named(path) } == "the collection's path is none of the Secret Service's")
    }

    @Test func `a label is text of 1 to 1024 bytes without a NUL`() throws {
        #expect(refusal { try Collection.named("") } == "the collection's name is empty")
        #expect(refusal { try Collection.named("a\0b") } == "the collection's label contains a NUL")
        let longest = String(repeating: "ł", count: 512)
        #expect(try Collection.named(longest).text == longest)
        #expect(refusal { try Collection.named(longest + "l") } == "the collection's name is longer than 1024 bytes")
    }

    private func refusal(_ body: () throws -> Collection) -> String? {
        #expect(throws: InvalidValue.self) { _ = try body() }?.cause.text
    }
}
