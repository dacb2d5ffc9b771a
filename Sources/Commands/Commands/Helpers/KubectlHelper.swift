internal import LatchkeyJSON

/// `latchkey helper kubectl PROVIDER`: a plugin of client.authentication.k8s.io, version 1 or 1beta1, that answers with a
/// session's token.
enum KubectlHelper {
    static let command = Command(
        "helper", "kubectl", summary: "answer kubectl with a session's token", operands: [SignInOptions.provider],
        options: [SignInOptions.account, TokenCommand.id],
        details: """
            A client.authentication.k8s.io plugin, for the exec section of a user in a kubeconfig. Run `latchkey setup kubectl` to
            configure it. The cluster must accept the access tokens of PROVIDER. A cluster that is set up for OpenID Connect takes ID
            tokens instead: add --id.
            """,
        examples: ["latchkey helper kubectl work", "latchkey helper kubectl work --id"], reportsError: reportInOneLine
    ) { arguments, context in
        let session = try await context.session(arguments, with: TokenCommand.kind(arguments))
        var status = JSONWriter()
        try status.member("token", secret: session.token)
        if let expiry = session.expiry {
            try status.member("expirationTimestamp", publicText: Moment(expiry).text)
        }
        var answer = SecretBuilder()
        try answer.append(
            publicText: "{\"apiVersion\":\"\(version(context))\",\"kind\":\"ExecCredential\",\"status\":")
        try answer.append(status.finish(as: MessageBody.self))
        try answer.append(publicText: "}\n")
        try context.output.write(secret: answer.finish(as: MessageBody.self))
        return .success
    }

    /// The version of the answer has to be that of the question; a call by hand gets the newest.
    private static func version(_ context: CommandContext) -> String {
        let newest = "client.authentication.k8s.io/v1"
        guard let text = context.environment["KUBERNETES_EXEC_INFO"],
            let document = try? JSONDocument(Secret(copying: Array(text.utf8).span)),
            let version = document.member("apiVersion"),
            let name = try? document.publicText(version, limit: 256)
        else { return newest }
        return name == "client.authentication.k8s.io/v1beta1" ? name : newest
    }
}
