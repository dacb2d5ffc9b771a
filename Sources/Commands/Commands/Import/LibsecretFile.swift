internal import LatchkeyCrypto

/// The encrypted file of libsecret's file backend, which oo7 writes too: `default.keyring`, where programs in a sandbox
/// and sessions without a keyring keep their secrets.
///
/// The file is a header and a GVariant `(uayutua(a{say}ay))` of salt, iterations, time, count and items. An item is
/// sealed with AES-128-CBC and HMAC-SHA-256 under one PBKDF2 key. Items with the attributes `service` and `username`
/// or `account` are read, and those of other programs whose shape is known.
package enum LibsecretFile {
    private static let program: StaticString = "libsecret"
    private static let magic = Array("GnomeKeyring\n\r\0\n".utf8)
    /// Major and minor. gnome-keyring's own files, of another format, have 0.0 there.
    private static let version: [UInt8] = [1, 0]
    /// libsecret writes 100,000. The format doesn't have a limit.
    private static let mostIterations: UInt64 = 10_000_000

    /// Asks for the passphrase after the file's form was checked. Throws the errors of `passphrase` and of memory,
    /// `ImportError`, `sealed` for gnome-keyring's own format, and `wrongPassphrase` when not even one item opens.
    package static func read(
        _ path: String, passphrase: () throws -> Secret<Passphrase>
    ) async throws -> CredentialImport {
        let content = try ForeignFile.read(path, of: program)
        let outline = try content.withExposedBytes { (bytes) throws(ImportError) in try Outline(bytes) }
        guard
            let key = try FileCipher.passphraseKey(passphrase(), salt: outline.salt, iterations: outline.iterations)
        else { throw notThatFormat }
        var result = try CredentialImport()
        var items: [Item] = []
        for blob in outline.items {
            guard let opened = try open(blob, key) else {
                throw ImportError(problem: .wrongPassphrase, program: program)
            }
            items.append(try opened.withExposedBytes { (bytes) throws(ImportError) in try Item(bytes) })
        }
        // If two items are for one service and account, the one that was changed last counts, as in a keyring.
        for item in items.sorted(by: { $0.modified > $1.modified }) {
            guard let service = item.attributes["service"],
                let account = item.attributes["username"] ?? item.attributes["account"]
            else {
                let attributes = ItemAttributes(item.attributes.map { .init(name: $0.key, value: $0.value) })
                guard let attributes,
                    let reading = ForeignShapes.reading(of: attributes, label: item.label)
                else {
                    result.skip("an item without service and user")
                    continue
                }
                try await result.add(
                    service: reading.key.service, account: reading.key.account, label: item.label,
                    secret: reading.secret(in: item.secret.duplicate()), name: "an item")
                continue
            }
            try await result.add(
                service: service, account: account, label: item.label, secret: item.secret.duplicate(), name: "an item")
        }
        return result
    }

    private static var notThatFormat: ImportError { ImportError(problem: .notThatFormat, program: program) }

    /// ciphertext ‖ IV[16] ‖ tag[32]; the tag is over what is before it.
    private static func open(
        _ blob: [UInt8], _ key: borrowing Secret<PrivateKey>
    ) throws(LibraryFailure) -> Secret<Password>? {
        guard blob.count >= 64 else { return nil }
        let sealed = Array(blob.dropLast(32))
        let authentication = try FileCipher.authenticationTag(of: sealed, key: key)
        let tag = Secret<AuthorizationState>(copying: authentication.span)
        guard tag.matches(Array(blob.suffix(32)).span) else { return nil }
        return try FileCipher.openCBC(
            Array(sealed.dropLast(16)), key: key, initializationVector: Array(sealed.suffix(16)))
    }

    private struct Outline {
        let salt: [UInt8]
        let iterations: Int32
        let items: [[UInt8]]

        init(_ file: Span<UInt8>) throws(ImportError) {
            let magic = LibsecretFile.magic
            let start = magic.count + LibsecretFile.version.count
            guard file.count > start, magic.indices.allSatisfy({ file[$0] == magic[$0] }) else { throw notThatFormat }
            guard (magic.count..<start).allSatisfy({ file[$0] == LibsecretFile.version[$0 - magic.count] }) else {
                throw ImportError(problem: .sealed, program: program)
            }
            let value = file.extracting(start..<file.count)
            let offset = VariantLayout.offsetSize(value.count)
            guard let saltSize = VariantLayout.number(value, at: 0, size: 4),
                let saltEnd = VariantLayout.end(ofPart: 0, in: value), saltEnd >= 4,
                UInt64(saltEnd - 4) == saltSize, saltSize <= 1024
            else { throw notThatFormat }
            let place = VariantLayout.aligned(saltEnd, to: 4)
            let array = VariantLayout.aligned(place + 4, to: 8) + 12
            guard let iterations = VariantLayout.number(value, at: place, size: 4), iterations >= 1,
                array <= value.count - offset
            else { throw notThatFormat }
            guard iterations <= LibsecretFile.mostIterations else {
                throw ImportError(problem: .tooCostly, program: program)
            }
            salt = (4..<saltEnd).map { value[$0] }
            self.iterations = Int32(iterations)
            let list = value.extracting(array..<(value.count - offset))
            guard let ranges = VariantLayout.elements(of: list, alignment: 1) else { throw notThatFormat }
            var items: [[UInt8]] = []
            for range in ranges {
                let item = list.extracting(range)
                let end = item.count - VariantLayout.offsetSize(item.count)
                guard let blob = VariantLayout.end(ofPart: 0, in: item), blob <= end else { throw notThatFormat }
                items.append((blob..<end).map { item[$0] })
            }
            self.items = items
        }
    }

    /// `(a{ss}sttay)`: attributes, label, created, modified, secret.
    private final class Item: Sendable {
        let attributes: [String: String]
        let label: String
        /// In seconds since 1970.
        let modified: UInt64
        let secret: Secret<Password>

        init(_ value: Span<UInt8>) throws(ImportError) {
            let offsets = 2 * VariantLayout.offsetSize(value.count)
            guard let attributesEnd = VariantLayout.end(ofPart: 0, in: value),
                let labelEnd = VariantLayout.end(ofPart: 1, in: value), attributesEnd <= labelEnd,
                let label = VariantLayout.text(value.extracting(attributesEnd..<labelEnd))
            else { throw notThatFormat }
            let start = VariantLayout.aligned(labelEnd, to: 8) + 16
            guard start <= value.count - offsets,
                let modified = VariantLayout.number(value, at: start - 8, size: 8)
            else { throw notThatFormat }
            self.label = label
            self.modified = modified
            attributes = try Self.attributes(value.extracting(0..<attributesEnd))
            secret = Secret(copying: value.extracting(start..<(value.count - offsets)))
        }

        private static func attributes(_ array: Span<UInt8>) throws(ImportError) -> [String: String] {
            guard let ranges = VariantLayout.elements(of: array, alignment: 1) else { throw notThatFormat }
            var attributes: [String: String] = [:]
            for range in ranges {
                let pair = array.extracting(range)
                let end = pair.count - VariantLayout.offsetSize(pair.count)
                guard let middle = VariantLayout.end(ofPart: 0, in: pair), middle <= end,
                    let name = VariantLayout.text(pair.extracting(0..<middle)),
                    let value = VariantLayout.text(pair.extracting(middle..<end))
                else { throw notThatFormat }
                attributes[name] = value
            }
            return attributes
        }
    }
}

