import LatchkeyCredentials
import Testing

@Suite struct CredentialListingTests {
    static func accounts(_ pages: [[String]?]) async throws -> [String] {
        var accounts: [String] = []
        for try await entry in PagedStore(pages: pages).list() { accounts.append(entry.key.account) }
        return accounts
    }

    @Test func `pages come one after the other`() async throws {
        #expect(try await Self.accounts([["a", "b"], ["c"], ["d", "e", "f"]]) == ["a", "b", "c", "d", "e", "f"])
        #expect(try await PagedStore(pages: [["a"], ["b"]]).list().all().map(\.key.account) == ["a", "b"])
    }

    @Test func `empty pages in between are no end`() async throws {
        #expect(try await Self.accounts([[], ["a"], [], [], ["b"], []]) == ["a", "b"])
        #expect(try await Self.accounts([]).isEmpty)
        #expect(try await Self.accounts([[]]).isEmpty)
    }

    @Test func `a page that fails ends the listing with its error, after what came before`() async throws {
        var iterator = PagedStore(pages: [["a", "b"], nil, ["c"]]).list().makeAsyncIterator()
        #expect(try await iterator.next()?.key.account == "a")
        #expect(try await iterator.next()?.key.account == "b")
        await #expect(throws: StoreError.self) { _ = try await iterator.next() }
    }

    @Test func `the service is passed on`() async throws {
        let entries = try await PagedStore(pages: [["a"], ["b"]]).list(service: "github").all()
        #expect(entries.map(\.key.service) == ["github", "github"])
    }

    @Test func `after the end comes nothing more`() async throws {
        var iterator = PagedStore(pages: [["a"]]).list().makeAsyncIterator()
        _ = try await iterator.next()
        for _ in 0..<3 { #expect(try await iterator.next() == nil) }
    }
}
