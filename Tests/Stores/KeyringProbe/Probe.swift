internal import LatchkeyStoreContract
internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySecrets
internal import LatchkeySecretService
internal import LatchkeyStoreSelection

/// The commands of the probe.
actor Probe {
    private let leases: LeaseDirectory
    private var mayPrompt = true
    private var mayCreate = false
    private var collection = SecretServiceConfiguration.Collection.standard
    var timeout = Duration.seconds(120)
    private var versions: [CredentialKey: CredentialVersion] = [:]
    private var watched: Task<Void, Never>?
    private var seen: [String] = []
    private var running: [String: Task<String, Never>] = [:]

    init(runtimeDirectory: String) {
        leases = LeaseDirectory(path: runtimeDirectory + "/latchkey/leases")
    }

    var store: SecretServiceStore {
        SecretServiceStore(
            SecretServiceConfiguration(
                collection: collection, mayPrompt: mayPrompt, mayCreateCollection: mayCreate, coordination: leases))
    }

    func answer(_ words: [String]) async -> String {
        do {
            switch words.first {
            case "timeout":
                timeout = .milliseconds(Int(words[1]) ?? 0)
                return "ok"
            case "prompting":
                mayPrompt = words[1] == "yes"
                return "ok"
            case "creating":
                mayCreate = words[1] == "yes"
                return "ok"
            case "collection":
                collection = try .named(words[1])
                return "ok"
            case "start":
                // start NAME COMMAND…: in the background, with the settings of now
                let rest = Array(words.dropFirst(2))
                running[words[1]] = Task.immediate { await self.answer(rest) }
                return "ok"
            case "cancel":
                running[words[1]]?.cancel()
                return "ok"
            case "join": return await running.removeValue(forKey: words[1])?.value ?? "no such task"
            case "contract": return try await keepContract(words[1])
            case "statements": return ContractCase.all.map(\.statement).joined(separator: "\t")
            case "watch":
                // From now on changes are collected; `changes COUNT` waits until there are so many.
                let changes = try await store.changes(deadline: .after(timeout))
                watched = Task { await self.collect(changes) }
                return "ok"
            case "changes":
                while seen.count < Int(words[1]) ?? 0 { try await Task.sleep(for: .milliseconds(5)) }
                return seen.joined(separator: "\t")
            default: return try await operate(words)
            }
        } catch let error as StoreError {
            return
                "error\t\(error.codeName)\t\(error.platform?.logMessage.text ?? "-")\t\(error.cause)\t\(error.hint?.text ?? "-")"
        } catch {
            return "failed\t\(error)"
        }
    }

    private func keepContract(_ statement: String) async throws -> String {
        guard let rule = (ContractCase.all + ContractCase.items).first(where: { $0.statement == statement }) else {
            throw ProbeFailure()
        }
        let configuration = store.configuration
        try await rule.check(leases: leases) { SecretServiceStore(configuration) }
        return "kept"
    }

    private func collect(_ changes: AsyncStream<CredentialChange>) async {
        for await change in changes {
            seen.append("\(change.kind) \(change.key.map { $0.logMessage.text } ?? "-")")
        }
        seen.append("end")
    }

    private func operate(_ words: [String]) async throws -> String {
        switch words.first {
        case "save": return try await save(words)
        case "read": return try await read(words)
        case "delete":
            let condition = try condition(words.count > 4 ? words[4] : "none", try key(words))
            return try await store.delete(try key(words), condition: condition, deadline: .after(timeout))
                ? "deleted" : "none"
        case "move":
            // move SERVICE ACCOUNT KIND COLLECTION
            var target = store.configuration
            target.collection = try .named(words[4])
            let isMoved = try await store.move(
                try key(words), to: SecretServiceStore(target), deadline: .after(timeout))
            return isMoved ? "moved" : "none"
        case "list":
            let service = words.count > 1 ? words[1] : nil
            let entries = try await store.list(service: service, deadline: .after(timeout)).all()
            return entries.map { "\($0.key.service)/\($0.key.account)/\($0.key.kind.name)/\($0.label)" }
                .joined(separator: "\t")
        case "share": return try await share(words)
        case "own": return try await own(words)
        case "large": return try await keepLarge(words)
        case "duplicates":
            let service = words.count > 1 ? words[1] : nil
            return try await store.duplicates(service: service, deadline: .after(timeout)).map { found in
                let items = found.items.map { "\($0.label) (\($0.attributes["application"] ?? "-"))" }
                return "\(found.key.service)/\(found.key.account): \(items.joined(separator: ", "))"
            }.joined(separator: "\t")
        case "repair":
            let repair = try await store.repairDuplicates(of: try key(words), deadline: .after(timeout))
            return "deleted \(repair.deleted)\tleft \(repair.left)\tdiffering \(repair.differing)"
        case "state":
            let state = try await store.state(deadline: .after(timeout))
            return "\(state.collectionPath)\t\(state.isLocked ? "locked" : "open")\t"
                + (state.isSessionEncrypted ? "encrypted" : "plain")
        case "lock":
            try await store.lock(deadline: .after(timeout))
            return "ok"
        case "unlock":
            try await store.unlock(deadline: .after(timeout))
            return "ok"
        default: return "failed\tno such command"
        }
    }

    /// save SERVICE ACCOUNT KIND HEX [CONDITION [TYPE [LABEL]]]
    private func save(_ words: [String]) async throws -> String {
        let key = try key(words)
        let bytes = Self.bytes(words[4])
        let secret = Secret<Password>(copying: bytes.span)
        var options = SaveOptions()
        options.condition = try condition(words.count > 5 ? words[5] : "none", key)
        if words.count > 6 { options.contentType = words[6] == "text" ? .text : .binary }
        if words.count > 7 { options.label = words[7] }
        let version = try await store.save(secret, for: key, options: options, deadline: .after(timeout))
        versions[key] = version
        return "saved\t\(Self.hex(version.bytes))"
    }

    /// large SERVICE ACCOUNT KIND COUNT: saves random bytes and reads them back; says whether they are the same, and
    /// how the memory of both is kept.
    private func keepLarge(_ words: [String]) async throws -> String {
        let key = try key(words)
        let secret = try Secret<Password>.random(byteCount: Int(words[4]) ?? 0)
        _ = try await store.save(secret, for: key, options: SaveOptions(), deadline: .after(timeout))
        guard let record = try await store.read(key, as: Password.self, deadline: .after(timeout)) else {
            return "none"
        }
        return "\(secret.matches(record.secret) ? "same" : "different")\t\(secret.memoryProtection)\t"
            + "\(record.secret.memoryProtection)"
    }

    /// read SERVICE ACCOUNT KIND
    private func read(_ words: [String]) async throws -> String {
        let key = try key(words)
        guard let record = try await store.read(key, as: Password.self, deadline: .after(timeout)) else {
            return "none"
        }
        versions[key] = record.version
        let bytes = record.secret.withExposedBytes { span in span.indices.map { span[$0] } }
        return "secret\t\(Self.hex(bytes))\t\(record.contentType.rawValue)\t\(record.metadata.label)\t"
            + Self.hex(record.version.bytes)
    }

    private func key(_ words: [String]) throws -> CredentialKey {
        guard words.count > 3, let kind = CredentialKind(words[3]) else { throw ProbeFailure() }
        return try CredentialKey(service: words[1], account: words[2], kind: kind)
    }

    /// none, absent, seen (the version that was last saved or read here) or a version in hexadecimal digits.
    private func condition(_ word: String, _ key: CredentialKey) throws -> WriteCondition {
        switch word {
        case "none": return .none
        case "absent": return .absent
        case "seen":
            guard let version = versions[key] else { throw ProbeFailure() }
            return .matches(version)
        default: return .matches(CredentialVersion(bytes: Self.bytes(word)))
        }
    }

    struct ProbeFailure: Error {}

    // MARK: - Hexadecimal digits

    private static func hex(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        for byte in bytes { text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }

    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.utf8.map { $0 < 0x3A ? $0 - 0x30 : $0 - 0x57 }
        return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
