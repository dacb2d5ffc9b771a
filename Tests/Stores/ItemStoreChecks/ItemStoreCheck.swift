package import LatchkeyCredentials

/// One sentence that holds for every store of items, with what shows it.
///
/// Tests give each a new, empty store: `@Test(arguments: ItemStoreCheck.all) func …(_ check: ItemStoreCheck)`.
package struct ItemStoreCheck: Sendable, CustomStringConvertible {
    package let description: String
    private let body: @Sendable (any ItemStore) async throws -> Void

    init(every sentence: String, _ body: @escaping @Sendable (any ItemStore) async throws -> Void) {
        description = sentence
        self.body = body
    }

    /// Of stores that can be served alone.
    init(_ sentence: String, _ body: @escaping @Sendable (any CollectionStore) async throws -> Void) {
        description = sentence
        self.body = { try await body(required($0.collections)) }
    }

    package func run(on store: any ItemStore) async throws { try await body(store) }

    package static var all: [ItemStoreCheck] { every + items + changes + collections + limits }
}

/// What a check found otherwise. Swift Testing's own macros exist for test targets alone.
struct Unmet: Error, CustomStringConvertible {
    let description: String
}

func expect(_ holds: Bool, _ what: String = "", file: String = #fileID, line: Int = #line) throws(Unmet) {
    if !holds { throw Unmet(description: "doesn't hold at \(file):\(line) \(what)") }
}

func required<Value>(_ value: Value?, file: String = #fileID, line: Int = #line) throws(Unmet) -> Value {
    guard let value else { throw Unmet(description: "is nil at \(file):\(line)") }
    return value
}
