internal import Glibc

/// The person's clipboard, which contains a secret only for a while.
///
/// The program that holds a selection ends when the person copies something else. So ending that program after a while
/// removes the secret if it is still there, and nothing else. No process of Latchkey stays.
struct Clipboard {
    private enum Way {
        /// A program that reads the secret from its standard input, with its starter.
        case program(StaticString, [String])
        case terminal
    }

    /// In seconds.
    static let time = 45
    /// The capacity of a pipe without a reader.
    static let maximumByteCount = 4096

    // A signal handler can reach nothing but globals.
    private nonisolated(unsafe) static var ending: Int32 = 0

    private let way: Way
    private let context: CommandContext

    /// Throws if there is neither a display with a clipboard program nor a terminal.
    init(_ context: CommandContext) throws(CommandFailure) {
        self.context = context
        let environment = context.environment
        func isInstalled(_ program: String) -> Bool {
            DetachedProgram.path(of: program, in: environment["PATH"]) != nil
        }
        func has(_ display: String, _ program: String) -> Bool { environment[display] != nil && isInstalled(program) }
        if has("WAYLAND_DISPLAY", "wl-copy") {
            // A signal would leave its temporary file behind; when it loses the selection it removes that.
            let script = """
                (sleep \(Self.time); exec wl-copy --clear) & clock=$!
                wl-copy --foreground --type text/plain; status=$?; kill $clock; exit $status
                """
            way = .program("wl-copy", ["sh", "-c", script])
        } else if has("DISPLAY", "xclip") {
            let arguments = ["timeout", String(Self.time), "xclip", "-selection", "clipboard", "-quiet", "-in"]
            way = .program("xclip", arguments)
        } else if context.prompt.isPossible && environment["TERM"] != "dumb" {
            // A dumb terminal would show the sequence with the secret.
            way = .terminal
        } else {
            let lacksDisplay = !environment.hasDisplay && (isInstalled("wl-copy") || isInstalled("xclip"))
            throw CommandFailure(
                .unavailable, "clipboard.none",
                lacksDisplay
                    ? "no clipboard: WAYLAND_DISPLAY and DISPLAY aren't set to a display"
                    : "no clipboard can be reached from here",
                hint: lacksDisplay
                    ? "run it in the desktop's session, or in a terminal"
                    : "install wl-clipboard or xclip, or run the command in a terminal")
        }
    }

    func copy(_ secret: borrowing Secret<Password>) throws {
        guard secret.byteCount <= Self.maximumByteCount else {
            throw CommandFailure(
                .badData, "clipboard.too-long",
                "the secret has more than \(Self.maximumByteCount) bytes, too many for a clipboard",
                hint: "write it to a pipe instead")
        }
        switch way {
        case .program(let name, let arguments):
            try start(arguments, name, secret)
            context.output.note(
                "copied; the secret is removed in \(Self.time) seconds")
        case .terminal:
            // A signal clears the clipboard too.
            for number in [SIGTERM, SIGHUP] where !SignalEffect.isIgnored(number) {
                signal(number) { unsafe Clipboard.ending = $0 }
            }
            try context.prompt.copyToTerminal(secret)
            waitForPerson()
            try context.prompt.clearTerminalClipboard()
            if unsafe Self.ending != 0 {
                SecretPrompt.restoreTerminal()
                unsafe signal(Self.ending, SIG_DFL)
                unsafe raise(Self.ending)
            }
        }
    }

    private func start(
        _ arguments: [String], _ name: StaticString, _ secret: borrowing Secret<Password>
    ) throws {
        let notStarted = { (error: SystemErrorNumber) in refused(name, "can't be started: \(error)") }
        var ends = try mapError(notStarted, of: DescriptorBytes.pipe())
        defer { for end in [ends.reading, ends.writing] where end >= 0 { close(end) } }
        var variables = context.environment.variables
        // wl-copy writes a temporary file: this puts the file into memory.
        if let folder = context.environment.runtimeDirectory { variables["TMPDIR"] = folder }
        let program = try mapError(
            notStarted, of: DetachedProgram(arguments, environment: variables, input: ends.reading))
        // This process has the reading end open, so SIGPIPE can't occur. The pipe has room for the secret.
        var sink = FileDescriptorSecretSink(descriptor: ends.writing)
        if failure(FileDescriptorSecretSink.WriteFailure.self, of: try secret.pour(into: &sink)) != nil {
            throw refused(name, "doesn't take the secret")
        }
        close(ends.writing)
        ends.writing = -1
        // One that can't reach its display says so by its end. A clipboard manager may take all from it at once.
        for _ in 0..<5 {
            usleep(50_000)
            guard let ending = program.present else { continue }
            guard ending == .exited(0) else { throw refused(name, "refused") }
            break
        }
    }

    private func refused(_ name: StaticString, _ what: LogMessage) -> CommandFailure {
        CommandFailure(
            .unavailable, "clipboard.refused", "\(name) \(what)", hint: "make sure that `\(name)` works in this session"
        )
    }

    /// Nothing may write to the terminal later, in the midst of what other programs show.
    private func waitForPerson() {
        let limit = ContinuousClock.now + .seconds(Self.time)
        _ = try? context.prompt.ask(
            "Asked the terminal to copy it; not every terminal does. Enter takes it away, and \(Self.time) seconds do",
            as: MessageBody.self,
            stopping: { unsafe Self.ending == 0 && ContinuousClock.now < limit ? nil : .timedOut })
    }
}
