public import LatchkeyCredentials

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

    public static func == (left: ContractCase, right: ContractCase) -> Bool { left.statement == right.statement }

    public func hash(into hasher: inout Hasher) { hasher.combine(statement) }

    /// Every statement, in reading order.
    public static let all: [ContractCase] =
        keeping + naming + bytes + describing + listing + conditions + concurrency + ending + leases + persistence
        + reporting

    /// How much a case repeats what it repeats.
    public enum Effort: Sendable, Hashable {
        /// A few seconds for the whole suite.
        case standard
        /// Ten times that, for a night.
        case long
    }

    /// Checks the statement, and throws ``ContractViolation`` when it doesn't hold.
    ///
    /// - Parameters:
    ///   - leases: a directory for this case alone, or for all cases on the same store.
    ///   - effort: how often it repeats what it repeats.
    ///   - open: returns the store under test. It is called again for a second look at the same place, as another
    ///     process would have it; a store that is not persistent is opened once.
    public func check(
        leases: LeaseDirectory, effort: Effort = .standard,
        open: @escaping @Sendable () async throws -> any CredentialStore
    ) async throws {
        let store = try await open()
        let context = ContractContext(statement: statement, store: store, leases: leases, effort: effort, open: open)
        do {
            try await body(context)
        } catch let violation as ContractViolation {
            throw violation
        } catch {
            throw ContractViolation(statement: statement, detail: "it threw \(error)", place: "StoreContract")
        }
    }
}
