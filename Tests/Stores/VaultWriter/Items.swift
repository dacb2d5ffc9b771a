import LatchkeyCredentials
import LatchkeySecrets
import LatchkeyVault

/// Attributes of one of the seven items of a prefix.
private func attributes(_ prefix: String, _ number: Int) -> ItemAttributes {
    let all = [("common", "same"), ("prefix", prefix), ("number", "\(number)")]
    return ItemAttributes(all.map { ItemAttributes.Attribute(name: $0.0, value: $0.1) }) ?? ItemAttributes()
}

/// Creates, replaces and deletes items by turns, as `churn` does with credentials.
func churnItems(_ vault: VaultStore, _ prefix: String, _ count: Int) async throws {
    let items: any ItemStore = vault
    let deadline = Deadline.after(.seconds(300))
    for index in 0..<count {
        let attributes = attributes(prefix, index % 7)
        if index % 3 == 2 {
            // Where the vault was rekeyed in between, the item has another id.
            while let item = try await items.search(attributes, in: nil, deadline: deadline).first {
                _ = try await items.delete(item.id, condition: .none, deadline: deadline)
            }
        } else {
            let bytes = Array("\(index)".utf8)
            let secret = Secret<ItemContent>(copying: bytes.span)
            let draft = ItemDraft(
                .attributes(attributes, in: "login", replacing: true), label: "\(prefix) \(index % 7)",
                contentType: "text/plain")
            try await items.save(secret, draft, deadline: deadline)
        }
        say("did \(index)")
    }
}
