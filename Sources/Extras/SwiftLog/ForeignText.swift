#if SwiftLog
    internal import LatchkeyLeakAudit
    internal import LatchkeyLog

    /// A line of another package on its way into a record. Each of its texts is bounded, searched and made inert.
    struct ForeignText {
        /// The text in the place of a credential.
        static let withheld = "(withheld)"

        /// The most that is shown of all values of one line's metadata, in bytes.
        static let maximumMetadataByteCount = 65_536

        /// How far beyond the end of what is shown is searched, so that no piece of a secret is left at the cut.
        private static let margin = 4096

        let secrets: LiveSecrets
        /// Whether one of the texts contains a secret in use: then the whole line is withheld.
        private(set) var holdsSecret = false
        /// How many bytes of metadata may still be shown.
        private(set) var metadataByteCount = Self.maximumMetadataByteCount

        init(secrets: LiveSecrets) {
            self.secrets = secrets
        }

        /// The text as a log may show it.
        mutating func shown(_ text: String, limit: Int = LoggableText.maximumByteCount) -> String {
            let all = text.utf8.span
            let bytes = all.extracting(first: limit + Self.margin)
            if secrets.isHeld(by: bytes) { holdsSecret = true }
            let look = Look(at: bytes)
            let found = look.mayHoldCredential ? Self.credentials(in: bytes) : []
            if found.isEmpty {
                if all.count <= limit { return look.isInert ? text : InertText.escape(text) }
                return InertText.escape(InertText.bounded(text, to: limit))
            }
            var result = ""
            var start = 0
            for range in found where range.lowerBound < limit {
                result += InertText.escape(Self.text(bytes, start..<range.lowerBound)) + Self.withheld
                start = range.upperBound
            }
            guard start < min(limit, all.count) else { return result }
            let rest = Self.text(bytes, start..<bytes.count)
            return result
                + InertText.escape(all.count > limit ? InertText.bounded(rest, to: limit - start, of: all.count) : rest)
        }

        /// Searches a text that was made fit to be shown before.
        mutating func search(_ text: String) {
            if secrets.isHeld(by: text.utf8.span.extracting(first: 256 + Self.margin)) { holdsSecret = true }
        }

        /// One look at each byte, which spares most texts all others.
        private struct Look {
            /// Nothing in it has to be escaped.
            private(set) var isInert: Bool
            /// Whether the text separates a name from a value, or is as long as a token.
            private(set) var mayHoldCredential: Bool

            init(at bytes: Span<UInt8>) {
                var isInert = true
                var hasSeparator = false
                for index in bytes.indices {
                    let byte = bytes[index]
                    isInert = isInert && byte >= 0x20 && byte < 0x7F && byte != 0x5C
                    hasSeparator = hasSeparator || byte == 0x20 || byte == 0x3A || byte == 0x3D
                }
                self.isInert = isInert
                mayHoldCredential = hasSeparator || bytes.count >= 20
            }
        }

        /// The same for one of many, which share `maximumMetadataByteCount`.
        mutating func shownInMetadata(_ text: String) -> String {
            let result = shown(text, limit: min(metadataByteCount, LoggableText.maximumByteCount))
            charge(result.utf8.count)
            return result
        }

        /// Reduces the rest of the limit. Values without text cost work too.
        mutating func charge(_ byteCount: Int) { metadataByteCount = max(0, metadataByteCount - byteCount) }

        /// A name for a field: letters, digits, `_`, `-` and `.`, of which there are 64 at most.
        mutating func name(_ text: String) -> String {
            let shown = shown(text, limit: 64)
            if shown.utf8.count <= 64, !shown.isEmpty, shown.utf8.allSatisfy(Self.isOfName) { return shown }
            let letters = shown.utf8.prefix(64).map { Self.isOfName($0) ? $0 : UInt8(ascii: "_") }
            return letters.isEmpty ? "_" : String(decoding: letters, as: UTF8.self)
        }

        /// The ranges with a credential's name or with the form of a well-known service's token, in order.
        private static func credentials(in bytes: Span<UInt8>) -> [Range<Int>] {
            let named = CredentialFields.ranges(in: bytes)
            let formed = KnownFormSearch.standard.all(in: bytes).map { match in
                // Only its first line has a form: what follows is the key.
                match.form == .privateKey ? match.range.lowerBound..<bytes.count : match.range
            }
            if formed.isEmpty { return named }
            var all: [Range<Int>] = []
            for range in (named + formed).sorted(by: { $0.lowerBound < $1.lowerBound }) {
                if let last = all.last, last.upperBound >= range.lowerBound {
                    all[all.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
                } else {
                    all.append(range)
                }
            }
            return all
        }

        private static func text(_ bytes: Span<UInt8>, _ range: Range<Int>) -> String {
            unsafe bytes.extracting(range).withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
        }

        private static func isOfName(_ byte: UInt8) -> Bool {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."): true
            default: false
            }
        }
    }
#endif
