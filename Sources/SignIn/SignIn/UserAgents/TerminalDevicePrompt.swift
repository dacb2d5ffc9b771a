internal import LatchkeyHTTP
package import LatchkeyLog
package import LatchkeyOAuth
package import LatchkeyProcess
internal import Synchronization

/// Shows the code of a sign-in on another device at the person's terminal, with a countdown below it.
package final class TerminalDevicePrompt: DevicePrompt {
    private let prompt: SecretPrompt
    /// How long the caller waits, which may be shorter than the code's life; `nil` if that isn't known.
    private let timeout: Duration?
    private let showElsewhere: @Sendable (borrowing DeviceAuthorization) throws(UserAgentError) -> Void
    private let countdown = Mutex<Task<Void, Never>?>(nil)

    /// - Parameter showElsewhere: shows the code if there is no terminal.
    package init(
        prompt: SecretPrompt, timeout: Duration? = nil,
        showElsewhere: @escaping @Sendable (borrowing DeviceAuthorization) throws(UserAgentError) -> Void = {
            (_) throws(UserAgentError) in throw .unavailable(.noTerminal)
        }
    ) {
        self.prompt = prompt
        self.timeout = timeout
        self.showElsewhere = showElsewhere
    }

    package func show(_ device: borrowing DeviceAuthorization) async throws(UserAgentError) {
        guard prompt.isPossible else { return try showElsewhere(device) }
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
        let time = min(device.lifetime, timeout ?? device.lifetime)
        let isShort = time < device.lifetime
        let end = ContinuousClock.now + time
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

    /// The time in minutes and seconds.
    ///
    /// - Parameter isShort: whether the command gives up before the code has expired.
    package static func line(seconds: Int64, isShort: Bool) -> LogMessage {
        let time = Self.time(seconds)
        let end: LogMessage = isShort ? "this ends in \(time)" : "the code is valid for \(time)"
        return "Waiting for you; \(end). Press Control-C to give up."
    }

    private static func time(_ seconds: Int64) -> LogMessage {
        let (minutes, rest) = (seconds / 60, seconds % 60)
        let digits: LogMessage = rest < 10 ? "0\(rest)" : "\(rest)"
        return "\(minutes):\(digits)"
    }

    package func finish(_ outcome: SignInOutcome) async {
        let task = countdown.withLock { $0.take() }
        guard let task else { return }
        task.cancel()
        await task.value
        prompt.endStatus()
    }
}
