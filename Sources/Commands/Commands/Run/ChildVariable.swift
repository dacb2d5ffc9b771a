/// A variable of the program that `run` starts.
package struct ChildVariable: Sendable, Hashable {
    package enum Value: Sendable, Hashable {
        /// Text that isn't ours to judge.
        case text(String)
        /// A stored secret.
        case secret(CredentialName)
        /// The path of a file with a stored secret.
        case file(CredentialName)
    }

    package let name: String
    package let value: Value

    package init(_ name: String, _ value: Value) {
        self.name = name
        self.value = value
    }

    /// Whether the store is needed for it.
    var isSecret: Bool { if case .text = value { false } else { true } }
}

/// The name of a stored secret as one word: `SERVICE/ACCOUNT` or `SERVICE`, or the same after `latchkey://`.
///
/// The last slash divides service and account, because services are often addresses and accounts rarely have a slash.
/// If nothing comes after the last slash, the account is missing, as in `https://example.org/`. `%2F` is a slash that
/// doesn't divide, and `%25` a percent sign (RFC 3986 section 2.1). Every other character is literal.
package enum SecretReference {
    /// The mark of a reference.
    static let scheme = "latchkey://"

    /// Returns the name, or `nil` when the text isn't a reference.
    package static func name(of text: some StringProtocol) -> CredentialName? {
        let bytes = Array(text.utf8).dropFirst(text.hasPrefix(scheme) ? scheme.utf8.count : 0)
        let slash = bytes.lastIndex(of: UInt8(ascii: "/")) ?? bytes.endIndex
        guard let service = decoded(bytes[..<slash]), let account = decoded(bytes[slash...].dropFirst()) else {
            return nil
        }
        return try? CredentialName(service: service, account: account.isEmpty ? nil : account)
    }

    /// Returns the key, or `nil` when the text isn't a reference with an account.
    package static func key(of text: some StringProtocol) -> CredentialKey? { name(of: text)?.key }

    private static func decoded(_ text: ArraySlice<UInt8>) -> String? {
        var bytes: [UInt8] = []
        guard PercentEncoding.decode(Array(text).span, to: { bytes.append($0) }) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}
