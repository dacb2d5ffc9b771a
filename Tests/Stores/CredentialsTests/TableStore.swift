import Foundation
import LatchkeyCredentials
import LatchkeyLog
import LatchkeySecrets
import Synchronization

/// An opening of a table that keeps the contract, but for one fault: a wrong store that few cases tell from a good one.
struct TableStore: CredentialStore {
    enum Fault: CaseIterable, Sendable {
        case conflictOfAbsentShows, conflictOfMatchesShows, conflictOfDeleteShows, timedOutShows, cancelledShows
        case tooLargeShows, labelShows, versionShows
        case racesWithOthersSaves, racesWithOthersDeletes
        case versionsRestart, versionIsContent, foldsService, refusedSaveSetsLabel
        case pagesOfAllSkip, pagesOfAllRepeat, listingIsStale, ownKindIsPassword, decomposesLabel
        case modifiedStays, listsOtherTimes, deleteIgnoresAbsence, keepsOldType
        case emptySaveIgnoresVersion, emptyIgnoresVersion, laterPagesIgnoreDeadline, laterPagesIgnoreCancellation

        /// Pieces of the statements that it breaks, and no others.
        var broken: Set<String> {
            switch self {
            case .conflictOfAbsentShows, .conflictOfMatchesShows, .conflictOfDeleteShows, .labelShows, .versionShows:
                ["contain no part of a secret"]
            case .timedOutShows: ["an operation whose deadline has passed"]
            case .cancelledShows: ["an operation of a task that was cancelled"]
            case .tooLargeShows: ["a secret above the store's limit"]
            case .racesWithOthersSaves: ["that change one version at once", "that create one credential at once"]
            case .racesWithOthersDeletes: ["tasks that delete one key at once"]
            case .versionsRestart: ["a save on condition of a deleted version"]
            case .versionIsContent: ["a version differs after each change"]
            case .foldsService: ["names that differ in case"]
            case .refusedSaveSetsLabel: ["a save on condition of absence"]
            case .pagesOfAllSkip, .pagesOfAllRepeat, .laterPagesIgnoreDeadline, .laterPagesIgnoreCancellation:
                ["a listing gives every credential of a service once"]
            case .listingIsStale: ["two openings of one place see each other's changes"]
            case .ownKindIsPassword: ["kinds are separate"]
            case .decomposesLabel: ["a label is stored"]
            case .modifiedStays, .listsOtherTimes: ["the change time is that of the last save"]
            case .deleteIgnoresAbsence: ["a delete on condition of a version", "contain no part of a secret"]
            case .keepsOldType: ["a content type is true of the bytes"]
            case .emptySaveIgnoresVersion, .emptyIgnoresVersion: ["a save on condition of a version replaces"]
            }
        }
    }

    struct Entry: Sendable {
        var key: CredentialKey
        var bytes: [UInt8]
        var label: String
        var type: SecretContentType
        var created, modified: UnixTime
        var version: CredentialVersion
        /// The saves since it was created.
        var saves: UInt64
    }

    /// What all openings share.
    final class Table: Sendable {
        let entries = Mutex<[CredentialKey: Entry]>([:])
        let revision = Atomic<UInt64>(0)
    }

    /// What an opening has for itself.
    private final class Opening: Sendable {
        let writes = Mutex(0)
        /// With the table's revision, since sorting takes most of a listing's time.
        let listed = Mutex<(revision: UInt64, entries: [CredentialMetadata])?>(nil)
    }

    let table: Table
    let fault: Fault?
    private let opening = Opening()

    init(_ table: Table, _ fault: Fault?) {
        self.table = table
        self.fault = fault
    }

    let identity = StoreIdentity(backend: "table", location: "1")
    let capabilities = StoreCapabilities(
        isPersistent: true, canLock: false, reportsChanges: false, hasAtomicConditions: true,
        hasVersionsInListing: true, maximumSecretByteCount: 1 << 16)

