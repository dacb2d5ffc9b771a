package import LatchkeySecrets

/// A store that keeps items with attributes, in collections, as the Secret Service has them.
///
/// A credential of the kind `password` is an item with exactly the attributes `service` and `username`. Credentials of
/// other kinds are never items: no id, no search and no change leads to one.
///
/// Absence is `nil`; refusal throws: `tooLarge`, `unsupported`, `locked`, `busy`, `timedOut`, `corrupted`, ….
package protocol ItemStore: CredentialStore {
    /// The items that have all these attributes, in one collection or in all (`nil`); of none, all items. The one that
    /// was changed last comes first.
    func search(
        _ attributes: ItemAttributes, in collection: String?, deadline: Deadline
    ) async throws(StoreError) -> [Item]

    func read<Purpose: SecretPurpose>(
        _ id: ItemID, as purpose: Purpose.Type, deadline: Deadline
    ) async throws(StoreError) -> ItemRecord<Purpose>?

    /// Saves a secret according to `draft`. Returns the item and whether it is new, or `nil` if `draft` refers to an
    /// item that doesn't exist.
    ///
    /// Throws `unavailable` if the collection doesn't exist, and `conflict` if the draft's condition doesn't hold.
    @discardableResult
    func save<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, _ draft: ItemDraft, deadline: Deadline
    ) async throws(StoreError) -> (item: Item, isNew: Bool)?

    /// Deletes an item and returns its last state, or `nil` if it didn't exist.
    ///
    /// Throws `conflict` if the condition doesn't hold; then nothing is deleted.
    @discardableResult
    func delete(
        _ id: ItemID, condition: WriteCondition, deadline: Deadline
    ) async throws(StoreError) -> Item?

    /// Returns the password of a service that was changed last, whosever it is, or `nil`.
    func readLatest(service: String, deadline: Deadline) async throws(StoreError) -> CredentialRecord<Password>?
}

extension ItemStore {
    package func readLatest(
        service: String, deadline: Deadline
    ) async throws(StoreError) -> CredentialRecord<Password>? {
        let all = ItemAttributes([ItemAttributes.Attribute(name: ItemAttributes.service, value: service)])
        guard let all else { return nil }
        let found = try await search(all, in: nil, deadline: deadline).filter { $0.key != nil }
        // Reads by the key: if several items have this key, the store decides which one it returns.
        guard let key = found.min(by: { $0.precedes($1) })?.key else { return nil }
        return try await read(key, as: Password.self, deadline: deadline)
    }
}

extension CredentialStore {
    /// The same store, where it keeps items.
    package var items: (any ItemStore)? { self as? any ItemStore }

    /// The same store, if its collections can be changed, and its items can be saved with their times.
    package var collections: (any CollectionStore)? { self as? any CollectionStore }
}

/// A store that can be served on a bus: a store of items with collections that can be changed.
package protocol CollectionStore: ItemStore {
    /// In the order of their names.
    func collections(deadline: Deadline) async throws(StoreError) -> [ItemCollection]

    /// Creates a collection. If another collection has the alias, the new one takes it over.
    ///
    /// - Parameter name: the new one's, if no other has it; `nil` for one made from the label.
    func createCollection(
        label: String, alias: String?, named name: String?, deadline: Deadline
    ) async throws(StoreError) -> ItemCollection

    /// Gives a collection another label, and returns whether it is there.
    func setLabel(_ label: String, ofCollection name: String, deadline: Deadline) async throws(StoreError) -> Bool

    /// Deletes a collection with its items, and returns whether there was one. Throws `unsupported` for the first one,
    /// which holds the credentials.
    func deleteCollection(_ name: String, deadline: Deadline) async throws(StoreError) -> Bool

    /// Lets an alias name a collection, or none, and returns whether the collection is there.
    func setAlias(_ alias: String, to collection: String?, deadline: Deadline) async throws(StoreError) -> Bool

    /// How many rows there are, other kinds' among them, as of the last look.
    var rowCount: Int { get }

    /// The items that aren't kept under a key, in no order that means anything.
    func unnamedItems(deadline: Deadline) async throws(StoreError) -> [Item]

    /// The items of a collection, in no order that means anything.
    func items(in collection: String, deadline: Deadline) async throws(StoreError) -> [ItemID]

    func item(_ id: ItemID, deadline: Deadline) async throws(StoreError) -> Item?

    /// Changes the passed parts of an item and returns the changed item, or `nil` if it doesn't exist. If the new
    /// attributes turn the item into a credential, or back, its ID changes.
    func update(
        _ id: ItemID, label: String?, attributes: ItemAttributes?, deadline: Deadline
    ) async throws(StoreError) -> Item?

    /// Future changes by others. The stream also contains changes that this store makes as a `CredentialStore`, except
    /// for a vault in a database, which only reports those of other processes.
    func itemChanges(deadline: Deadline) async throws(StoreError) -> AsyncStream<ItemChange>
}

package enum ItemChange: Sendable, Hashable {
    case created(Item)
    case changed(Item)
    case deleted(ItemID, collection: String)
    /// Unknown or too many changes: look at all items again.
    case unknown
}

extension CollectionStore {
    package func createCollection(
        label: String, alias: String?, deadline: Deadline
    ) async throws(StoreError) -> ItemCollection {
        try await createCollection(label: label, alias: alias, named: nil, deadline: deadline)
    }
}
