internal import LatchkeyCredentials
internal import LatchkeyLog

/// The identity of an item: the first sixteen bytes of its lookup value, which are enough to find it.
typealias ItemHandle = Octets16

extension ItemHandle {
    init(of lookup: [UInt8]) { self.init(lookup) }

    /// Of the object path's element that `itemID` makes, in small letters; `nil` for any other: an item has one path.
    init?(_ id: ItemID) {
        let digits = id.element.utf8.compactMap { (0x41...0x46).contains($0) ? nil : ASCII.hexValue($0) }
        guard digits.count == 2 * Self.byteCount, id.element.utf8.count == digits.count else { return nil }
        let bytes: [UInt8] = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
        self.init(bytes)
    }
}

/// The position of a link in the table of attributes: a keyed hash, so that the table doesn't show equal values.
typealias IndexToken = Octets16

/// One item's place in the list of all items that have an attribute with one value. The lists have links in both
/// directions, so that deleting an item changes a few rows, independent of the lists' length.
struct IndexLink: Sendable, Hashable {
    var item: ItemHandle
    /// Zero at the end.
    var next: ItemHandle
    /// Zero at the beginning.
    var previous: ItemHandle

    static let byteCount = 3 * Octets16.byteCount

    func seal(at token: IndexToken, _ keys: VaultKeys) throws(StoreError) -> [UInt8] {
        let plaintext = item.bytes + next.bytes + previous.bytes
        return try Sealing.seal(plaintext.span, associatedData: Self.context(token, keys), key: keys.link)
    }

    /// Returns `nil` for what wasn't sealed there.
    static func open(_ sealed: [UInt8], at token: IndexToken, _ keys: VaultKeys) -> IndexLink? {
        guard sealed.count == byteCount + Sealing.overheadByteCount,
            let bytes = Sealing.openPublic(sealed.span, associatedData: context(token, keys), key: keys.link)
        else { return nil }
        return decode(bytes)
    }

    /// Returns `nil` for another number of bytes, and for an invalid item.
    static func decode(_ bytes: [UInt8]) -> IndexLink? {
        guard bytes.count == byteCount else { return nil }
        let link = IndexLink(
            item: Octets16(bytes[..<16]), next: Octets16(bytes[16..<32]), previous: Octets16(bytes[32...]))
        return link.item == .zero ? nil : link
    }

    static func context(_ token: IndexToken, _ keys: VaultKeys) -> [UInt8] {
        Array("a".utf8) + keys.vault.bytes + token.bytes
    }
}

/// The list of all items that have an attribute with one value.
///
/// Its key is in ordinary memory, as the attribute is: it tells which rows belong to this list, and opens none.
struct IndexList: Sendable {
    private let key: [UInt8]
    /// The position of the first link, for any item. A list has as many rows as items, so that the table doesn't show
    /// the number of lists.
    let first: IndexToken

    init(_ attribute: ItemAttributes.Attribute, _ keys: VaultKeys) {
        self.init(attribute.name, attribute.value, keys)
    }

    /// The list of the items in a collection other than the first one, or (`nil`) of the items without attributes.
    /// Names of attributes are never empty.
    init(collection: String?, _ keys: VaultKeys) {
        self.init("", collection ?? "", keys)
    }

    private init(_ name: String, _ value: String, _ keys: VaultKeys) {
        var message = ByteWriter(capacity: 2 + name.utf8.count + value.utf8.count)
        message.append(name, length: UInt16.self)
        message.append(value)
        key = keys.attribute.withExposedBytes { KeyedHash.digest(message.bytes.span, key: $0) }
        first = Self.token([], key)
    }

    /// The position of a link after the first one, for an item.
    func token(of item: ItemHandle) -> IndexToken { Self.token(item.bytes, key) }

    private static func token(_ message: [UInt8], _ key: [UInt8]) -> IndexToken {
        Octets16(KeyedHash.digest(message.span, key: key.span, byteCount: 16))
    }
}
