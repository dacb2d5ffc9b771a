internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeyCommandLine

/// The two operands that name a credential.
enum KeyOperands {
    static let both: [CommandOperand] = [
        .required("SERVICE", help: "what the secret is for, such as a host"),
        .required("ACCOUNT", help: "whose it is"),
    ]
}

extension ParsedArguments {
    /// The key that SERVICE and ACCOUNT make.
    func credentialKey() throws(InvalidValue) -> CredentialKey {
        try CredentialKey(service: operand("SERVICE"), account: operand("ACCOUNT"))
    }
}
