internal import LatchkeyJSON

/// `latchkey helper aws NAME`: a `credential_process` of the AWS tools, version 1. It answers with the access key that the
/// store has under the service `aws:NAME`, with its ID as the account; or with a role's temporary credentials, which AWS
/// gives for the ID token of the session at the provider NAME.
enum AWSHelper {
    private static let role = CommandOption.value(
        "--role-arn", "ARN", help: "role to get temporary credentials for, with the ID token of the provider NAME")
    private static let endpoint = CommandOption.value(
        "--sts-endpoint", "URL", help: "Security Token Service (default: https://sts.amazonaws.com)")

    static let command = Command(
        "helper", "aws", summary: "answer the AWS tools with an access key, or with a role's credentials",
        operands: [.required("NAME", help: "name of the AWS profile; with --role-arn, name of the provider")],
        options: [role, endpoint, SignInOptions.account, SignInOptions.certificateAuthority],
        details: """
            Write `credential_process = latchkey helper aws PROFILE` into AWS's configuration, or run `latchkey setup aws`. Store the key
            under the service aws:PROFILE: its ID is the account, and the secret access key is the secret. If there are several keys,
            the helper returns the most recently changed one, or the one that --account names.

            With --role-arn, no access key is stored. AWS must know the server of the provider as an OpenID Connect provider, and the
            role must trust it. The store keeps the credentials until shortly before they end, and all callers share them.
            """,
        examples: [
            "latchkey helper aws default",
            "latchkey helper aws work --role-arn arn:aws:iam::123456789012:role/deploy",
        ],
        // A descriptor can be read once, so the worker reads it.
        runs: { $0.has(role) && $0.has(GlobalOptions.passphraseDescriptor) ? .worker : .oneThread }, usesNetwork: true,
        reportsError: reportInOneLine
    ) { arguments, context in
        if let role = arguments.value(role) {
            try await context.output.write(
                secret: context.roleCredentials(
                    role, at: arguments.value(endpoint), provider: arguments.operand("NAME"), arguments))
        } else {
            guard !arguments.has(endpoint), !arguments.has(SignInOptions.certificateAuthority) else {
                throw CommandFailure(
                    .usage, "usage.missing-operand", "--sts-endpoint and --ca-file need --role-arn",
                    hint: "add --role-arn, or remove the option")
            }
            try await answerWithStoredKey(
                arguments.operand("NAME"), arguments.value(SignInOptions.account), context)
        }
        return .success
    }

    private static func answerWithStoredKey(
        _ profile: String, _ account: String?, _ context: CommandContext
    ) async throws {
        let service = "aws:" + profile
        let view = try await context.openView()
        guard let record = try await view.credential(service, account, deadline: context.deadline) else {
            let shown = LoggableText(reviewed: "a service name is what a listing shows", unredacted: service)
            let key: LogMessage = account.map { "access key \(CredentialName.word($0))" } ?? "access key"
            throw CommandFailure(
                .notFound, "credential.not-found", "no \(key) is stored for \(shown)",
                hint: "store one: latchkey set \(shown) ACCESS-KEY-ID")
        }
        var answer = JSONWriter()
        try answer.member("Version", integer: 1)
        try answer.member("AccessKeyId", publicText: record.metadata.key.account)
        try answer.member("SecretAccessKey", secret: record.secret.withoutLineBreak())
        try context.output.write(secret: answer.finish(as: MessageBody.self))
    }
}
