/// The file `keyring_pass.cfg` of Python keyring's plain-text backend (keyrings.alt).
///
/// A section is a service and an option an account, both with every byte but letters and digits written as `_` and two
/// hexadecimal digits; Python writes options in lower case. A value is base64 on the lines that follow.
package enum PythonKeyringFile {
    private static let program: StaticString = "Python keyring"

    /// Throws `ImportError` and what memory throws.
    package static func read(_ path: String) async throws -> CredentialImport {
        let content = try ForeignFile.read(path, of: program)
        var reader = Reader()
        try content.withExposedBytes { (bytes) throws(ImportError) in
            try bytes.forEachLine { (line, number) throws(ImportError) in try reader.take(line, number) }
        }
        try reader.finishEntry()
        var result = try CredentialImport()
        for entry in reader.entries {
            try await result.add(
                service: entry.service, account: entry.account, label: nil, secret: entry.secret.value.duplicate(),
                name: .entry(entry.service))
        }
        return result
    }

    private struct Entry {
        let service: String
        let account: String
        let secret: Box<Secret<Password>>
    }

    private struct Reader: ~Copyable {
        var entries: [Entry] = []
        private var service: String?
        private var account: String?
        private var base64 = SecretBuilder(limit: ForeignFile.maximumByteCount)
        private var line = 0

        mutating func take(_ text: Span<UInt8>, _ number: Int) throws(ImportError) {
            if text.isBlank { return }
            let isContinued = text[0] == 0x20 || text[0] == 0x09
            if isContinued, account != nil { return try append(text) }
            try finishEntry()
            line = number
            if text[0] == 0x23 || text[0] == 0x3B { return }
            if text[0] == 0x5B {
                guard let end = text.lastIndex(of: 0x5D), let name = Self.unescaped(text.extracting(1..<end)) else {
                    throw malformed
                }
                service = name
                // The encrypted backend's own entry.
                if name == "keyring-setting" { throw ImportError(problem: .sealed, program: program) }
                return
            }
            guard service != nil, let equals = text.index(of: 0x3D) else { throw malformed }
            var end = equals
            while end > 0 && text[end - 1] == 0x20 { end -= 1 }
            guard let name = Self.unescaped(text.extracting(0..<end)) else { throw malformed }
            account = name
            try append(text.extracting((equals + 1)..<text.count))
        }

        private mutating func append(_ text: Span<UInt8>) throws(ImportError) {
            for index in text.indices where text[index] != 0x20 && text[index] != 0x09 {
                try mapError(
                    { (_: SecretBuilder.LimitExceeded) in ImportError(problem: .tooLarge, program: program) },
                    of: base64.append(text[index]))
            }
        }

        mutating func finishEntry() throws(ImportError) {
            guard let service, let account else { return }
            guard let value = base64.withExposedBytes({ Secret<Password>(base64: $0) }) else { throw malformed }
            entries.append(Entry(service: service, account: account, secret: Box(value)))
            base64.removeAll()
            self.account = nil
        }

        private var malformed: ImportError { ImportError(problem: .malformed(line: line), program: program) }

        private static func unescaped(_ text: Span<UInt8>) -> String? {
            var bytes: [UInt8] = []
            var index = 0
            while index < text.count {
                let byte = text[index]
                index += 1
                guard byte == 0x5F else {
                    bytes.append(byte)
                    continue
                }
                guard index + 1 < text.count, let high = ASCII.hexValue(text[index]),
                    let low = ASCII.hexValue(text[index + 1])
                else { return nil }
                bytes.append(high << 4 | low)
                index += 2
            }
            return String(validating: bytes, as: UTF8.self)
        }
    }
}
