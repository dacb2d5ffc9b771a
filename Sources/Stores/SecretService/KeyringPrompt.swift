#if Desktop
    internal import Credentials

    /// A prompt that the service has ready: a dialog of the desktop, not of ours.
    @GLibThread struct KeyringPrompt {
        let path: String
        let session: KeyringSession

        private enum End: Sendable {
            case answered, dismissed, malformed, gone, interrupted
        }

        /// Shows the prompt and waits for the person. Dismisses it when the operation ends before.
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
            do throws(KeyringFailure) {
                // No window of ours to put it in front of.
                _ = try await session.call(.prompt, on: path, [.string("")], interruption)
            } catch {
                await dismiss()
                throw error
            }
            switch await interruption.wait(end) {
            case .answered: return
            case .dismissed: throw .store(.keyringPromptDismissed)
            case .malformed: throw .store(.keyringBrokeProtocol)
            case .gone: throw .store(.keyringWentAway)
            case .interrupted:
                await dismiss()
                throw .interrupted
            }
        }

        /// Takes the prompt away, or makes sure that it never appears. Nobody waits for the answer, because the operation
        /// is over; gnome-keyring 42 leaves a dialog open that is on the screen already.
        func dismiss() async {
            session.connection.send(.dismiss, on: path, of: session.owner, .tuple([]))
            await session.flush()
        }
    }
#endif
