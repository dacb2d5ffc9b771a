import Foundation
import LatchkeyCredentials
import LatchkeySecrets
import LatchkeyStoreContract
import Testing

/// The suite itself: a store with one fault must break a statement that tells of it.
@Suite struct ContractSuiteTests {
    /// Each run sleeps for a second, so all run in one test: others run meanwhile.
    @Test func `the contract suite finds a store with a fault`() async {
        await withTaskGroup { group in
            for fault in FaultyStore.Fault.allCases {
                group.addTask { do { try await find(fault) } catch { Issue.record(error, "\(fault)") } }
            }
            await group.waitForAll()
        }
    }

    private func find(_ fault: FaultyStore.Fault) async throws {
        var broken: [String] = []
        for statement in ContractCase.all {
            let leases = try LeaseFolder()
            defer { leases.remove() }
            do {
                try await statement.check(leases: leases.directory) {
                    // Small, since copies are slow in a debug build.
                    let limit = fault == .noLimit ? 1 << 16 : 1 << 15
                    return FaultyStore(try InMemoryStore(maximumSecretByteCount: limit), fault)
                }
            } catch let violation as ContractViolation {
                #expect(violation.statement == statement.statement)
                #expect(violation.description.contains(statement.statement) && !violation.detail.isEmpty)
                broken.append(violation.statement)
            }
        }
        #expect(broken.contains { $0.contains(fault.rawValue) }, "\(fault) broke: \(broken)")
    }

    @Test func `a store that takes smaller secrets keeps the contract`() async throws {
        for statement in ContractCase.all {
            let leases = try LeaseFolder()
            defer { leases.remove() }
            try await statement.check(leases: leases.directory) { try InMemoryStore(maximumSecretByteCount: 1 << 15) }
        }
    }

    @Test func `a fault breaks no other statements than those about it`() async {
        await withTaskGroup { group in
            for fault in [nil] + TableStore.Fault.allCases {
                group.addTask {
                    do { try await distinguish(fault) } catch { Issue.record(error, "\(String(describing: fault))") }
                }
            }
            await group.waitForAll()
        }
    }

    private func distinguish(_ fault: TableStore.Fault?) async throws {
        var broken: [String] = []
        for statement in ContractCase.all {
            let leases = try LeaseFolder()
            defer { leases.remove() }
            let table = TableStore.Table()
            do {
                try await statement.check(leases: leases.directory) { TableStore(table, fault) }
            } catch let violation as ContractViolation {
                broken.append(violation.description)
            }
        }
        let pieces = fault?.broken ?? []
        let comment = Comment(rawValue: "\(fault, default: "no fault") broke: \(broken)")
        #expect(broken.count == pieces.count, comment)
        for piece in pieces { #expect(broken.contains { $0.contains(piece) }, comment) }
    }

    @Test func `the suite has many statements, each once`() {
        #expect(ContractCase.all.count >= 45)
        #expect(Set(ContractCase.all.map(\.statement)).count == ContractCase.all.count)
    }
}

/// A good store behind one fault.
struct FaultyStore: CredentialStore {
    /// Each with a piece of a statement that it must break.
    enum Fault: String, CaseIterable, Sendable {
        case ignoresKind = "kinds are separate"
        case foldsCase = "names that differ in case"
        case normalises = "two normal forms"
        case cutsAtNUL = "every byte value, NUL included"
        case dropsEmpty = "an empty secret is stored"
        case ignoresConditions = "a save on condition of absence"
        case ignoresDeadlines = "an operation whose deadline has passed"
        case ignoresCancellation = "an operation of a task that was cancelled"
        case deletesTwice = "a delete removes one credential"
        case listsOneService = "a listing without a service"
        case repeatsPages = "a listing gives every credential of a service once"
        case keepsVersions = "a version differs after each change"
        case forgetsLabels = "a label is stored"
        case noLimit = "a secret above the store's limit"
        case reportsNothing = "saves and deletes are reported"
    }

    let store: InMemoryStore
    let fault: Fault
    var identity: StoreIdentity { store.identity }

    init(_ store: InMemoryStore, _ fault: Fault) {
        self.store = store
        self.fault = fault
    }

    var capabilities: StoreCapabilities {
        var capabilities = store.capabilities
        if fault == .noLimit { capabilities.maximumSecretByteCount = 1 << 15 }
        return capabilities
    }

