package import LatchkeyCredentials
internal import LatchkeySystem

/// A variable of the program that `run` starts.
package struct ChildVariable: Sendable, Hashable {
    package enum Value: Sendable, Hashable {
        /// Text that isn't ours to judge.
        case text(String)
        /// A stored secret.
        case secret(CredentialKey)
        /// The path of a file with a stored secret.
        case file(CredentialKey)
    }

    package let name: String
    package let value: Value

    package init(_ name: String, _ value: Value) {
        self.name = name
        self.value = value
    }

    /// Whether the store is needed for it.
    var isSecret: Bool {
        if case .text = value { return false }
        return true
    }
}

/// The name of a stored secret as one word: `SERVICE/ACCOUNT`, or `latchkey://SERVICE/ACCOUNT`.
///
/// The last slash divides the two: services are addresses often, and accounts seldom have a slash. `%2F` is a slash that
/// doesn't divide, and `%25` a percent sign (RFC 3986 section 2.1); every other character stands for itself.
package enum SecretReference {
    /// What tells a reference from other text.
    static let scheme = "latchkey://"

    /// Returns the key, or `nil` when the text is no reference.
    package static func key(of text: some StringProtocol) -> CredentialKey? {
        let bytes = Array(text.utf8).dropFirst(text.hasPrefix(scheme) ? scheme.utf8.count : 0)
        guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")), let service = decoded(bytes[..<slash]),
            let account = decoded(bytes[(slash + 1)...])
        else { return nil }
        return try? CredentialKey(service: service, account: account)
    }

    private static func decoded(_ text: ArraySlice<UInt8>) -> String? {
        var bytes: [UInt8] = []
        guard PercentEncoding.decode(Array(text).span, to: { bytes.append($0) }) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}
