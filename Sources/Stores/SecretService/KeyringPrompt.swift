internal import LatchkeyCredentials
internal import LatchkeyDBus

/// A prompt that the service has ready: a dialog of the desktop, not of ours.
@GLibThread struct KeyringPrompt {
    let path: String
    let session: KeyringSession

    private enum End: Sendable {
        case answered, dismissed, malformed, gone, interrupted
    }

    /// Shows the prompt and waits for the person.
    ///
    /// It stays when the operation ends before, because no client can take a prompt away safely: at `Dismiss`
    /// gnome-keyring (seen in 42) goes on with the first prompt that it shows, whosoever's that is, and aborts, as
    /// that one is not done. Then all its collections are locked, for all programs.
    func show(_ interruption: Interruption) async throws(KeyringFailure) {
        let end = Pending<End>()
        let subscription = session.connection.subscribe(
            sender: session.owner, interface: BusName.promptInterface, signal: "Completed", path: path
        ) { signal in
            guard signal.arguments.is("(bv)") else {
                end.complete(.malformed)
                return
            }
            end.complete(signal.arguments[0].boolean ? .dismissed : .answered)
        }
        let watch = session.whenGone(end, .gone)
        let number = interruption.trigger.onPull { end.complete(.interrupted) }
        defer {
            interruption.trigger.forget(number)
            withExtendedLifetime(subscription) {}
            withExtendedLifetime(watch) {}
        }
        // No window of ours to put it in front of.
        _ = try await session.call(.prompt, on: path, [.string("")], interruption)
        switch await interruption.trigger.wait(end) {
        case .answered: return
        case .dismissed: throw .store(.keyringPromptDismissed)
        case .malformed: throw .store(.keyringBrokeProtocol)
        case .gone: throw .store(.keyringWentAway)
        case .interrupted: throw .interrupted
        }
    }
}
