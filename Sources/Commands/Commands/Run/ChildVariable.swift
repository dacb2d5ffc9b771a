package import LatchkeyCredentials

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
