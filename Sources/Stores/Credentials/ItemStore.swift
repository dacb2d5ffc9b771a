package import LatchkeySecrets

/// The secret of an item, with what its program says that it is.
package struct ItemSecret: ~Copyable, Sendable {
    package let secret: Secret<ItemContent>
    package let contentType: String
    /// The item that it was read from, where the store has that at hand: it needn't be looked for again.
    package let item: StoredItem?

    package init(_ secret: consuming Secret<ItemContent>, contentType: String, item: StoredItem? = nil) {
        self.secret = secret
        self.contentType = contentType
        self.item = item
    }

    /// Ends the value and returns its secret.
    package consuming func takeSecret() -> Secret<ItemContent> { secret }
}

/// What an item keeps for a program.
package enum ItemContent: SecretPurpose { package static var name: StaticString { "item's secret" } }

/// Keeps items with attributes, in collections, as the Secret Service has them.
///
/// An item whose attributes are exactly `service` and `username` is the credential of that key and the kind `password`
/// (`ItemAttributes.credentialKey`). Credentials of other kinds are no items.
///
/// Absence is `nil` or `false`; refusal throws: `tooLarge`, `unsupported`, `locked`, `busy`, `timedOut`, `corrupted`, ….
package protocol ItemStore: Sendable {
    /// In the order of their names.
    func collections(deadline: Deadline) async throws(StoreError) -> [ItemCollection]

    /// Makes a collection with a name of its own, made from the label; an alias that another one had is taken over.
    func createCollection(label: String, alias: String?, deadline: Deadline) async throws(StoreError) -> ItemCollection

    /// Gives a collection another label, and returns whether it is there.
    func setLabel(_ label: String, ofCollection name: String, deadline: Deadline) async throws(StoreError) -> Bool

    /// Deletes a collection with its items, and returns whether there was one. Throws `unsupported` for the first one,
    /// which holds the credentials.
    func deleteCollection(_ name: String, deadline: Deadline) async throws(StoreError) -> Bool

    /// Lets an alias name a collection, or none, and returns whether the collection is there.
    func setAlias(_ alias: String, to collection: String?, deadline: Deadline) async throws(StoreError) -> Bool

    /// The items of a collection, in no order that means anything.
    func items(in collection: String, deadline: Deadline) async throws(StoreError) -> [ItemID]

    /// The items that have all these attributes, in one collection or in all (`nil`); of none, all items. The one that
    /// was changed last comes first.
    func search(
        _ attributes: ItemAttributes, in collection: String?, deadline: Deadline
    ) async throws(StoreError) -> [StoredItem]

    func item(_ id: ItemID, deadline: Deadline) async throws(StoreError) -> StoredItem?

    func secret(of id: ItemID, deadline: Deadline) async throws(StoreError) -> ItemSecret?

    /// Creates an item. With `replacing`, one in the collection with the same attributes, no more and no fewer, gets
    /// the secret and label instead, and stays the item that it is. Throws `unavailable` when there is no such
    /// collection.
    func create(
        _ secret: borrowing ItemSecret, attributes: ItemAttributes, label: String, in collection: String,
        replacing: Bool, deadline: Deadline
    ) async throws(StoreError) -> ItemCreation

    /// Changes what is given, and returns the item as it is then, or `nil` when there is none. Where attributes make a
    /// credential of what was none, or the reverse, its id is another one.
    func update(
        _ id: ItemID, label: String?, attributes: ItemAttributes?, deadline: Deadline
    ) async throws(StoreError) -> StoredItem?

    func setSecret(
        _ secret: borrowing ItemSecret, of id: ItemID, deadline: Deadline
    ) async throws(StoreError) -> StoredItem?

    /// Deletes an item, and returns it as it was, or `nil` when there was none.
    func delete(_ id: ItemID, deadline: Deadline) async throws(StoreError) -> StoredItem?

    /// What others change from now on, in other processes or by other ways than this protocol's.
    func changesByOthers(deadline: Deadline) async throws(StoreError) -> AsyncStream<ItemChange>
}

package struct ItemCreation: Sendable, Hashable {
    package let item: StoredItem
    /// False when an item was there and got the secret.
    package let isNew: Bool

    package init(item: StoredItem, isNew: Bool) {
        self.item = item
        self.isNew = isNew
    }
}

package enum ItemChange: Sendable, Hashable {
    case created(StoredItem)
    case changed(StoredItem)
    case deleted(ItemID, collection: String)
    /// Which items can't be told, or are too many to tell: look at all of it anew.
    case unknown
}
