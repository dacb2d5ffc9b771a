internal import LatchkeyJSON

/// `latchkey helper terraform VERB HOST`, also as `terraform-credentials-latchkey`: the credentials helper protocol of
/// Terraform and OpenTofu. The service of a host's token is `terraform:HOST`.
enum TerraformHelper {
    static let command = Command(
        "helper", "terraform", summary: "answer Terraform and OpenTofu, as terraform-credentials-latchkey",
        operands: [
            .choice("VERB", ["get", "store", "forget"], help: "get, store or forget"),
            .required("HOST", help: "host, such as app.terraform.io"),
        ],
        details: """
            ~/.terraform.d/plugins needs a link to this program named terraform-credentials-latchkey. ~/.terraformrc needs a line
            credentials_helper "latchkey" {}. The token of a host is stored under the service terraform:HOST, with the account token. For a host
            without a token, the helper returns a session's token if the session may be used there.
            """,
        examples: ["latchkey helper terraform get app.terraform.io"],
        calledAs: "terraform-credentials-latchkey", reportsError: reportInOneLine
    ) { arguments, context in
        let host = ASCII.lowercased(arguments.operand("HOST"))
        let key = try CredentialKey(service: "terraform:" + host, account: "token")
        let view = try await context.openView()
        switch arguments.operand("VERB") {
        case "get": try await get(host, key, view, context)
        case "store":
            let store = try await view.store(for: key, deadline: context.deadline)
            try await store.save(
                token().requiringContent(), for: key,
                options: SaveOptions(label: "Terraform: \(host)", contentType: .text),
                deadline: context.deadline)
        default:
            // That there was none is as good.
            try await view.forEach { try await $0.delete(key, condition: .none, deadline: context.deadline) }
        }
        return .success
    }

    private static func get(
        _ host: String, _ key: CredentialKey, _ view: StoreView, _ context: CommandContext
    ) async throws {
        var skipped: StoreError?
        let stored = try await view.credential(
            services: [key.service], account: key.account, deadline: context.deadline, skipped: &skipped)
        if let stored { return try answer(stored.secret.withoutLineBreak(), context) }
        if let session = try await context.session(at: "https://" + host, user: nil, view) {
            return try answer(session.token, context)
        }
        try view.checkAllSearched(skipped)
        try context.output.write("{}")
    }

    private static func answer<Purpose: SecretPurpose>(
        _ token: borrowing Secret<Purpose>, _ context: CommandContext
    ) throws {
        var json = JSONWriter()
        try json.member("token", secret: token)
        try context.output.write(secret: json.finish(as: MessageBody.self))
    }

    /// The token of the object on standard input. One with other members is refused: they would be lost.
    private static func token() throws -> Secret<Password> {
        let input = try SecretInput.readAll(as: MessageBody.self, limit: 256 << 10)
        guard let document = try? JSONDocument(input), document.hasOneMember, let member = document.member("token"),
            let token = try? document.secret(member, as: Password.self)
        else {
            throw CommandFailure(
                .badData, "helper.malformed", "standard input isn't a JSON object with a token alone",
                hint: "pass {\"token\": …}, as terraform login does")
        }
        return token
    }
}
