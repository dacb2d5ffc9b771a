public import Latchkey

/// Your own store. This one is a drawer in memory; yours asks its service where this one asks the drawer.
public struct DrawerStore: CredentialStore {
    public let identity: StoreIdentity
    private let drawer = Drawer()

    /// - Parameter name: tells drawers apart, in logs and in the leases by which processes agree.
    public init(named name: String) {
        identity = StoreIdentity(backend: "drawer", location: name)
    }

    /// What it promises beyond the contract. The contract's cases go by this.
    public var capabilities: StoreCapabilities {
        StoreCapabilities(
            isPersistent: false, canLock: false, reportsChanges: false, hasAtomicConditions: true,
            hasVersionsInListing: true, keepsContentType: true, maximumSecretByteCount: 1 << 20)
    }

    public func save<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, for key: CredentialKey, options: SaveOptions, deadline: Deadline
    ) async throws(StoreError) -> CredentialVersion {
        try Self.check(deadline)
        guard secret.byteCount <= capabilities.maximumSecretByteCount else {
            throw StoreError(.tooLarge, "the drawer takes \(capabilities.maximumSecretByteCount) bytes")
        }
        return try await drawer.put(Kept(secret.duplicate().repurposed(as: Password.self)), key, options)
    }

    public func read<Purpose: SecretPurpose>(
        _ key: CredentialKey, as purpose: Purpose.Type, deadline: Deadline
    ) async throws(StoreError) -> CredentialRecord<Purpose>? {
        try Self.check(deadline)
        guard let item = await drawer.items[key], let version = item.metadata.version else { return nil }
        return CredentialRecord(
            metadata: item.metadata, version: version, contentType: item.contentType,
            secret: item.kept.secret.duplicate().repurposed(as: purpose))
    }

    public func delete(
        _ key: CredentialKey, condition: WriteCondition, deadline: Deadline
    ) async throws(StoreError) -> Bool {
        try Self.check(deadline)
        return try await drawer.remove(key, condition)
    }

    public func page(
        service: String?, after cursor: ListingCursor?, deadline: Deadline
    ) async throws(StoreError) -> ListingPage {
        try Self.check(deadline)
        let all = await drawer.items.values.map(\.metadata)
        // By its bytes: two normal forms of one text are two names.
        let asked = all.filter { service?.utf8.elementsEqual($0.key.service.utf8) ?? true }
        // Few enough for one page. A larger store returns a cursor with it.
        return ListingPage(entries: asked.sorted { $0.key.account < $1.key.account }, next: nil)
    }

    private static func check(_ deadline: Deadline) throws(StoreError) {
        if Task.isCancelled { throw StoreError(.cancelled, "the task was cancelled") }
        if deadline.remaining == .zero { throw StoreError(.timedOut, "the time is over") }
    }
}

/// A secret can't be copied, so a dictionary holds an object that owns it.
private final class Kept: Sendable {
    let secret: Secret<Password>

    init(_ secret: consuming Secret<Password>) {
        self.secret = secret
    }
}

private actor Drawer {
    struct Item {
        let metadata: CredentialMetadata
        let contentType: SecretContentType
        let kept: Kept
    }

    private(set) var items: [CredentialKey: Item] = [:]
    private var number: UInt64 = 0

    func put(_ kept: Kept, _ key: CredentialKey, _ options: SaveOptions) throws(StoreError) -> CredentialVersion {
        let old = items[key]
        try check(options.condition, old)
        number += 1
        let version = CredentialVersion(bytes: (0..<16).map { UInt8(truncatingIfNeeded: number >> (8 * ($0 % 8))) })
        let metadata = CredentialMetadata(
            key: key, label: options.label ?? old?.metadata.label ?? "\(key.service): \(key.account)",
            created: old?.metadata.created ?? .now(), modified: .now(), version: version)
        items[key] = Item(metadata: metadata, contentType: options.contentType, kept: kept)
        return version
    }

    func remove(_ key: CredentialKey, _ condition: WriteCondition) throws(StoreError) -> Bool {
        try check(condition, items[key])
        return items.removeValue(forKey: key) != nil
    }

    /// In the same step as the change, so that of two writers one is told.
    private func check(_ condition: WriteCondition, _ old: Item?) throws(StoreError) {
        switch condition {
        case .none: return
        case .absent where old == nil: return
        case .matches(let version) where old?.metadata.version == version: return
        case .absent, .matches: throw StoreError(.conflict, "the credential is another one by now")
        }
    }
}
