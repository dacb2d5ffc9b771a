internal import Credentials
internal import RedactedLog

/// How far a listing is: past a place in the table, among the items under one data key.
///
/// While items are resealed they move to other places under the new key. A listing goes through the items of the oldest
/// key first and then through those of each newer one, so that it misses nothing that was there all the time: what
/// leaves its place goes to one that the listing still comes to. It may come twice.
struct ListingPlace {
    let keyNumber: UInt32
    /// The last one that was passed; `nil` at the start.
    let passed: Int64?

    /// Where a listing begins that has this cursor.
    init(_ cursor: ListingCursor?, among keys: [DataKeys]) throws(StoreError) {
        let numbers = keys.map(\.number).sorted()
        guard let cursor else {
            self.init(keyNumber: numbers[0], passed: nil)
            return
        }
        var reader = ByteReader(cursor.bytes)
        guard let number: UInt32 = reader.integer(), let next = numbers.first(where: { $0 >= number }),
            let place: Int64 = reader.isAtEnd ? 0 : reader.integer(), reader.isAtEnd
        else { throw StoreError(.unsupported, "the cursor is not one of this vault's") }
        // Of a key that is gone, everything is under newer ones now.
        self.init(keyNumber: next, passed: next == number && place != 0 ? place : nil)
    }

    private init(keyNumber: UInt32, passed: Int64?) {
        self.keyNumber = keyNumber
        self.passed = passed
    }

    func moved(past place: Int64) -> ListingPlace { ListingPlace(keyNumber: keyNumber, passed: place) }

    /// The start of the next newer key's items, or `nil`.
    func following(among keys: [DataKeys]) -> ListingPlace? {
        keys.map(\.number).sorted().first { $0 > keyNumber }.map { ListingPlace(keyNumber: $0, passed: nil) }
    }

    var cursor: ListingCursor {
        var writer = ByteWriter()
        writer.append(keyNumber)
        if let passed { writer.append(passed) }
        return ListingCursor(bytes: writer.bytes)
    }
}
