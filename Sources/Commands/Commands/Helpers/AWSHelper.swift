internal import LatchkeyCredentials
internal import LatchkeyJSON
internal import LatchkeyLog
internal import LatchkeySecrets
internal import LatchkeyCommandLine

/// `latchkey helper aws PROFILE`: a `credential_process` of the AWS tools, version 1. The store has an access key under
/// the service `aws:PROFILE`, with its ID as the account.
enum AWSHelper {
    static let command = Command(
        "helper", "aws", summary: "answer the AWS tools with an access key",
        operands: [.required("PROFILE", help: "name of the AWS profile")],
        details: """
            Write `credential_process = latchkey helper aws PROFILE` into AWS's configuration, or run `latchkey setup aws`. Store the key
            under the service aws:PROFILE: its ID is the account, and the secret access key is the secret. If there are several keys,
            the helper returns the most recently changed one.
            """,
        examples: ["latchkey helper aws default"], reportsError: reportInOneLine
    ) { arguments, context in
        let service = "aws:" + arguments.operand("PROFILE")
        let view = try await context.openView()
        guard
            let record = try await view.credential(services: [service], account: nil, deadline: context.deadline)
        else {
            let shown = LoggableText(reviewed: "a service name is what a listing shows", unredacted: service)
            throw CommandFailure(
                .notFound, "credential.not-found", "no access key is stored for \(shown)",
                hint: "store one: latchkey set \(shown) ACCESS-KEY-ID")
        }
        var answer = JSONWriter()
        try answer.member("Version", integer: 1)
        try answer.member("AccessKeyId", publicText: record.metadata.key.account)
        try answer.member("SecretAccessKey", secret: record.secret.withoutLineBreak())
        try context.output.write(secret: answer.finish(as: MessageBody.self))
        return .success
    }
}
