package import LatchkeyItems

/// One sentence that holds for every store of items, with what shows it.
///
/// Tests give each a new, empty store: `@Test(arguments: ItemStoreCheck.all) func …(_ check: ItemStoreCheck)`.
package struct ItemStoreCheck: Sendable, CustomStringConvertible {
    package let description: String
    private let body: @Sendable (any ItemStore) async throws -> Void

    init(_ sentence: String, _ body: @escaping @Sendable (any ItemStore) async throws -> Void) {
        description = sentence
        self.body = body
    }

    package func run(on store: any ItemStore) async throws { try await body(store) }

    package static var all: [ItemStoreCheck] { items + changes + collections + limits }
}
