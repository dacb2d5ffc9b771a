internal import LatchkeyLog
internal import LatchkeySignIn
internal import LatchkeyStoreCommands
internal import LatchkeyTerminal

/// `latchkey provider list`.
enum ProviderListCommand {
    static let command = Command(SignInDefinitions.providerList) { arguments, context in
        let folder = context.providers
        let all = try folder.names().compactMap { try folder.read($0) }
        if arguments.has(GlobalOptions.json) {
            try context.output.write(
                .array(all.map(json)))
            return .success
        }
        var table = TextTable("NAME", "SERVER", "CLIENT ID", "SCOPES")
        for one in all {
            table.append(
                "\(one.name)", "\(one.serverName)", "\(shown(one.clientID))",
                "\(shown(one.scopes.joined(separator: " ")))")
        }
        try context.output.write(table)
        return .success
    }

    private static func json(_ one: ProviderConfiguration) -> LatchkeyTerminal.JSONValue {
        let name: LogMessage = "\(one.name)"
        return .object([("name", .message(name)), ("configuration" as StaticString, one.json)])
    }

    private static func shown(_ text: String) -> LoggableText {
        LoggableText(reviewed: "a provider's configuration holds no secret", unredacted: text)
    }
}

extension ProviderConfiguration {
    /// The issuer, or the name of a built-in server.
    fileprivate var serverName: LoggableText {
        let text =
            switch server {
            case .issuer(let issuer): issuer
            case .builtIn(let service, let host): host.map { "\(service) at \($0)" } ?? service
            }
        return LoggableText(reviewed: "a server's public name", unredacted: text)
    }
}
