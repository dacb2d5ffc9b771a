/// `latchkey helper go [URL]`: a command of GOAUTH (`go help goauth`). Go gets git's credential for the host.
enum GoHelper {
    static let command = Command(
        "helper", "go", summary: "answer Go for private modules",
        operands: [.optional("URL", help: "address that the server refused (default: none, without an answer)")],
        details: """
            A GOAUTH command for Go 1.24 and later. Go gets the password that is stored for git with the longest path, or a session's
            token.
            """,
        examples: ["latchkey helper go https://example.org/module"], reportsError: reportInOneLine
    ) { arguments, context in
        // Before its first request Go asks for everything at once; it asks again for what it is refused.
        guard let address = arguments.optionalOperand("URL"), let origin = IndexName(address).origin,
            origin.hasPrefix("https://")
        else { return .success }
        let view = try await context.openView()
        // The address of a matching service is a prefix of the requested address.
        let services = IndexName(address).candidates.filter { $0.hasPrefix("https://") }.map { "git:" + $0 }
        var skipped: StoreError?
        if let record = try await view.credential(
            services: services, account: nil, deadline: context.deadline, skipped: &skipped,
            where: { GitSecret.isUsable($0) }), let secret = GitSecret(record.secret)
        {
            let place = record.metadata.key.service.dropFirst("git:".count)
            let user = GitExchange.user(ofAccount: record.metadata.key.account)
            try answer(String(place), user, secret.password, context)
        } else if let session = try await context.session(at: origin, user: nil, view) {
            try answer(origin, HostSession.user, session.token, context)
        } else {
            try view.checkAllSearched(skipped)
        }
        return .success
    }

    /// Writes one set: the prefix of the addresses, and the field to send there (RFC 7617, 2).
    private static func answer<Purpose: SecretPurpose>(
        _ prefix: String, _ user: String, _ password: borrowing Secret<Purpose>, _ context: CommandContext
    ) throws {
        var login = SecretBuilder()
        try login.append(publicText: user + ":")
        try login.append(password)
        var answer = SecretBuilder()
        try answer.append(publicText: prefix + "\n\nAuthorization: Basic ")
        try answer.append(login.finish(as: Password.self).base64Encoded())
        try answer.append(publicText: "\n\n")
        try context.output.write(secret: answer.finish(as: MessageBody.self))
    }
}