    func save<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, for key: CredentialKey, options: SaveOptions, deadline: Deadline
    ) async throws(StoreError) -> CredentialVersion {
        let bytes = secret.withExposedBytes { span in unsafe span.withUnsafeBufferPointer { unsafe Array($0) } }
        try check(deadline, showing: bytes)
        guard bytes.count <= capabilities.maximumSecretByteCount else {
            throw refusal(.tooLarge, showing: fault == .tooLargeShows ? hexadecimal(bytes.prefix(40)) : "")
        }
        return try await change(key, isRacing: fault == .racesWithOthersSaves) { (old) throws(StoreError) in
            guard !holds(options.condition, of: old, saving: bytes) else { return }
            if fault == .refusedSaveSetsLabel, let label = options.label { old?.label = label }
            throw refusal(.conflict, showing: shown(bytes, in: options.condition))
        } change: { (old, entry) in
            let new = made(of: old, key, bytes, options)
            entry = new
            return new.version
        }
    }

    func read<Purpose: SecretPurpose>(
        _ key: CredentialKey, as purpose: Purpose.Type, deadline: Deadline
    ) async throws(StoreError) -> CredentialRecord<Purpose>? {
        try check(deadline)
        guard let entry = table.entries.withLock({ $0[place(key)] }) else { return nil }
        return CredentialRecord(
            metadata: CredentialMetadata(
                key: key, label: entry.label, created: entry.created, modified: entry.modified, version: entry.version),
            version: entry.version, contentType: entry.type, secret: Secret(copying: entry.bytes.span))
    }

    func delete(
        _ key: CredentialKey, condition: WriteCondition, deadline: Deadline
    ) async throws(StoreError) -> Bool {
        try check(deadline, showing: table.entries.withLock { $0[place(key)]?.bytes ?? [] })
        return try await change(key, isRacing: fault == .racesWithOthersDeletes) { (old) throws(StoreError) in
            if fault == .deleteIgnoresAbsence && condition == .absent { return }
            guard !holds(condition, of: old) else { return }
            let bytes = fault == .conflictOfDeleteShows ? old?.bytes ?? [] : []
            throw refusal(.conflict, showing: String(decoding: bytes.prefix(8), as: UTF8.self))
        } change: { (old, entry) in
            entry = nil
            return old != nil
        }
    }

    func page(
        service: String?, after cursor: ListingCursor?, deadline: Deadline
    ) async throws(StoreError) -> ListingPage {
        if cursor == nil || fault != .laterPagesIgnoreDeadline, deadline.remaining == .zero { throw refusal(.timedOut) }
        if cursor == nil || fault != .laterPagesIgnoreCancellation, Task.isCancelled { throw refusal(.cancelled) }
        let asked = listed().filter { service?.utf8.elementsEqual($0.key.service.utf8) ?? true }
        var start = 0
        // After the last entry's name, so that others may come and go.
        if let cursor {
            start = asked.firstIndex { cursor.bytes.lexicographicallyPrecedes(Self.name($0.key)) } ?? asked.count
            if service == nil && fault == .pagesOfAllSkip { start += 1 }
            if service == nil && fault == .pagesOfAllRepeat { start -= 1 }
        }
        let rest = asked.dropFirst(start)
        let entries = Array(rest.prefix(100))
        let isLast = entries.count == rest.count
        return ListingPage(
            entries: entries, next: isLast ? nil : entries.last.map { ListingCursor(bytes: Self.name($0.key)) })
    }

    // MARK: - Steps

    /// Checks and changes an entry in one step; or in two, between which no change of this opening comes.
    private func change<Result>(
        _ key: CredentialKey, isRacing: Bool, check: (inout Entry?) throws(StoreError) -> Void,
        change: (Entry?, inout Entry?) -> Result
    ) async throws(StoreError) -> Result {
        let place = place(key)
        defer {
            table.revision.add(1, ordering: .relaxed)
            opening.listed.withLock { $0 = nil }
        }
        guard isRacing else {
            return try table.entries.withLock { (entries) throws(StoreError) in
                try check(&entries[place])
                return change(entries[place], &entries[place])
            }
        }
        while true {
            let mark = opening.writes.withLock { $0 }
            var old = table.entries.withLock { $0[place] }
            try check(&old)
            let seen = old
            try? await Task.sleep(for: .milliseconds(1))
            let result: Result? = opening.writes.withLock { count in
                guard count == mark else { return nil }
                count += 1
                return table.entries.withLock { change(seen, &$0[place]) }
            }
            if let result { return result }
        }
    }
}

extension TableStore {
    // MARK: - What is saved

