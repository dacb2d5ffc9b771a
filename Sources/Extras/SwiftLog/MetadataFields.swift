#if SwiftLog
    internal import LatchkeyLog
    internal import Logging

    /// Turns a line's metadata into fields: one for each key, with nested values as text.
    struct MetadataFields {
        /// How many keys of a line become fields.
        static let maximumCount = 64

        /// How deep values in values are shown.
        static let maximumDepth = 8

        /// Whether a value that a package has marked may be shown.
        private let showsMarked: (@Sendable (Logger.MetadataValue) -> Bool)?
        private(set) var fields: [LogField]

        init(beginningWith fields: [LogField], showsMarked: (@Sendable (Logger.MetadataValue) -> Bool)?) {
            self.fields = fields
            self.showsMarked = showsMarked
        }

        /// Adds a field that the line's metadata didn't bring.
        mutating func add(_ name: StaticString, _ value: String) {
            fields.append(LogField(foreign: free(name.description), LogMessage(foreign: value)))
        }

        /// Adds all of the metadata, by the order of the keys; how many were left out is a field too.
        mutating func add(_ metadata: Logger.Metadata, through text: inout ForeignText) {
            var count = 0
            for (key, value) in metadata.count > 1 ? metadata.sorted(by: { $0.key < $1.key }) : Array(metadata) {
                guard count < Self.maximumCount, text.metadataByteCount > 0 else { break }
                count += 1
                let name = free(text.name(key))
                fields.append(LogField(foreign: name, LogMessage(foreign: shown(value, of: key, through: &text))))
            }
            if count < metadata.count { add("metadata_left_out", "\(metadata.count - count)") }
        }

        /// The name, with `_` at its end until the name is free. A journal's entry has two names of its own, and a
        /// sign-in has one.
        private func free(_ name: String) -> String {
            var name = name
            let own = ["category", "level", "sign_in"]
            while own.contains(name) || fields.contains(where: { $0.name == name }) { name += "_" }
            return name
        }

        /// The text of one value; what it is called decides whether it is shown at all.
        private func shown(
            _ value: Logger.MetadataValue, of key: String?, depth: Int = 0, through text: inout ForeignText
        ) -> String {
            // A value may hold another one many times over, which takes no memory: so each costs something.
            text.charge(2)
            let string = Self.text(of: value) ?? ""
            // Under a plural name, such as `tokens`, a number is a count and not a credential.
            if let key, CredentialFields.isCredentialKey(key.utf8.span, of: string.utf8.span),
                !(SecretFieldName.isPlural(key.utf8.span, 0..<key.utf8.count) && Self.isNumber(value))
            {
                return ForeignText.withheld
            }
            switch value {
            case .string(let string): return text.shownInMetadata(string)
            case .stringConvertible(let convertible):
                if value.attributes != [], showsMarked?(value) != true { return ForeignText.withheld }
                return text.shownInMetadata(convertible.description)
            case .array(let values):
                guard depth < Self.maximumDepth else { return "[…]" }
                var parts: [String] = []
                var name: String?
                for value in values {
                    guard text.metadataByteCount > 0, parts.count < 1000 else { break }
                    // ["Authorization", "…"]
                    parts.append(shown(value, of: name, depth: depth + 1, through: &text))
                    name = Self.text(of: value)
                }
                if parts.count < values.count { parts.append("… \(values.count - parts.count) more") }
                return "[\(parts.joined(separator: ", "))]"
            case .dictionary(let values):
                guard depth < Self.maximumDepth else { return "{…}" }
                text.charge(values.count / 16)
                var parts: [String] = []
                // ["name": "Authorization", "value": "…"]
                let named = values.first { SecretFieldName.isWhole($0.key.utf8.span, "name", "key") }.flatMap {
                    Self.text(of: $0.value)
                }
                for (key, value) in values.sorted(by: { $0.key < $1.key }) {
                    guard text.metadataByteCount > 0, parts.count < 1000 else { break }
                    let shownKey = text.shownInMetadata(key)
                    let isValue = SecretFieldName.isWhole(key.utf8.span, "value", "values")
                    parts.append(
                        "\(shownKey): \(shown(value, of: isValue ? named ?? key : key, depth: depth + 1, through: &text))"
                    )
                }
                if parts.count < values.count { parts.append("… \(values.count - parts.count) more") }
                return "{\(parts.joined(separator: ", "))}"
            }
        }

        private static func text(of value: Logger.MetadataValue) -> String? {
            if case .string(let text) = value { text } else { nil }
        }

        private static func isNumber(_ value: Logger.MetadataValue) -> Bool {
            switch value {
            case .string(let text): !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
            case .stringConvertible(let value): value is any BinaryInteger
            case .array, .dictionary: false
            }
        }
    }
#endif
