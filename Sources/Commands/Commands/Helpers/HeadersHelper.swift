internal import LatchkeyJSON

/// `latchkey helper headers PROVIDER`: header fields of HTTP as a JSON object, for programs that run a command for them.
enum HeadersHelper {
    static let command = Command(
        "helper", "headers", summary: "write the HTTP header with a session's token",
        operands: [SignInOptions.provider],
        options: [SignInOptions.account],
        details: """
            For programs that run a command to get the headers of their requests, such as the headersHelper of an MCP server. The answer
            is one JSON object: {"Authorization": "Bearer …"}.
            """,
        examples: ["latchkey helper headers work"], reportsError: reportInOneLine
    ) { arguments, context in
        let session = try await context.session(arguments)
        var value = SecretBuilder()
        try value.append(publicText: "Bearer ")
        try value.append(session.token)
        var answer = JSONWriter()
        try answer.member("Authorization", secret: value.finish(as: MessageBody.self))
        try context.output.write(secret: answer.finish(as: MessageBody.self))
        return .success
    }
}