    /// Where the credential is in the table.
    private func place(_ key: CredentialKey) -> CredentialKey {
        let known = ["password", "session", "private-key", "client-secret", "current", "ended"]
        let other: CredentialKey? =
            switch fault {
            case .foldsService:
                try? CredentialKey(service: key.service.lowercased(), account: key.account, kind: key.kind)
            case .ownKindIsPassword where !known.contains(key.kind.name):
                try? CredentialKey(service: key.service, account: key.account)
            default: key
            }
        return other ?? key
    }

    private func made(
        of old: Entry?, _ key: CredentialKey, _ bytes: [UInt8], _ options: SaveOptions
    ) -> Entry {
        let ownLabel = "an entry " + (fault == .labelShows ? String(decoding: bytes.prefix(12), as: UTF8.self) : "")
        let label = options.label ?? old?.label ?? ownLabel
        let created = old?.created ?? .now()
        var entry = Entry(
            key: old?.key ?? key, bytes: bytes,
            label: fault == .decomposesLabel ? label.decomposedStringWithCanonicalMapping : label,
            type: fault == .keepsOldType ? old?.type ?? options.contentType : options.contentType,
            created: created, modified: fault == .modifiedStays ? created : .now(),
            version: CredentialVersion(bytes: []), saves: (old?.saves ?? 0) + 1)
        entry.version = version(of: entry)
        return entry
    }

    private func version(of entry: Entry) -> CredentialVersion {
        func octets(_ number: UInt64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) } }
        func hash(_ values: [AnyHashable]) -> [UInt8] { octets(UInt64(truncatingIfNeeded: values.hashValue)) }
        let number = octets(table.revision.add(1, ordering: .relaxed).newValue)
        let bytes =
            switch fault {
            case .versionShows: number + entry.bytes.prefix(16) + [UInt8](repeating: 0, count: 8)
            case .versionsRestart: octets(entry.saves) + hash([entry.key])
            case .versionIsContent:
                hash([entry.key, entry.label, entry.bytes]) + hash([1, entry.key, entry.label, entry.bytes])
            default: number + number
            }
        return CredentialVersion(bytes: bytes)
    }

    private func holds(_ condition: WriteCondition, of old: Entry?, saving bytes: [UInt8]? = nil) -> Bool {
        switch condition {
        case .none: true
        case .absent: old == nil
        case .matches(let version):
            old?.version == version || fault == .emptySaveIgnoresVersion && bytes == []
                || fault == .emptyIgnoresVersion && old?.bytes == []
        }
    }

    // MARK: - What is listed

    private static func name(_ key: CredentialKey) -> [UInt8] {
        Array((key.service + "\0" + key.account + "\0" + key.kind.name).utf8)
    }

    private func listed() -> [CredentialMetadata] {
        let revision = table.revision.load(ordering: .relaxed)
        if let known = opening.listed.withLock({ $0 }), known.revision == revision || fault == .listingIsStale {
            return known.entries
        }
        let later: Int64 = fault == .listsOtherTimes ? 1 : 0
        let listed = table.entries.withLock { entries in
            entries.values.map { (name: Self.name($0.key), entry: $0) }
        }.sorted { $0.name.lexicographicallyPrecedes($1.name) }.map { (_, entry) in
            CredentialMetadata(
                key: entry.key, label: entry.label, created: entry.created,
                modified: UnixTime(seconds: entry.modified.seconds + later), version: entry.version)
        }
        opening.listed.withLock { $0 = (revision, listed) }
        return listed
    }

    // MARK: - What is refused

    private func check(_ deadline: Deadline, showing bytes: [UInt8] = []) throws(StoreError) {
        let text = String(decoding: bytes, as: UTF8.self)
        if Task.isCancelled { throw refusal(.cancelled, showing: fault == .cancelledShows ? text : "") }
        if deadline.remaining == .zero { throw refusal(.timedOut, showing: fault == .timedOutShows ? text : "") }
    }

    private func shown(_ bytes: [UInt8], in condition: WriteCondition) -> String {
        switch condition {
        case .absent where fault == .conflictOfAbsentShows: Data(bytes).base64EncodedString()
        case .matches where fault == .conflictOfMatchesShows: String(decoding: bytes.prefix(40), as: UTF8.self)
        default: ""
        }
    }

    private func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    private func refusal(_ code: StoreError.Code, showing text: String = "") -> StoreError {
        let shown = LoggableText(reviewed: "a fault that the contract must find", unredacted: text)
        return StoreError(code, "refused", hint: "not saved: \(shown)")
    }
}
