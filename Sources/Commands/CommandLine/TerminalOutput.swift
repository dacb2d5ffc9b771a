internal import Glibc
package import LatchkeyLog
package import LatchkeyProcess

/// The output of a program: results on standard output, everything else on standard error.
///
/// Results consist of `Loggable` parts, so they can't contain a secret. Only `write(secret:)` writes a secret; `get` and
/// `token` use it.
package struct TerminalOutput: Sendable {
    private let program: StaticString
    private let standardOutput: Int32
    private let standardError: Int32
    private let errorsAreColoured: Bool
    /// Whether the terminal can't move its cursor.
    private let isDumb: Bool
    private let secrets: LiveSecrets?
    /// Whether a program reads, which asked for JSON: then messages are objects, one a line (Docs/Reference/json.md).
    package private(set) var isJSON = false
    /// The option for the vault in the commands that messages show; empty if each command finds the vault itself.
    private var vaultOption = ""
    /// The width of a table in columns; `nil` if standard output isn't a terminal.
    private let width: Int?
    /// How many columns help may have.
    private let helpWidth: Int

    /// - Parameters:
    ///   - environment: `NO_COLOR` (not empty) and `TERM=dumb` turn colour off. Colour is only on if standard error is a
    ///     terminal.
    ///   - secrets: a message that contains one of these is withheld and counted.
    package init(
        program: StaticString, environment: ProgramEnvironment, standardOutput: Int32 = 1, standardError: Int32 = 2,
        withholding secrets: LiveSecrets? = nil
    ) {
        self.secrets = secrets
        self.program = program
        self.standardOutput = standardOutput
        self.standardError = standardError
        width = Self.width(of: standardOutput, environment)
        helpWidth = width ?? Self.columns(environment) ?? 80
        isDumb = environment["TERM"] == "dumb"
        errorsAreColoured = isatty(standardError) == 1 && environment["NO_COLOR"] == nil && !isDumb
    }

    /// Whether a person sees standard error.
    package var tellsPerson: Bool { isatty(standardError) == 1 }

    // MARK: - Results

    /// Writes one line.
    package func write(_ line: LogMessage) throws(CommandFailure) { try write(text: line.text + "\n") }

    package func write(_ table: TextTable) throws(CommandFailure) { try write(text: table.text(width: width)) }

    /// Writes a table; for an empty one, a note says why there is nothing on standard output.
    package func write(_ table: TextTable, orNote absence: LogMessage) throws(CommandFailure) {
        if table.isEmpty { note(absence) } else { try write(table) }
    }

    /// Writes a result as a line, or as JSON with `--json`.
    package func write(_ line: LogMessage, json: @autoclosure () -> JSONOutput) throws(CommandFailure) {
        if isJSON { try write(json()) } else { try write(line) }
    }

    /// Prints the outcome on standard error, or as the result with `--json`.
    package func tell(_ what: LogMessage, json: @autoclosure () -> JSONOutput) throws(CommandFailure) {
        if isJSON { try write(json()) } else { note(what) }
    }

    package func write(_ value: JSONOutput) throws(CommandFailure) { try write(text: value.text + "\n") }

    package func write(_ help: HelpText) throws(CommandFailure) { try write(text: help.text(width: helpWidth)) }

    /// Writes a candidate of a completion on a separate line for the shell: the word verbatim, a tab, and its meaning.
    /// Leaves out a candidate with a control character, because it doesn't fit on a line.
    package func write(candidate word: LoggableText, meaning: LogMessage = "") throws(CommandFailure) {
        let bytes = word.unredacted.utf8
        if bytes.isEmpty || bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) { return }
        try write(text: "\(word.unredacted)\t\(meaning.text)\n")
    }

    func write(text: String) throws(CommandFailure) {
        guard let number = Self.write(text, to: standardOutput) else { return }
        throw CommandFailure.cannotWriteOutput(number)
    }

    /// Writes only the bytes of a secret to standard output.
    ///
    /// Control characters are escaped on a terminal unless `isRaw`, because the terminal would obey them; a note says
    /// so. A line break follows on standard error, so that the next prompt starts a new line.
    package func write<Purpose: SecretPurpose>(
        secret: borrowing Secret<Purpose>, isRaw: Bool = false
    ) throws(CommandFailure) {
        guard isatty(standardOutput) == 1 else { return try pour(secret) }
        switch isRaw ? nil : secret.escapedForTerminal() {
        case .none:
            try pour(secret)
            _ = PipeSafeWrite.write("\n", to: standardError)
        case .some(let escaped):
            try pour(escaped)
            _ = PipeSafeWrite.write("\n", to: standardError)
            note("control characters are escaped on a terminal; a pipe or --raw gets them unchanged")
        }
    }

    private func pour<Purpose: SecretPurpose>(_ secret: borrowing Secret<Purpose>) throws(CommandFailure) {
        var sink = FileDescriptorSecretSink(descriptor: standardOutput)
        try mapError(
            { (error: FileDescriptorSecretSink.WriteFailure) in CommandFailure.cannotWriteOutput(error.number) },
            of: secret.pour(into: &sink))
    }

    /// Writes a secret on a line of its own to standard error: the code of a sign-in on another device, where there is
    /// no terminal to show it on. One with control characters is refused.
    package func show<Purpose: SecretPurpose>(_ secret: borrowing Secret<Purpose>) throws(CommandFailure) {
        var sink = StandardErrorSecretSink(descriptor: standardError)
        try secret.pour(into: &sink)
    }

    // MARK: - Messages

    /// Says on standard error what went wrong and what to do about it.
    package func report(_ error: any RedactedError) {
        _ = PipeSafeWrite.write(text(of: error), to: standardError)
    }

    /// The text that `report` writes.
    package func text(of error: some RedactedError) -> String {
        let isWithheld = isWithheld(error.logMessage)
        if isJSON {
            return object(
                "error", isWithheld ? Self.withheld : error.cause.worded.text, hint: error.hint, code: error.codeName,
                error.logMessage.fields)
        }
        let message = isWithheld ? "\(Self.withheld) [\(error.codeName)]" : error.logMessage.text
        var text = "\(program): \(painted("error:", "1;31")) \(message)\n"
        if let hint = error.hint { text += "\(program): \(painted("hint:", "1;36")) \(clean(hint))\n" }
        return text
    }

    /// Prints a warning on standard error: the command succeeded, but something needs attention.
    package func warn(_ message: LogMessage, hint: LogMessage) {
        if isJSON { return say("warning", message, hint: hint) }
        let warning = "\(program): \(painted("warning:", "1;33")) \(clean(message))\n"
        _ = PipeSafeWrite.write(warning + "\(program): \(painted("hint:", "1;36")) \(clean(hint))\n", to: standardError)
    }

    /// Says something on standard error, such as which store was chosen.
    package func note(_ message: LogMessage) {
        if isJSON { return say("note", message) }
        _ = PipeSafeWrite.write("\(program): \(clean(message))\n", to: standardError)
    }

    /// The same for a program: an object in a line of its own.
    private func say(_ level: String, _ message: LogMessage, hint: LogMessage? = nil) {
        _ = PipeSafeWrite.write(object(level, clean(message), hint: hint, message.fields), to: standardError)
    }

    /// - Parameter fields: numbers of the system's errors.
    private func object(
        _ level: String, _ message: String, hint: LogMessage?, code: StaticString? = nil, _ fields: [LogField]
    ) -> String {
        var members = [("level", level)]
        if let code { members.append(("code", code.description)) }
        members.append(("message", message))
        if let hint { members.append(("hint", clean(hint))) }
        let texts = members.map { "\(JSONText.quote($0)): \(JSONText.quote($1))" }
        let numbers = fields.map { "\(JSONText.quote($0.name)): \($0.value.text)" }
        return "{\((texts + numbers).joined(separator: ", "))}\n"
    }

    /// Says on standard error how the program is used.
    package func explain(_ help: HelpText) { _ = PipeSafeWrite.write(help.text(width: helpWidth), to: standardError) }

    /// A line that shows how far a long piece of work is, for a person at a terminal.
    ///
    /// - Parameter total: the number of things to do; `nil` where only a fraction is known.
    package func progress(_ work: StaticString, of total: Int? = nil) -> ProgressLine {
        let start = ContinuousClock.now
        return ProgressLine(
            "\(program): \(work)", of: total, on: showsProgress ? standardError : nil
        ) { ContinuousClock.now - start }
    }

    /// Shows on one line what the program waits for, until the wait ends, for a person at a terminal.
    package func showWaits() {
        guard showsProgress else { return }
        LongWait.listen { [program, standardError] reason in
            let line: LogMessage = reason.map { "\(program): \($0) …" } ?? ""
            _ = PipeSafeWrite.write(
                TerminalDevice.status(line.text, on: standardError) + (reason == nil ? "\r" : ""), to: standardError)
        }
    }

    private var showsProgress: Bool { isatty(standardError) == 1 && !isJSON && !isDumb }

    /// The same output for a program that asked for JSON.
    package func inJSON() -> TerminalOutput {
        var output = self
        output.isJSON = true
        return output
    }

    /// The same output for a command with an option for the vault: the commands in its messages get the option too.
    package func naming(vault path: LoggableText) -> TerminalOutput {
        var output = self
        output.vaultOption = " --vault \(("\(path)" as LogMessage).text)"
        return output
    }

    /// The words of a message, as a person or another program may get them.
    package func words(of message: LogMessage) -> String {
        let text = message.worded.text
        if vaultOption.isEmpty { return text }
        let parts = text.split(separator: "`", omittingEmptySubsequences: false)
        return parts.enumerated().map { index, part in
            let words = part.split(separator: " ")
            let isAboutIt =
                index % 2 == 1 && words.count > 1 && words[0] == "latchkey"
                && words.allSatisfy { !["--vault", "--store", "--collection"].contains($0) }
                && (words[1] == "list"
                    || words[1] == "vault" && words.count > 2 && !["schema", "new-key"].contains(words[2]))
            return isAboutIt ? part + vaultOption : String(part)
        }.joined(separator: "`")
    }

    /// The width that a terminal has: what `COLUMNS` says, or else the terminal itself.
    private static func columns(_ environment: ProgramEnvironment) -> Int? {
        environment["COLUMNS"].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
    }

    private static func width(of descriptor: Int32, _ environment: ProgramEnvironment) -> Int? {
        guard isatty(descriptor) == 1 else { return nil }
        if let columns = columns(environment) { return columns }
        var size = winsize()
        guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// The text in place of a message that contains a secret, such as a server's text.
    private static let withheld = "this message was withheld: a secret that is in use stood in it"

    private func isWithheld(_ message: LogMessage) -> Bool {
        guard let secrets, secrets.isHeld(by: message) else { return false }
        secrets.countWithheld()
        return true
    }

    private func clean(_ message: LogMessage) -> String { isWithheld(message) ? Self.withheld : words(of: message) }

    private func painted(_ word: String, _ colour: String) -> String {
        errorsAreColoured ? "\u{1B}[\(colour)m\(word)\u{1B}[0m" : word
    }

    /// Returns the errno of a failure, or `nil`.
    private static func write(_ text: String, to descriptor: Int32) -> Int32? {
        failure(SystemErrorNumber.self, of: try DescriptorBytes.write(text.utf8.span, to: descriptor))?.number
    }
}

