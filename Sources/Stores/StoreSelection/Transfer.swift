public import LatchkeyCredentials
package import LatchkeyLog
internal import LatchkeySecrets

/// Copies or moves credentials and items from one store to another, one at a time.
///
/// What was written is read back and compared, in constant time, before anything is deleted. Each credential is whole
/// in one of the stores whenever the process ends, so a transfer that was cut short goes on when it is asked for again.
package struct Transfer: Sendable {
    package enum Mode: Sendable, Hashable {
        case copy
        /// The source's credential is deleted when the target holds it, and only if it is still what was copied.
        case move
    }

    /// What became of one credential, or would become of it.
    package enum Outcome: Sendable, Hashable, CaseIterable, Loggable {
        case copied
        case moved
        /// The target held the same secret already. A move has deleted the source's.
        case same
        /// The target held another secret, and both were left alone.
        case differs
        /// The target held another secret, which was replaced. A move has deleted the source's.
        case replaced
        /// Another process deleted it from the source meanwhile.
        case vanished

        /// Safe: words of ours.
        package var logMessage: LogMessage {
            switch self {
            case .copied: "copied"
            case .moved: "moved"
            case .same: "same"
            case .differs: "differs"
            case .replaced: "replaced"
            case .vanished: "gone"
            }
        }
    }

    package let source: any CredentialStore
    package let target: any CredentialStore
    package let mode: Mode
    /// Whether another secret that the target holds is overwritten.
    package let replaces: Bool

    package init(
        from source: any CredentialStore, to target: any CredentialStore, mode: Mode, replaces: Bool = false
    ) {
        self.source = source
        self.target = target
        self.mode = mode
        self.replaces = replaces
    }

    /// Transfers one credential: its secret, label and content type. Times are the target's own.
    ///
    /// Throws what the stores throw. Throws `conflict` when another process changed the credential in one of the stores
    /// meanwhile, `corrupted` when the target returns another secret than it was given: the source is unchanged then.
    package func transfer(_ key: CredentialKey, deadline: Deadline) async throws(StoreError) -> Outcome {
        guard let record = try await source.read(key, as: Password.self, deadline: deadline) else { return .vanished }
        let present = try await target.read(key, as: Password.self, deadline: deadline)
        var outcome: Outcome = mode == .copy ? .copied : .moved
        var condition = WriteCondition.absent
        if let present {
            if present.secret.matches(record.secret) {
                try await finish(key, record.version, deadline)
                return .same
            }
            guard replaces else { return .differs }
            condition = .matches(present.version)
            outcome = .replaced
        }
        try await target.save(
            copyOf: record, for: key, label: record.metadata.label, condition: condition, deadline: deadline
        ) { () async throws(StoreError) in try await finish(key, record.version, deadline) }
        return outcome
    }

    /// Says what `transfer` would do. It changes nothing.
    package func plan(_ key: CredentialKey, deadline: Deadline) async throws(StoreError) -> Outcome {
        guard let record = try await source.read(key, as: Password.self, deadline: deadline) else { return .vanished }
        guard let present = try await target.read(key, as: Password.self, deadline: deadline) else {
            return mode == .copy ? .copied : .moved
        }
        if present.secret.matches(record.secret) { return .same }
        return replaces ? .replaced : .differs
    }

    private func finish(
        _ key: CredentialKey, _ version: CredentialVersion, _ deadline: Deadline
    ) async throws(StoreError) {
        guard mode == .move else { return }
        try await source.delete(key, condition: .matches(version), deadline: deadline)
    }
}

extension CredentialStore {
    /// Saves a copy of a record and reads it back, then does `rest`, such as deleting the original.
    ///
    /// Throws `conflict` when another process changed the copy or the original meanwhile. Where `rest` throws that, the
    /// copy is removed again, or replaced by what it replaced.
    package func save(
        copyOf record: borrowing CredentialRecord<Password>, for key: CredentialKey, label: String?,
        condition: WriteCondition, deadline: Deadline,
        rest: () async throws(StoreError) -> Void
    ) async throws(StoreError) {
        // What a conflict puts back.
        var before: CredentialRecord<Password>?
        if case .matches = condition { before = try await read(key, as: Password.self, deadline: deadline) }
        let version = try await save(
            record.secret, for: key,
            options: SaveOptions(label: label, contentType: record.contentType, condition: condition),
            deadline: deadline)
        guard let saved = try await read(key, as: Password.self, deadline: deadline), saved.version == version else {
            throw StoreError(
                .conflict, "another process changed \(key) in \(identity) at the same time",
                hint: "the original is unchanged: look at both, then try again")
        }
        guard saved.secret.matches(record.secret) else {
            throw StoreError(
                .corrupted, "\(identity) returns another secret than it was given for \(key)",
                hint: "nothing was deleted; \(Recovery.diagnose)")
        }
        do throws(StoreError) {
            try await rest()
        } catch  where error.code == .conflict {
            // Unless somebody has changed the copy too: then it is theirs.
            switch consume before {
            case .none:
                _ = try? await delete(key, condition: .matches(version), deadline: deadline)
            case .some(let before):
                let options = SaveOptions(
                    label: before.metadata.label, contentType: before.contentType, condition: .matches(version))
                _ = try? await save(before.secret, for: key, options: options, deadline: deadline)
            }
            throw error
        }
    }

    /// Moves a credential to another store, and returns whether there was one.
    ///
    /// It is deleted here once the other store gives it back as it was, compared in constant time; what ends the
    /// program before leaves it in at least one of the stores. One that the other store holds already is only deleted.
    ///
    /// Throws `conflict` when the other store holds another secret for the key; nothing is changed then.
    public func move(
        _ key: CredentialKey, to target: any CredentialStore, deadline: Deadline = .standard
    ) async throws(StoreError) -> Bool {
        switch try await Transfer(from: self, to: target, mode: .move).transfer(key, deadline: deadline) {
        case .vanished: return false
        case .copied, .moved, .same, .replaced: return true
        case .differs:
            throw StoreError(
                .conflict, "\(target.identity) holds another secret for \(key)", hint: "delete one of the two")
        }
    }
}