    private func changed(_ key: CredentialKey) -> CredentialKey {
        let changed: CredentialKey? =
            switch fault {
            case .ignoresKind: try? CredentialKey(service: key.service, account: key.account)
            case .foldsCase: try? CredentialKey(service: key.service, account: key.account.lowercased(), kind: key.kind)
            case .normalises:
                try? CredentialKey(
                    service: key.service.replacing("e\u{301}", with: "\u{E9}"),
                    account: String(key.account.map { $0 == "\u{E9}" ? "\u{E9}" : $0 }), kind: key.kind)
            default: key
            }
        return changed ?? key
    }

    private func changed(_ deadline: Deadline) -> Deadline { fault == .ignoresDeadlines ? .standard : deadline }

    private func changed(_ condition: WriteCondition) -> WriteCondition {
        fault == .ignoresConditions ? .none : condition
    }

    /// Runs outside the caller's task, which may be cancelled, where that is the fault.
    private func shielded<Result: Sendable>(
        _ body: @escaping @Sendable () async throws(StoreError) -> Result
    ) async throws(StoreError) -> Result {
        guard fault == .ignoresCancellation else { return try await body() }
        let outcome = await Task { () async -> Swift.Result<Result, StoreError> in
            do throws(StoreError) { return .success(try await body()) } catch { return .failure(error) }
        }.value
        return try outcome.get()
    }

    func save<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, for key: CredentialKey, options: SaveOptions, deadline: Deadline
    ) async throws(StoreError) -> CredentialVersion {
        if fault == .dropsEmpty && secret.isEmpty {
            return CredentialVersion(bytes: [UInt8](repeating: 0, count: 16))
        }
        var options = options
        options.condition = changed(options.condition)
        if fault == .forgetsLabels { options.label = nil }
        guard fault == .cutsAtNUL || fault == .ignoresCancellation else {
            let version = try await store.save(
                secret, for: changed(key), options: options, deadline: changed(deadline))
            return fault == .keepsVersions ? CredentialVersion(bytes: [UInt8](repeating: 1, count: 16)) : version
        }
        let bytes = secret.withExposedBytes { span in unsafe span.withUnsafeBufferPointer { unsafe Array($0) } }
        let kept = fault == .cutsAtNUL ? Array(bytes.prefix { $0 != 0 }) : bytes
        let settings = options
        return try await shielded { () async throws(StoreError) in
            try await store.save(
                Secret<Password>(copying: kept.span), for: changed(key), options: settings, deadline: deadline)
        }
    }

    func read<Purpose: SecretPurpose>(
        _ key: CredentialKey, as purpose: Purpose.Type, deadline: Deadline
    ) async throws(StoreError) -> CredentialRecord<Purpose>? {
        let deadline = fault == .ignoresDeadlines ? .standard : deadline
        return try await store.read(changed(key), as: purpose, deadline: deadline)
    }

    func delete(
        _ key: CredentialKey, condition: WriteCondition, deadline: Deadline
    ) async throws(StoreError) -> Bool {
        let found = try await shielded { () async throws(StoreError) in
            try await store.delete(changed(key), condition: changed(condition), deadline: changed(deadline))
        }
        return fault == .deletesTwice ? true : found
    }

    func page(
        service: String?, after cursor: ListingCursor?, deadline: Deadline
    ) async throws(StoreError) -> ListingPage {
        let service = service ?? (fault == .listsOneService ? "one" : nil)
        let page = try await store.page(service: service, after: cursor, deadline: changed(deadline))
        guard fault == .repeatsPages, let first = page.entries.first else { return page }
        return ListingPage(entries: page.entries + [first], next: page.next)
    }

    func changes(deadline: Deadline) async throws(StoreError) -> AsyncStream<CredentialChange> {
        let changes = try await store.changes(deadline: deadline)
        return fault == .reportsNothing ? AsyncStream { $0.finish() } : changes
    }
}

/// A lease directory of one test's own, which the test removes.
struct LeaseFolder {
    let directory: LeaseDirectory
    private let path: String

    init() throws {
        path = "/tmp/lk-\(UInt64.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        directory = LeaseDirectory(path: path + "/leases")
    }

    func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }
}