/// Where the parts of a serialised GVariant are (GVariant specification, 2.3): little-endian, of types known before.
///
/// Positions count from the start of the value. Every length comes from the file, so each step may find that a part
/// can't be there, and returns `nil` then.
enum VariantLayout {
    /// How many bytes a framing offset has in a container of this size.
    static func offsetSize(_ byteCount: Int) -> Int {
        switch byteCount {
        case ...0xFF: 1
        case ...0xFFFF: 2
        case ...0xFFFF_FFFF: 4
        default: 8
        }
    }

    /// A little-endian number of 1 to 8 bytes.
    static func number(_ bytes: Span<UInt8>, at position: Int, size: Int) -> UInt64? {
        guard position >= 0, size >= 0, position <= bytes.count - size else { return nil }
        var value: UInt64 = 0
        for index in (0..<size).reversed() { value = value << 8 | UInt64(bytes[position + index]) }
        return value
    }

    /// The end of a tuple's part of variable size. `place` counts such parts from 0, without the last one. The framing
    /// offsets are at the tuple's end, in reverse order.
    static func end(ofPart place: Int, in tuple: Span<UInt8>) -> Int? {
        let size = offsetSize(tuple.count)
        guard let end = number(tuple, at: tuple.count - (place + 1) * size, size: size) else { return nil }
        return end <= UInt64(tuple.count) ? Int(end) : nil
    }

    /// The ranges of an array's elements of variable size and with this alignment.
    static func elements(of array: Span<UInt8>, alignment: Int) -> [Range<Int>]? {
        if array.isEmpty { return [] }
        let size = offsetSize(array.count)
        guard let table = number(array, at: array.count - size, size: size).flatMap({ Int(exactly: $0) }),
            table <= array.count, (array.count - table) % size == 0
        else { return nil }
        var ranges: [Range<Int>] = []
        var start = 0
        for place in stride(from: table, to: array.count, by: size) {
            guard let end = number(array, at: place, size: size).flatMap({ Int(exactly: $0) }), start <= end,
                end <= table
            else { return nil }
            ranges.append(start..<end)
            start = aligned(end, to: alignment)
        }
        return ranges
    }

    static func aligned(_ position: Int, to alignment: Int) -> Int {
        (position + alignment - 1) / alignment * alignment
    }

    /// A string without the NUL at its end.
    static func text(_ bytes: Span<UInt8>) -> String? {
        guard !bytes.isEmpty, bytes[bytes.count - 1] == 0 else { return nil }
        return bytes.extracting(0..<(bytes.count - 1)).publicText()
    }
}
