public import LatchkeyCredentials
internal import LatchkeyLeakAudit

/// One statement that every store must make true.
///
/// A store's own suite runs them all, each with a place of its own:
///
///     @Test(arguments: ContractCase.all)
///     func `keeps the store contract`(_ statement: ContractCase) async throws {
///         let folder = try TemporaryFolder()
///         defer { folder.remove() }
///         try await statement.check(leases: LeaseDirectory(path: folder.path + "/leases")) {
///             try await MyStore(path: folder.path + "/store")
///         }
///     }
///
/// A case makes services of its own with random names and leaves what others saved alone, so that cases may share one
/// keyring and run at once.
public struct ContractCase: Sendable, Identifiable, Hashable, CustomStringConvertible {
    /// The statement, as a sentence.
    public let statement: String
    let body: @Sendable (ContractContext) async throws -> Void

    public var id: String { statement }
    public var description: String { statement }

    init(_ statement: String, _ body: @escaping @Sendable (ContractContext) async throws -> Void) {
        self.statement = statement
        self.body = body
    }

    /// A statement about a new and empty store of items.
    init(items statement: String, _ body: @escaping @Sendable (any ItemStore) async throws -> Void) {
        self.init(statement) { context in try await body(required(context.store.items)) }
    }

    /// The same of one that has collections of its own, and so can be served.
    init(collections statement: String, _ body: @escaping @Sendable (any CollectionStore) async throws -> Void) {
        self.init(items: statement) { store in try await body(required(store.collections)) }
    }

    public static func == (left: ContractCase, right: ContractCase) -> Bool { left.statement == right.statement }

    public func hash(into hasher: inout Hasher) { hasher.combine(statement) }

    /// Every statement, in reading order.
    public static let all: [ContractCase] =
        keeping + naming + bytes + describing + listing + conditions + concurrency + ending + leases + persistence
        + reporting

    /// Every statement of stores of items but `hiddenKinds`. Each needs a store of its own.
    package static var allOfItems: [ContractCase] { items + servedItems + collections }

    /// How much a case repeats what it repeats.
    public enum Effort: Sendable, Hashable {
        /// A few seconds for the whole suite.
        case standard
        /// Ten times that, for a night.
        case long
    }

    /// Checks the statement, and throws ``ContractViolation`` if it is false. An error of the first `open` is thrown
    /// unchanged.
    ///
    /// - Parameters:
    ///   - leases: a directory for this case, or for all cases on the same store.
    ///   - effort: the number of repetitions.
    ///   - open: returns the store under test. The case calls it again to open the same place a second time, as another
    ///     process would. A store that isn't persistent is opened once.
    public func check(
        leases: LeaseDirectory, effort: Effort = .standard,
        open: @escaping @Sendable () async throws -> any CredentialStore
    ) async throws {
        let store = try await open()
        let context = ContractContext(store: store, leases: leases, effort: effort, open: open)
        do {
            try await body(context)
            if let finding = context.audit.report().findings.first { throw ContractViolation("found \(finding)") }
        } catch {
            var violation = error as? ContractViolation ?? ContractViolation("it threw \(error)")
            violation.statement = statement
            throw violation
        }
    }

    /// Checks a statement of stores of items, none of which takes a lease.
    package func check(on store: any ItemStore) async throws {
        try await check(leases: .standard) { store }
    }
}

/// A store broke a statement of the contract. The violation is thrown, so that it fails a test of Swift Testing and of
/// XCTest alike.
public struct ContractViolation: Error, Hashable, Sendable, CustomStringConvertible {
    /// The sentence that doesn't hold.
    public internal(set) var statement = ""
    /// The actual result.
    public let detail: String
    /// The place in the suite, such as `Extras/StoreContract/SavingCases.swift:20`.
    public let place: String

    init(_ detail: String, file: StaticString = #fileID, line: UInt = #line) {
        self.detail = detail
        place = "\(file):\(line)"
    }

    public var description: String { "the store breaks the contract: \(statement): \(detail) (\(place))" }
}
