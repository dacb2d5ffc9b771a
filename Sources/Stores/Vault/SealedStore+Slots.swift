internal import Credentials
internal import RedactedLog
internal import Secrets

extension SealedStore {
    /// The key slots, in the order of the file.
    func slots(deadline: Deadline) async throws(StoreError) -> [KeySlotDescription] {
        try await waiting(until: deadline) { () throws(StoreError) in
            try self.current { (view, _) throws(StoreError) in try Self.describe(view.records(), self.root) }
        }
    }

    private static func describe(
        _ records: [NamedRecord], _ root: RootKeys
    ) throws(StoreError) -> [KeySlotDescription] {
        var described: [KeySlotDescription] = []
        for slot in try KeySlot.all(in: records) { described.append(try slot.describe(root)) }
        return described
    }

    /// Adds a slot and takes another one's place, or `nil`'s, in the same transaction.
    func addSlot(_ slot: KeySlot, replacing old: KeySlotName?, deadline: Deadline) async throws(StoreError) {
        let added = try slot.describe(root)
        try await changeRecords(until: deadline) { (transaction, root) throws(StoreError) in
            if let old {
                guard let replaced = try Self.slot(old, in: transaction, root) else {
                    throw StoreError(
                        .conflict, "the vault has no key slot named \(old)", hint: "latchkey vault slots shows them")
                }
                try transaction.remove(record: replaced.recordName)
            }
            let records = try transaction.records()
            let present = try Self.describe(records, root)
            if present.contains(where: { $0.name == added.name }) {
                throw StoreError(
                    .conflict, "the vault has a key slot named \(added.name) already", hint: "choose another name")
            }
            guard present.count < KeySlot.maximumCount, records.count < Manifest.maximumRecordCount else {
                throw StoreError(.conflict, "the vault has \(present.count) key slots, and takes no more")
            }
            let record = slot.encode()
            try transaction.put(record: record.name, record.content)
        }
    }

    /// Removes a slot and returns whether there was one.
    func removeSlot(_ name: KeySlotName, deadline: Deadline) async throws(StoreError) -> Bool {
        try await changeRecords(until: deadline) { (transaction, root) throws(StoreError) in
            guard let slot = try Self.slot(name, in: transaction, root) else { return false }
            guard try KeySlot.all(in: transaction.records()).count > 1 else {
                throw StoreError(.conflict, "this is the vault's last key slot", hint: "add another key slot first")
            }
            try transaction.remove(record: slot.recordName)
            return true
        }
    }

    private static func slot(
        _ name: KeySlotName, in view: some RowView, _ root: RootKeys
    ) throws(StoreError) -> KeySlot? {
        for slot in try KeySlot.all(in: view.records()) where try slot.describe(root).name == name { return slot }
        return nil
    }

    /// Changes records and takes the change into the manifest.
    private func changeRecords<Result: Sendable>(
        until deadline: Deadline,
        _ body: @escaping @Sendable (Table.Transaction, RootKeys) throws(StoreError) -> Result
    ) async throws(StoreError) -> Result {
        try await change(until: deadline) { (transaction, _, manifest) throws(StoreError) in
            let result = try body(transaction, self.root)
            manifest.recordsDigest = Manifest.digest(try transaction.records(), root: self.root)
            return result
        }
    }
}
