import Foundation
import LatchkeyCredentials
import LatchkeyLog
import LatchkeySecrets

/// A third store, as somebody else would write it: a folder with a file for each credential, in the clear.
struct ShelfStore: CredentialStore {
    let folder: String

    var identity: StoreIdentity { StoreIdentity(backend: "shelf", location: folder) }

    var capabilities: StoreCapabilities {
        StoreCapabilities(
            isPersistent: true, canLock: false, reportsChanges: false, hasAtomicConditions: false,
            hasVersionsInListing: true, keepsContentType: false, maximumSecretByteCount: 64 * 1024)
    }

    func save<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, for key: CredentialKey, options: SaveOptions, deadline: Deadline
    ) async throws(StoreError) -> CredentialVersion {
        try check(options.condition, key)
        var file = FileSink()
        secret.pour(into: &file)
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try file.bytes.write(to: URL(fileURLWithPath: path(key)), options: .atomic)
        } catch {
            throw StoreError(.cannotWrite, "the shelf can't be written to", hint: "see that its folder is yours")
        }
        return try version(of: key) ?? CredentialVersion(bytes: [])
    }

    func read<Purpose: SecretPurpose>(
        _ key: CredentialKey, as purpose: Purpose.Type, deadline: Deadline
    ) async throws(StoreError) -> CredentialRecord<Purpose>? {
        guard let bytes = FileManager.default.contents(atPath: path(key)), let version = try version(of: key) else {
            return nil
        }
        return CredentialRecord(
            metadata: metadata(key, version), version: version, contentType: .text,
            secret: Secret(copying: Array(bytes).span))
    }

    func delete(
        _ key: CredentialKey, condition: WriteCondition, deadline: Deadline
    ) async throws(StoreError) -> Bool {
        try check(condition, key)
        return (try? FileManager.default.removeItem(atPath: path(key))) != nil
    }

    func page(
        service: String?, after cursor: ListingCursor?, deadline: Deadline
    ) async throws(StoreError) -> ListingPage {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        var entries: [CredentialMetadata] = []
        for key in names.sorted().compactMap(Self.key) where service == nil || key.service == service {
            if let version = try version(of: key) { entries.append(metadata(key, version)) }
        }
        return ListingPage(entries: entries, next: nil)
    }

    // MARK: - Files

    private func path(_ key: CredentialKey) -> String {
        let parts = [key.service, key.account, key.kind.name].map { Data($0.utf8).base64EncodedString() }
        return folder + "/" + parts.joined(separator: ".").replacingOccurrences(of: "/", with: "_")
    }

    private static func key(_ name: String) -> CredentialKey? {
        let parts = name.replacingOccurrences(of: "_", with: "/").split(separator: ".").compactMap {
            Data(base64Encoded: String($0)).map { String(decoding: $0, as: UTF8.self) }
        }
        guard parts.count == 3, let kind = CredentialKind(parts[2]) else { return nil }
        return try? CredentialKey(service: parts[0], account: parts[1], kind: kind)
    }

    private func metadata(_ key: CredentialKey, _ version: CredentialVersion) -> CredentialMetadata {
        let number = (try? FileManager.default.attributesOfItem(atPath: path(key))[.modificationDate]) as? Date
        let time = UnixTime(seconds: Int64(number?.timeIntervalSince1970 ?? 0))
        return CredentialMetadata(
            key: key, label: "\(key.service): \(key.account)", created: time, modified: time, version: version)
    }

    /// A new file has a new number.
    private func version(of key: CredentialKey) throws(StoreError) -> CredentialVersion? {
        let number = (try? FileManager.default.attributesOfItem(atPath: path(key))[.systemFileNumber]) as? NSNumber
        return number.map { CredentialVersion(bytes: Array("\($0)".utf8)) }
    }

    private func check(_ condition: WriteCondition, _ key: CredentialKey) throws(StoreError) {
        let present = try version(of: key)
        switch condition {
        case .none: return
        case .absent where present == nil: return
        case .matches(let wanted) where present == wanted: return
        case .absent, .matches: throw StoreError(.conflict, "the credential is another one by now")
        }
    }
}

/// Takes the bytes to the file.
private struct FileSink: SecretSink {
    static var reason: StaticString { "the sample store keeps secrets in the clear" }

    private(set) var bytes = Data()

    mutating func receive(_ bytes: Span<UInt8>) {
        for index in bytes.indices { self.bytes.append(bytes[index]) }
    }
}