extension CommandFailure {
    /// - Parameter number: the errno of write(2).
    package static func cannotWriteOutput(_ number: Int32, to descriptor: Int32 = 1) -> CommandFailure {
        let output: LogMessage = descriptor == 1 ? "standard output" : "standard error"
        return CommandFailure(
            .cannotWrite, "output.cannot-write", "can't write to \(output): \(SystemErrorNumber(number))",
            hint: "make sure that \(output) is open and that its disk has room")
    }
}

/// One line that is written over, from a second after the start of the work to its end: count, total and time left.
package struct ProgressLine: Sendable {
    private let work: LogMessage
    private let total: Int?
    private let descriptor: Int32?
    private let elapsed: @Sendable () -> Duration

    /// - Parameters:
    ///   - descriptor: of a terminal; `nil` shows nothing.
    ///   - elapsed: since the start of the work.
    init(
        _ work: LogMessage, of total: Int?, on descriptor: Int32?, elapsed: @escaping @Sendable () -> Duration
    ) {
        self.work = work
        self.total = total
        self.descriptor = descriptor
        self.elapsed = elapsed
    }

    /// Work of less than a second shows nothing.
    private var isVisible: Bool { descriptor != nil && elapsed() >= .seconds(1) }

    /// Shows how many things are done.
    package func show(_ done: Int) {
        guard isVisible, let total, total > 0 else { return }
        show("\(min(done, total)) of \(total)", Double(done) / Double(total))
    }

    /// Shows which part of the work is done, from 0 to 1.
    package func show(fraction: Double) {
        if isVisible { show("\(Int(min(max(fraction, 0), 1) * 100)) %", fraction) }
    }

    private func show(_ amount: LogMessage, _ fraction: Double) {
        let seconds = Int(Double(elapsed().components.seconds) * (1 - fraction) / max(fraction, 0.001))
        let left: LogMessage =
            fraction < 0.01 ? "" : seconds < 60 ? ", \(seconds) s left" : ", \((seconds + 59) / 60) min left"
        write(work.text + " " + amount.text + left.text)
    }

    /// Removes the line.
    package func end() {
        if isVisible { write("", "\r") }
    }

    private func write(_ line: String, _ end: String = "") {
        guard let descriptor else { return }
        _ = PipeSafeWrite.write(TerminalDevice.status(line, on: descriptor) + end, to: descriptor)
    }
}
