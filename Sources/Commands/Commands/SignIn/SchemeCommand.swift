internal import LatchkeySignIn

/// `latchkey scheme add|list|remove|receive`.
enum SchemeCommand {
    private static let schemeName = CommandOperand.required("SCHEME", help: "scheme, such as com.example.app")

    static let add = Command(
        "scheme", "add", summary: "let the desktop pass on responses for a private-use scheme",
        operands: [schemeName], options: [SignInOptions.anyScheme],
        details: """
            With a private-use scheme, the browser passes the response of a sign-in on to Latchkey where a loopback redirect isn't
            possible. scheme add writes a desktop entry for your user, and makes it the default for SCHEME in mimeapps.list.

            Other users can see the response on command lines for a moment. It is useless without the verifier, which only the sign-in
            has. A loopback redirect avoids that and needs no entry.
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
        "scheme", "list", summary: "list schemes with a desktop entry",
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
        "scheme", "remove", summary: "remove the desktop entry of a scheme", operands: [schemeName],
        examples: ["latchkey scheme remove com.example.app"]
    ) { arguments, context in
        let scheme = arguments.operand("SCHEME")
        try SchemeEntries.check(scheme, allowingAny: true)
        guard try SchemeEntries(environment: context.environment).remove(scheme) else {
            throw CommandFailure(
                .notFound, "scheme.not-found", "no desktop entry for \(shown(scheme))",
                hint: "run `latchkey scheme list` to see the schemes")
        }
        context.output.note("removed the entry for \(shown(scheme))")
        return .success
    }

    static let receive = Command(
        "scheme", "receive", summary: "pass a response on to the sign-in that waits for it",
        operands: [.required("URL", help: "address of the response")],
        details: """
            The desktop entry runs this command. Exits with 1 if no sign-in waits for the response.
            """,
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
