internal import LatchkeyLog
internal import LatchkeyProcess
internal import LatchkeySecrets
internal import LatchkeySignIn
internal import LatchkeyStoreCommands
internal import LatchkeyTerminal

/// `latchkey scheme add|list|remove|receive`.
enum SchemeCommand {
    static let add = Command(SignInDefinitions.schemeAdd) { arguments, context in
        let scheme = arguments.operand("SCHEME")
        try SchemeEntries.check(scheme, allowingAny: arguments.has(SignInDefinitions.anyScheme))
        guard let program = ThisProgram.path else {
            throw CommandFailure(.unavailable, "program.not-found", "the path of this program can't be read")
        }
        try SchemeEntries(environment: context.environment).add(scheme, starting: program)
        context.output.note("the desktop hands over responses at \(shown(scheme)):")
        return .success
    }

    static let list = Command(SignInDefinitions.schemeList) { arguments, context in
        let schemes = SchemeEntries(environment: context.environment).schemes
        if arguments.has(GlobalOptions.json) {
            try context.output.write(.array(schemes.map { .message("\(shown($0))") }))
            return .success
        }
        var table = TextTable("SCHEME")
        for scheme in schemes { table.append("\(shown(scheme))") }
        try context.output.write(table)
        return .success
    }

    static let remove = Command(SignInDefinitions.schemeRemove) { arguments, context in
        let scheme = arguments.operand("SCHEME")
        try SchemeEntries.check(scheme, allowingAny: true)
        guard try SchemeEntries(environment: context.environment).remove(scheme) else {
            throw CommandFailure(
                .notFound, "scheme.not-found", "there is no entry for \(shown(scheme))",
                hint: "see latchkey scheme list")
        }
        context.output.note("removed the entry for \(shown(scheme))")
        return .success
    }

    static let receive = Command(SignInDefinitions.schemeReceive) { arguments, context in
        let address = Secret<MessageBody>(copying: arguments.operand("URL").utf8.span)
        let folder = RedirectFolder.standard(in: context.environment)
        guard try folder.deliver(address) else {
            throw CommandFailure(
                .notFound, "scheme.nobody-waits", "no sign-in waits for that response",
                hint: "start the sign-in again, and answer only the page that it opens")
        }
        return .success
    }

    private static func shown(_ scheme: String) -> LoggableText {
        LoggableText(reviewed: "the name of a scheme that was checked", unredacted: scheme)
    }
}
