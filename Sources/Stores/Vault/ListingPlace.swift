internal import Credentials
internal import RedactedLog

/// How far a listing is: past a look-up value, among the items under one data key.
///
/// While items are resealed they move to other places under the new key. A listing goes through the items of the oldest
/// key first and then through those of each newer one, so that it misses nothing that was there all the time: what
/// leaves its place goes to one that the listing still comes to. It may come twice.
struct ListingPlace {
    let keyNumber: UInt32
    /// `nil` at the start.
    let lookup: [UInt8]?

    /// Where a listing begins that has this cursor.
    init(_ cursor: ListingCursor?, among keys: [DataKeys]) throws(StoreError) {
        let numbers = keys.map(\.number).sorted()
        guard let cursor else {
            self.init(keyNumber: numbers[0], lookup: nil)
            return
        }
        var reader = ByteReader(cursor.bytes)
        guard let number: UInt32 = reader.integer(), let next = numbers.first(where: { $0 >= number }),
            let lookup = reader.isAtEnd ? [] : reader.take(DataKeys.lookupByteCount), reader.isAtEnd
        else { throw StoreError(.unsupported, "the cursor is not one of this vault's") }
        // Of a key that is gone, everything is under newer ones now.
        self.init(keyNumber: next, lookup: next == number && !lookup.isEmpty ? lookup : nil)
    }

    private init(keyNumber: UInt32, lookup: [UInt8]?) {
        self.keyNumber = keyNumber
        self.lookup = lookup
    }

    func moved(to lookup: [UInt8]) -> ListingPlace { ListingPlace(keyNumber: keyNumber, lookup: lookup) }

    /// The start of the next newer key's items, or `nil`.
    func following(among keys: [DataKeys]) -> ListingPlace? {
        keys.map(\.number).sorted().first { $0 > keyNumber }.map { ListingPlace(keyNumber: $0, lookup: nil) }
    }

    var cursor: ListingCursor {
        var writer = ByteWriter()
        writer.append(keyNumber)
        if let lookup { writer.append(lookup) }
        return ListingCursor(bytes: writer.bytes)
    }
}
