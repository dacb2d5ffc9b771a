public import LatchkeyLog

extension SecretServiceConfiguration {
    /// Names a collection: what keyring applications call a keyring.
    public struct Collection: Sendable, Hashable, Loggable {
        enum Form: Sendable, Hashable {
            case alias(String)
            case label(String)
            case path(String)
        }
        let form: Form

        private init(_ form: Form) { self.form = form }

        /// The one that the desktop has as its default (the alias `default`).
        public static let standard = Collection(.alias("default"))
        /// The collection in memory until the end of the session (the alias `session`). Some services lack it.
        package static let session = Collection(.alias("session"))

        /// The longest name, in bytes.
        package static let maximumByteCount = 1024

        /// The one with exactly this label. Operations throw `unavailable` when there is none, and `ambiguous` when
        /// there is another one with the same label.
        ///
        /// - Parameter label: 1 to 1,024 bytes without a NUL; another one throws `InvalidValue`.
        public static func labelled(_ label: String) throws(InvalidValue) -> Collection {
            if label.isEmpty { throw invalid("the collection's name is empty") }
            if label.utf8.count > maximumByteCount {
                throw invalid("the collection's name is longer than \(maximumByteCount) bytes")
            }
            if label.utf8.contains(0) { throw invalid("the collection's label contains a NUL") }
            return Collection(.label(label))
        }

        /// The one at a path on the bus, such as `/org/freedesktop/secrets/collection/login`.
        ///
        /// The path is the collection's own, not an alias's (Secret Service API, "Object paths").
        package static func at(path: String) throws(InvalidValue) -> Collection {
            let prefix = "/org/freedesktop/secrets/collection/"
            let isName = { (byte: UInt8) in
                (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "_")
            }
            guard path.utf8.starts(with: prefix.utf8), path.utf8.count <= maximumByteCount,
                case let name = path.utf8.dropFirst(prefix.utf8.count), !name.isEmpty, name.allSatisfy(isName)
            else { throw invalid("the path isn't a collection of the Secret Service") }
            return Collection(.path(path))
        }

        /// Takes a name as people write it: `default`, `session`, a path, which starts with `/`, or else a label.
        ///
        /// Throws `InvalidValue` for a text of another form. Whether there is such a collection shows when it is
        /// used.
        public static func named(_ text: String) throws(InvalidValue) -> Collection {
            switch text {
            case "default": return .standard
            case "session": return .session
            default: return try text.hasPrefix("/") ? at(path: text) : labelled(text)
            }
        }

        private static func invalid(_ cause: LogMessage) -> InvalidValue {
            InvalidValue(
                .collection, cause,
                hint:
                    "use `default`, `session`, the label, or the path /org/freedesktop/secrets/collection/NAME"
            )
        }

        /// The name as `named` reads it.
        package var text: String {
            switch form {
            case .alias(let text), .label(let text), .path(let text): text
            }
        }

        /// Safe: labels and paths are what keyring applications show.
        public var logMessage: LogMessage {
            "\(LoggableText(reviewed: "a collection's name is shown in keyring applications", unredacted: text))"
        }
    }
}
