internal import LatchkeyHTTP
internal import LatchkeyOAuth
internal import LatchkeySignIn
internal import Synchronization

/// Shows the code of a sign-in on another device at the person's terminal, with a countdown below it.
final class TerminalDevicePrompt: DevicePrompt {
    private let prompt: SecretPrompt
    private let output: TerminalOutput
    /// How long the command waits, which may be shorter than the code's life.
    private let timeout: Duration
    private let countdown = Mutex<Task<Void, Never>?>(nil)

    init(prompt: SecretPrompt, output: TerminalOutput, timeout: Duration) {
        self.prompt = prompt
        self.output = output
        self.timeout = timeout
    }

    func show(_ device: borrowing DeviceAuthorization) async throws(UserAgentError) {
        guard prompt.isPossible else { return try showWithoutTerminal(device) }
        do throws(PromptError) {
            try prompt.show("On any device, open this address and enter the code below it:")
            try prompt.show("")
            try prompt.show(
                "        \(LoggableText(reviewed: "where the server wants its codes entered", unredacted: device.address.text))"
            )
            try prompt.show("")
            var screen = try prompt.screen(indentedBy: 8)
            try device.userCode.pour(into: &screen)
            try prompt.show("")
        } catch {
            throw error.problem == .interrupted ? .cancelled : .unavailable(.noTerminal)
        }
        let isShort = timeout < device.lifetime
        let end = ContinuousClock.now + min(device.lifetime, timeout)
        let (prompt, ticking) = (prompt, ContinuousClock())
        let task = Task {
            while !Task.isCancelled {
                let left = max(0, ContinuousClock.now.duration(to: end).components.seconds)
                prompt.showStatus(
                    Self.line(seconds: left, isShort: isShort),
                    orShort: "Ends in \(Self.time(left)); Control-C to give up.")
                guard left > 0, (try? await ticking.sleep(for: .seconds(1))) != nil else { return }
            }
        }
        countdown.withLock { $0 = task }
    }

    /// Without a terminal, as in a container or under a supervisor, the code goes to standard error for its readers.
    private func showWithoutTerminal(_ device: borrowing DeviceAuthorization) throws(UserAgentError) {
        let address = LoggableText(
            reviewed: "where the server wants its codes entered", unredacted: device.address.text)
        output.note("on any device, open \(address) and enter the code in the next line")
        try mapError(
            { (_: CommandFailure) in UserAgentError.unavailable(.noTerminal) }, of: output.show(device.userCode))
        output.note("waiting up to \(min(device.lifetime, timeout).inWords) for you to do that")
    }

    /// The time in minutes and seconds.
    ///
    /// - Parameter isShort: whether the command gives up before the code has expired.
    static func line(seconds: Int64, isShort: Bool) -> LogMessage {
        let time = Self.time(seconds)
        let end: LogMessage = isShort ? "this ends in \(time)" : "the code is valid for \(time)"
        return "Waiting for you; \(end). Press Control-C to give up."
    }

    private static func time(_ seconds: Int64) -> LogMessage {
        let (minutes, rest) = (seconds / 60, seconds % 60)
        let digits: LogMessage = rest < 10 ? "0\(rest)" : "\(rest)"
        return "\(minutes):\(digits)"
    }

    func finish(_ outcome: SignInOutcome) async {
        let task = countdown.withLock { $0.take() }
        guard let task else { return }
        task.cancel()
        await task.value
        prompt.endStatus()
    }
}
