internal import LatchkeyCredentials
internal import LatchkeyDBus

/// A question that is still to be asked, and what follows from it.
final class KeyringPrompt {
    enum Matter {
        case unlock(paths: [String], collections: Set<String>)
        case lock(paths: [String], collections: Set<String>)
        case deleteCollection(String)
        case deleteItem(ItemID, collection: String)
    }

    let path: String
    /// The connection that it was made for: nobody else sees it.
    let client: String
    let matter: Matter
    /// While a person is asked.
    var question: Task<Void, Never>?

    init(path: String, client: String, matter: Matter) {
        self.path = path
        self.client = client
        self.matter = matter
    }

    deinit { question?.cancel() }
}

/// org.freedesktop.Secret.Prompt.
extension Keyring {
    /// Returns the path of a new prompt.
    func addPrompt(_ matter: KeyringPrompt.Matter) throws(BusFault) -> String {
        guard prompts.values.count(where: { $0.client == sender }) < Self.maximumPromptCount else {
            throw BusFault(.limitsExceeded, "this connection has too many prompts")
        }
        let path = KeyringPath.prompt("p\(nextNumber())").text
        prompts[path] = KeyringPrompt(path: path, client: sender, matter: matter)
        return path
    }

    func show(_ prompt: KeyringPrompt, _: BusCall) async -> BusValue {
        if prompt.question == nil { await ask(prompt) }
        return .none
    }

    func dismiss(_ prompt: KeyringPrompt, _: BusCall) -> BusValue {
        complete(prompt, isDismissed: true)
        return .none
    }

    private func ask(_ prompt: KeyringPrompt) async {
        switch prompt.matter {
        case .unlock where vault == nil:
            if (try? await openVaultWithoutAsking()) != nil {
                await agree(to: prompt)
            } else if !agents.isEmpty {
                prompt.question = askForPassphrase(prompt.path)
            } else {
                // Nobody can be asked: the client hears that at once.
                complete(prompt, isDismissed: true)
            }
        default: await agree(to: prompt)
        }
    }

    /// A person gave the passphrase, or didn't.
    func answer(_ path: String, _ result: Result<ServedItems, StoreError>) async {
        guard let prompt = prompts[path] else { return }
        guard case .success(let store) = result else {
            complete(prompt, isDismissed: true)
            return
        }
        if vault == nil, (try? await adopt(store)) == nil {
            complete(prompt, isDismissed: true)
            return
        }
        // One passphrase is enough for all who wait for it.
        for waiting in prompts.values where waiting.question != nil { await agree(to: waiting) }
    }

    /// Does what the prompt was for.
    private func agree(to prompt: KeyringPrompt) async {
        switch prompt.matter {
        case .unlock(_, let names): for name in names { setUnlocked(name) }
        case .lock(_, let names): for name in names { await setLocked(name) }
        case .deleteCollection(let name):
            guard (try? await deleteCollection(name)) != nil else {
                complete(prompt, isDismissed: true)
                return
            }
        case .deleteItem(let id, let name):
            guard (try? await deleteItem(id, in: name)) != nil else {
                complete(prompt, isDismissed: true)
                return
            }
        }
        complete(prompt, isDismissed: false)
    }

    private func complete(_ prompt: KeyringPrompt, isDismissed: Bool) {
        guard prompts.removeValue(forKey: prompt.path) != nil else { return }
        let result: BusValue =
            switch prompt.matter {
            // Clients take the result for a list of paths, dismissed or not.
            case .unlock(let paths, _), .lock(let paths, _): .paths(isDismissed ? [] : paths)
            case .deleteCollection, .deleteItem: .string("")
            }
        let bus = bus
        // Behind the response to Prompt: some clients read one after the other.
        afterReply.append {
            bus.emit(
                "Completed", of: "org.freedesktop.Secret.Prompt", from: prompt.path, to: prompt.client,
                [.boolean(isDismissed), .boxed(result)])
        }
    }
}
