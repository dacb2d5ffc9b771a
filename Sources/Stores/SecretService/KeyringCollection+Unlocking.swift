#if Desktop
    internal import Credentials

    extension KeyringCollection {
        /// Unlocks the collection when it is locked, and returns whether it was.
        func unlockIfLocked(
            _ session: KeyringSession, _ interruption: Interruption
        ) async throws(KeyringFailure) -> Bool {
            guard try await isLocked(session, interruption) else { return false }
            try await unlock(paths: [ownPath(session, interruption)], session, interruption)
            return true
        }

        /// Unlocks those of the items that are locked, and returns whether there were any: their attributes may only have
        /// become readable.
        func unlock(
            _ items: [KeyringItem], _ session: KeyringSession, _ interruption: Interruption
        ) async throws(KeyringFailure) -> Bool {
            let locked = items.filter(\.isLocked).map(\.path)
            if locked.isEmpty { return false }
            try await unlock(paths: locked, session, interruption)
            return true
        }

        private func unlock(
            paths: [String], _ session: KeyringSession, _ interruption: Interruption
        ) async throws(KeyringFailure) {
            let answer = try await session.call(.unlock, on: BusName.service, [.paths(paths)], interruption)
            let prompt = answer[1].text
            if prompt == BusName.nothing {
                let unlocked = Set(answer[0].texts)
                if !paths.allSatisfy(unlocked.contains) { throw .store(.keyringStaysLocked) }
                return
            }
            try await finish(prompt: prompt, session, interruption)
        }

        /// Shows a prompt and waits for the person, if there is a prompt to show.
        func finish(
            prompt: String, _ session: KeyringSession, _ interruption: Interruption
        ) async throws(KeyringFailure) {
            if prompt == BusName.nothing { return }
            guard configuration.mayPrompt else {
                session.connection.send(.dismiss, on: prompt, of: session.owner, .tuple([]))
                throw .store(.keyringLocked)
            }
            let completed = Pending<Bool?>()
            let subscription = session.connection.subscribe(
                sender: session.owner, interface: BusName.promptInterface, signal: "Completed", path: prompt
            ) { _, _, arguments in
                completed.complete(arguments.is("(bv)") ? arguments[0].boolean : nil)
            }
            let number = interruption.trigger.onPull { completed.complete(nil) }
            defer { interruption.trigger.forget(number) }
            _ = try await session.call(.prompt, on: prompt, [.string("")], interruption)
            let end = await interruption.wait(completed)
            subscription.end()
            switch end {
            case false?: return
            case true?: throw .store(.keyringPromptDismissed)
            case nil:
                session.connection.send(.dismiss, on: prompt, of: session.owner, .tuple([]))
                throw .interrupted
            }
        }
    }
#endif
