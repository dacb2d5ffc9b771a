internal import LatchkeyCredentials
internal import LatchkeySecrets
internal import LatchkeySystem

extension KeyringCollection {
    /// Saves what other programs keep in their own ways, under the names it has here, and returns how many items
    /// are of no known shape.
    func copyOtherPrograms(
        to target: any CredentialStore, _ deadline: Deadline
    ) async throws(StoreError) -> Int {
        let interruption = try Interruption(deadline)
        var unknown = 0
        try await KeyringConnection.shared.perform(interruption) { (session) async throws(KeyringFailure) in
            unknown = try await copyOtherPrograms(to: target, session, interruption)
        }
        return unknown
    }

    private func copyOtherPrograms(
        to target: any CredentialStore, _ session: KeyringSession, _ interruption: Interruption
    ) async throws(KeyringFailure) -> Int {
        var unknown = 0
        var first: [CredentialKey: (item: KeyringItem, reading: OtherPrograms.Reading)] = [:]
        for item in try await allItems(service: nil, session, interruption) where item.key == nil {
            guard let reading = OtherPrograms.reading(of: item.attributes, label: item.label) else {
                unknown += 1
                continue
            }
            if let other = first[reading.key], other.item.precedes(item) { continue }
            first[reading.key] = (item, reading)
        }
        for (key, found) in first {
            let pending = startSecret(at: found.item.path, session, interruption)
            // One that was deleted meanwhile is none.
            guard
                let decoded = try await secret(
                    pending, of: found.item, as: Password.self, session, interruption)
            else { continue }
            let options = SaveOptions(label: found.item.label, contentType: decoded.recognisedType)
            let secret = found.reading.secret(in: decoded.takeSecret())
            _ = try await mapError(
                KeyringFailure.store,
                awaiting: await target.save(secret, for: key, options: options, deadline: interruption.deadline))
        }
        return unknown
    }
}
