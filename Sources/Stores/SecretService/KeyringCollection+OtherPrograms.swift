internal import LatchkeyCredentials
internal import LatchkeyDBus
internal import LatchkeySecrets
internal import LatchkeySystem

extension KeyringCollection {
    /// An item of another program's, and which credential it would be here.
    private typealias OtherItem = (item: KeyringItem, reading: OtherPrograms.Reading)

    /// Saves what other programs keep in their own ways, under the names it has here, and returns how many items
    /// are of no known shape.
    func copyOtherPrograms(
        to target: any CredentialStore, having attributes: [(String, String)]?, _ deadline: Deadline
    ) async throws(StoreError) -> Int {
        let interruption = try Interruption(deadline)
        var unknown = 0
        try await KeyringConnection.shared.perform(interruption) { (session) async throws(KeyringFailure) in
            unknown = try await copyOtherPrograms(to: target, attributes, session, interruption)
        }
        return unknown
    }

    private func copyOtherPrograms(
        to target: any CredentialStore, _ attributes: [(String, String)]?, _ session: KeyringSession,
        _ interruption: Interruption
    ) async throws(KeyringFailure) -> Int {
        let (others, unknown) = try await otherItems(attributes, session, interruption)
        var first: [CredentialKey: OtherItem] = [:]
        for other in others {
            if let present = first[other.reading.key], present.item.precedes(other.item) { continue }
            first[other.reading.key] = other
        }
        for (key, found) in first {
            // One that was deleted meanwhile is none.
            guard let decoded = try await secret(of: found, session, interruption) else { continue }
            let options = SaveOptions(label: found.item.label, contentType: decoded.recognisedType)
            let secret = found.reading.secret(in: decoded.takeSecret())
            _ = try await mapError(
                KeyringFailure.store,
                awaiting: await target.save(secret, for: key, options: options, deadline: interruption.deadline))
        }
        return unknown
    }

    /// Deletes items of other programs, and returns whether there were any.
    func deleteOtherPrograms(
        having attributes: [(String, String)],
        where isMeant: @Sendable (CredentialKey, borrowing Secret<Password>) -> Bool,
        _ deadline: Deadline
    ) async throws(StoreError) -> Bool {
        let interruption = try Interruption(deadline)
        var isDeleted = false
        try await KeyringConnection.shared.perform(interruption) { (session) async throws(KeyringFailure) in
            for other in try await otherItems(attributes, session, interruption).known {
                guard let decoded = try await secret(of: other, session, interruption),
                    isMeant(other.reading.key, other.reading.secret(in: decoded.takeSecret()))
                else { continue }
                if try await delete(other.item, session, interruption) { isDeleted = true }
            }
        }
        return isDeleted
    }

    private func secret(
        of other: OtherItem, _ session: KeyringSession, _ interruption: Interruption
    ) async throws(KeyringFailure) -> DecodedSecret<Password>? {
        try await secret(
            startSecret(at: other.item.path, session, interruption), of: other.item, as: Password.self, session,
            interruption)
    }

    /// The items that aren't this store's own and whose shape is known, and how many are of no known one.
    private func otherItems(
        _ attributes: [(String, String)]?, _ session: KeyringSession, _ interruption: Interruption
    ) async throws(KeyringFailure) -> (known: [OtherItem], unknown: Int) {
        var known: [OtherItem] = []
        var unknown = 0
        for item in try await allItems(attributes, session, interruption) where item.key == nil {
            if let reading = OtherPrograms.reading(of: item.attributes, label: item.label) {
                known.append((item, reading))
            } else {
                unknown += 1
            }
        }
        return (known, unknown)
    }
}
