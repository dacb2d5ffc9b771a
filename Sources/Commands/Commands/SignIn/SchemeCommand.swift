internal import LatchkeyLog
internal import LatchkeySecrets
internal import LatchkeySignIn
internal import LatchkeyCommandLine

/// `latchkey scheme add|list|remove|receive`.
enum SchemeCommand {
    private static let schemeName = CommandOperand.required("SCHEME", help: "such as com.example.app")

    static let add = Command(
        "scheme", "add", summary: "have the desktop hand over responses at a private-use scheme",
        operands: [schemeName], options: [SignInOptions.anyScheme],
        details: """
            By a private-use scheme the browser hands over the response of a sign-in where no loopback address is possible.
            This writes a desktop entry of this user's alone, and makes it the scheme's default in mimeapps.list. A
            sign-in whose redirect has the scheme then gets its response by it. Such a response stands on the command
            lines of the browser's helpers for a moment, and is useless without the verifier that only the sign-in has; a
            loopback redirect, which needs no entry, keeps it off them.
            """,
        examples: ["latchkey scheme add com.example.app"]
    ) { arguments, context in
        let scheme = arguments.operand("SCHEME")
        try SchemeEntries.check(scheme, allowingAny: arguments.has(SignInOptions.anyScheme))
        guard let program = ThisProgram.path else {
            throw CommandFailure(
                .unavailable, "program.not-found", "the path of this program can't be read",
                hint: ThisProgram.mountingProc)
        }
        try SchemeEntries(environment: context.environment).add(scheme, starting: program)
        context.output.note("the desktop hands over responses at \(shown(scheme)):")
        return .success
    }

    static let list = Command(
        "scheme", "list", summary: "list the schemes that have an entry",
        examples: ["latchkey scheme list"]
    ) { arguments, context in
        let schemes = SchemeEntries(environment: context.environment).schemes
        if arguments.has(GlobalOptions.json) {
            try context.output.write(.array(schemes.map { .message("\(shown($0))") }))
            return .success
        }
        var table = TextTable("SCHEME")
        for scheme in schemes { table.append("\(shown(scheme))") }
        try context.output.write(table, orNote: "no scheme has a desktop entry")
        return .success
    }

    static let remove = Command(
        "scheme", "remove", summary: "take the desktop entry of a scheme away", operands: [schemeName],
        examples: ["latchkey scheme remove com.example.app"]
    ) { arguments, context in
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

    static let receive = Command(
        "scheme", "receive", summary: "hand a response to the sign-in that waits for it",
        operands: [.required("URL", help: "where the browser ended")],
        details: "For the desktop entry, which starts it. Exit status 1: no sign-in waits for that response.",
        examples: ["latchkey scheme receive 'com.example.app:/callback?code=CODE&state=STATE'"]
    ) { arguments, context in
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
