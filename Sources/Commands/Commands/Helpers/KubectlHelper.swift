internal import LatchkeyJSON
internal import LatchkeyLog
internal import LatchkeyProcess
internal import LatchkeySecrets
internal import LatchkeyCommandLine

/// `latchkey helper kubectl PROVIDER`: a plugin of client.authentication.k8s.io, version 1 or 1beta1, that answers with a
/// session's token.
enum KubectlHelper {
    static let command = Command(
        "helper", "kubectl", summary: "answer kubectl with a session's token",
        operands: [.required("PROVIDER", help: "provider's name from latchkey provider list")],
        options: [SignInOptions.account],
        details: """
            A client.authentication.k8s.io plugin, for the exec section of a user in a kubeconfig. Run `latchkey setup kubectl` to
            configure it. The cluster must accept the access tokens of PROVIDER.
            """,
        examples: ["latchkey helper kubectl work"], reportsError: reportInOneLine
    ) { arguments, context in
        let name = arguments.operand("PROVIDER")
        let view = try await context.openView()
        let account = arguments.value(SignInOptions.account)
        guard let session = try await context.session(ofProvider: name, user: account, view) else {
            let shown = LoggableText(reviewed: "a provider's name appears in listings", unredacted: name)
            throw CommandFailure(
                .notFound, "sign-in.not-signed-in", "no account is signed in at \(shown)",
                hint: "latchkey sign-in \(shown)")
        }
        var status = JSONWriter()
        try status.member("token", secret: session.accessToken)
        if let expiry = session.expiry {
            try status.member("expirationTimestamp", publicText: Moment(expiry).text)
        }
        var answer = SecretBuilder()
        try answer.append(
            publicText: "{\"apiVersion\":\"\(version(context).rawValue)\",\"kind\":\"ExecCredential\",\"status\":")
        try answer.append(status.finish(as: MessageBody.self))
        try answer.append(publicText: "}\n")
        try context.output.write(secret: answer.finish(as: MessageBody.self))
        return .success
    }

    private enum Version: String {
        case first = "client.authentication.k8s.io/v1"
        case beta = "client.authentication.k8s.io/v1beta1"
    }

    /// The version of the answer has to be that of the question; a call by hand gets the newest.
    private static func version(_ context: CommandContext) -> Version {
        guard let text = context.environment["KUBERNETES_EXEC_INFO"],
            let document = try? JSONDocument(Secret(copying: Array(text.utf8).span)),
            let version = document.member("apiVersion"),
            let name = try? document.publicText(version, limit: 256)
        else { return .first }
        return Version(rawValue: name) ?? .first
    }
}
