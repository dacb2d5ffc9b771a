internal import Glibc
internal import LatchkeySecrets
internal import Synchronization

/// What a store holds, behind its lock.
struct State {
    private(set) var entries: [EntryName: Entry] = [:]
    /// Ascending.
    private(set) var names: [EntryName] = []
    var listeners = Listeners()
    /// Counts the saves, so that no two states of a credential have the same version.
    var revision: UInt64 = 0

    mutating func put(_ entry: Entry, under name: EntryName) {
        if entries.updateValue(entry, forKey: name) == nil {
            names.insert(name, at: names.firstIndex(belongs: { !($0 < name) }))
        }
    }

    mutating func remove(_ name: EntryName) {
        if entries.removeValue(forKey: name) != nil { names.remove(at: names.firstIndex(belongs: { !($0 < name) })) }
    }
}

/// One credential.
struct Entry: Sendable {
    let metadata: CredentialMetadata
    let contentType: SecretContentType
    let secret: KeptSecret
}

/// Lets an entry be in a dictionary, which a noncopyable secret can't.
final class KeptSecret: Sendable {
    let secret: Secret<Password>

    init(_ secret: consuming Secret<Password>) {
        self.secret = secret
    }
}

/// A key as bytes that sort by service, then account, then kind: no part can contain the NUL between them.
struct EntryName: Sendable, Hashable, Comparable {
    let bytes: [UInt8]

    init(_ key: CredentialKey) {
        bytes = Array(key.service.utf8) + [0] + Array(key.account.utf8) + [0] + Array(key.kind.name.utf8)
    }

    static func < (left: EntryName, right: EntryName) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

extension [EntryName] {
    /// The first index whose element satisfies `belongs`, or the end; all after it must satisfy it too.
    func firstIndex(belongs: (EntryName) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if belongs(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

/// Who listens to a store's changes.
struct Listeners: Sendable {
    static let bufferSize = 256

    private var continuations: [Int: AsyncStream<CredentialChange>.Continuation] = [:]
    private var added = 0

    mutating func add(_ continuation: AsyncStream<CredentialChange>.Continuation) -> Int {
        added += 1
        continuations[added] = continuation
        return added
    }

    mutating func remove(_ number: Int) {
        continuations[number] = nil
    }

    func report(_ change: CredentialChange) {
        for continuation in continuations.values {
            if case .dropped = continuation.yield(change) {
                // A listener that fell behind has lost a change: its last word is that it must look at everything.
                continuation.yield(CredentialChange(kind: .unknown, key: nil))
            }
        }
    }

    func finish() {
        for continuation in continuations.values { continuation.finish() }
    }
}

/// Numbers the stores of all processes, so that each has an identity of its own.
enum StoreNumber {
    private static let last = Atomic(0)

    static func next() -> String {
        "\(getpid())-\(last.add(1, ordering: .relaxed).newValue)"
    }
}
