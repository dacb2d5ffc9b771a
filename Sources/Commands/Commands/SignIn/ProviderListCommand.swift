internal import LatchkeySignIn

/// `latchkey provider list`.
enum ProviderListCommand {
    private static let available = CommandOption.flag(
        "--available", help: "list the built-in services, with the command to sign in at each")

    static let command = Command(
        "provider", "list", summary: "list the servers to sign in at", options: [available],
        examples: ["latchkey provider list"]
    ) { arguments, context in
        if arguments.has(available) {
            try listAvailable(context.output)
            return .success
        }
        let folder = context.providers
        let all = try folder.names().compactMap { try folder.read($0) }
        if arguments.has(GlobalOptions.json) {
            try context.output.write(
                .array(all.map(json)))
            return .success
        }
        var table = TextTable("NAME", "SERVER", "CLIENT ID", "SCOPES", dropping: ["SCOPES", "CLIENT ID"])
        for one in all {
            table.append(
                "\(one.name)", "\(one.serverName)", "\(shown(one.clientID))",
                "\(shown(one.scopes.joined(separator: " ")))")
        }
        try context.output.write(
            table,
            orNote: "no provider was added; run `latchkey provider list --available` to see the built-in services")
        return .success
    }

    /// The built-in services, each with the command that signs in there.
    private static func listAvailable(_ output: TerminalOutput) throws {
        var table = TextTable("SERVICE", "SIGN IN WITH", "CLIENT ID FROM", wrapping: true, dropping: ["CLIENT ID FROM"])
        var list: [JSONOutput] = []
        for service in BuiltInProvider.all {
            let page = service.registrationPage().map(shown)
            let needsClientID = service.standardClientID == nil && !service.registersPrograms
            let name = service.name
            let command: LogMessage =
                service.findsServerByAccount
                ? "latchkey sign-in \(name) --account HANDLE"
                : service.registersPrograms
                    ? "latchkey sign-in \(name) --host HOST" : "latchkey sign-in \(name) --client-id ID"
            table.append("\(service.name)", command, page.map { "\($0)" } ?? "not needed")
            list.append(
                .object([
                    ("service", .message("\(service.name)")), ("command", .message(command)),
                    ("needs_client_id", .bool(needsClientID)), ("registration_page", .optional(page)),
                ]))
        }
        if output.isJSON { try output.write(.array(list)) } else { try output.write(table) }
    }

    private static func json(_ one: ProviderConfiguration) -> JSONOutput {
        let name: LogMessage = "\(one.name)"
        return .object([("name", .message(name)), ("configuration" as StaticString, one.json)])
    }

    private static func shown(_ text: String) -> LoggableText {
        LoggableText(reviewed: "a provider's configuration holds no secret", unredacted: text)
    }
}

extension ProviderConfiguration {
    /// The issuer, or the name of a built-in server.
    var serverName: LoggableText {
        let text =
            switch server {
            case .issuer(let issuer): issuer
            case .builtIn(let service, let host): host.map { "\(service) at \($0)" } ?? service
            }
        return LoggableText(reviewed: "a server's public name", unredacted: text)
    }
}
