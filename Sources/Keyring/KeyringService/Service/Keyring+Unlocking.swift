internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeyDBus
internal import LatchkeyLog

/// Lock and Unlock.
extension Keyring {
    /// The collection of an object that can be locked. `nil` for one that isn't there, which clients may ask for.
    private func lockable(_ path: String) -> String? {
        switch KeyringPath(path) {
        case .collection(let name), .item(let name, _): knownCollection(name)
        default: nil
        }
    }

    /// The objects that a call names, each once.
    func paths(_ value: BusValue) throws(BusFault) -> [String] {
        guard value.count <= Self.maximumPathCount else { throw BusFault(.limitsExceeded, "too many items") }
        var seen: Set<String> = []
        return value.texts.filter { seen.insert($0).inserted }
    }

    /// Unlocks what can be unlocked without asking, and returns it under the paths that were asked for: go-keyring
    /// takes nothing else. The rest waits for a prompt.
    func unlock(_ call: BusCall) async throws(BusFault) -> BusValue {
        var done: [String] = []
        var waiting: [String] = []
        var names: Set<String> = []
        // First of all, so that the collections are known.
        let isOpen = (try? await openVault()) != nil
        for path in try paths(call[0]) {
            guard isOpen else {
                // Which collections there are isn't known but of those that are always there.
                guard let object = KeyringPath(path) else { continue }
                switch object {
                case .collection(let name), .item(let name, _):
                    let known = knownCollection(name)
                    if let known, isInMemory(known) {
                        await setUnlocked(known)
                        done.append(path)
                    } else {
                        waiting.append(path)
                        if let known { names.insert(known) }
                    }
                default: continue
                }
                continue
            }
            guard let name = lockable(path) else { continue }
            if isLocked(name), configuration.isConfirmed(.unlock(collection: name)) {
                waiting.append(path)
                names.insert(name)
            } else {
                await setUnlocked(name)
                done.append(path)
            }
        }
        let prompt = waiting.isEmpty ? "/" : try addPrompt(.unlock(paths: waiting, collections: names))
        return .tuple([.paths(done), .path(prompt)])
    }

    func setUnlocked(_ name: String) async {
        guard lockedNames.remove(name) != nil, !isLocked(name) else { return }
        announceLock(name, await shortList(of: name))
    }

    func lock(_ call: BusCall) async throws(BusFault) -> BusValue {
        var done: [String] = []
        var waiting: [String] = []
        var names: Set<String> = []
        _ = try? await openVault()
        for path in try paths(call[0]) {
            guard let name = lockable(path) else { continue }
            if !isLocked(name), configuration.isConfirmed(.lock(collection: name)) {
                waiting.append(path)
                names.insert(name)
            } else {
                await setLocked(name)
                done.append(path)
            }
        }
        let prompt = waiting.isEmpty ? "/" : try addPrompt(.lock(paths: waiting, collections: names))
        return .tuple([.paths(done), .path(prompt)])
    }

    func setLocked(_ name: String) async {
        guard !lockedNames.contains(name) else { return }
        // Without its keys, a vault's collections stay closed until a person unlocks it for all clients. A vault that
        // can't be opened for another reason may be back at any time.
        let wasLocked = isLocked(name)
        if wasLocked, await needsPerson() { return }
        let items = await shortList(of: name)
        lockedNames.insert(name)
        if !wasLocked { announceLock(name, items) }
        guard vault != nil, vaultCollections.allSatisfy({ lockedNames.contains($0.name) }) else { return }
        guard await configuration.source.close() else { return }
        leaveVault()
        // A person unlocks the vault for all clients.
        if await needsPerson() { lockedNames.subtract(vaultCollections.map(\.name)) }
    }

    private func needsPerson() async -> Bool {
        await failure(BusFault.self, awaiting: try await openVault())?.name == StaticString.isLocked.description
    }
}

/// A question for the future, and the actions that depend on its answer.
final class KeyringPrompt {
    enum Matter {
        case unlock(paths: [String], collections: Set<String>)
        case lock(paths: [String], collections: Set<String>)
        case deleteCollection(String)
        case deleteItem(ItemID, collection: String)
        /// A call that is done again once the vault is open, and otherwise refused.
        case call(BusCall, BusFault)
    }

    let path: String
    /// The connection that the question belongs to. Other connections don't see it.
    let client: String
    let matter: Matter
    /// Whether the client waits for an answer.
    var isShown = false
    /// The task that waits for the person's answer.
    var question: Task<Void, Never>?

    init(path: String, client: String, matter: Matter) {
        self.path = path
        self.client = client
        self.matter = matter
    }

    /// How many objects wait for the answer.
    var pathCount: Int {
        switch matter {
        case .unlock(let paths, _), .lock(let paths, _): paths.count
        case .deleteCollection, .deleteItem, .call: 1
        }
    }

    /// The size of the arguments of a stored call.
    var keptByteCount: Int {
        if case .call(let call, _) = matter { call.arguments.byteCount } else { 0 }
    }

    deinit { question?.cancel() }
}

/// org.freedesktop.Secret.Prompt.
extension Keyring {
    /// Returns the path of a new prompt.
    func addPrompt(_ matter: KeyringPrompt.Matter) throws(BusFault) -> String {
        lastPromptNumber += 1
        let path = KeyringPath.prompt("p\(lastPromptNumber)").text
        let prompt = KeyringPrompt(path: path, client: sender, matter: matter)
        let own = prompts.values.filter { $0.client == sender }
        var (count, pathCount) = (own.count, own.reduce(prompt.pathCount) { $0 + $1.pathCount })
        // Prompts that were never shown make room, the oldest first: by the number at the end of the path.
        var idle = own.filter { !$0.isShown }.sorted { ($0.path.count, $0.path) < ($1.path.count, $1.path) }[...]
        while count >= Self.maximumPromptCount || pathCount > Self.maximumWaitingPathCount {
            guard let oldest = idle.popFirst() else {
                throw BusFault(.limitsExceeded, "too many prompts of this connection wait")
            }
            prompts[oldest.path] = nil
            (count, pathCount) = (count - 1, pathCount - oldest.pathCount)
        }
        prompts[path] = prompt
        return path
    }

    func show(_ prompt: KeyringPrompt, _: BusCall) async -> BusValue {
        if !prompt.isShown { await ask(prompt) }
        return .none
    }

    func dismiss(_ prompt: KeyringPrompt, _: BusCall) -> BusValue {
        complete(prompt, isDismissed: true)
        askNext()
        return .none
    }

    private static let maximumKeptByteCount = 8 << 20

    /// Whether a call that found the vault locked waits for a person. Clients begin with such calls, and unlock only what
    /// they have found.
    func waitsForPerson(_ call: BusCall, after fault: BusFault) -> Bool {
        // The prompt holds the arguments until then, outside the queue and its limits.
        let byteCount = call.arguments.byteCount
        guard vault == nil, fault.name == StaticString.isLocked.description, !agents.isEmpty,
            !refusedClients.contains(sender), byteCount <= 2 * ItemAttributes.maximumByteCount,
            prompts.values.reduce(byteCount, { $0 + $1.keptByteCount }) <= Self.maximumKeptByteCount
        else { return false }
        switch (call.member, KeyringPath(call.path)) {
        case ("SearchItems", .service), ("CreateCollection", .service): break
        case ("SearchItems", .collection(let name)), ("Get", .collection(let name)):
            if knownCollection(name) == nil { return false }
        default: return false
        }
        guard let path = try? addPrompt(.call(call, fault)) else { return false }
        prompts[path]?.isShown = true
        askNext()
        return true
    }

    /// Logs a refused program once for each connection if there is no agent. Some programs show no error to their users.
    func log(_ fault: BusFault, of call: BusCall) async {
        guard vault == nil, agents.isEmpty, fault.name == StaticString.isLocked.description,
            ["SearchItems", "CreateItem"].contains(call.member),
            let observer = configuration.observer, loggedClients.insert(sender).inserted
        else { return }
        observer.didRefuse(await KeyringClient(sender, on: bus))
    }

    /// Asks the person for one prompt at a time. The answer counts for all prompts that wait. If the prompt's client
    /// leaves before the answer, the keyring asks for another prompt.
    func askNext() {
        guard !prompts.values.contains(where: { $0.question != nil }),
            let next = prompts.values.first(where: \.isShown)
        else { return }
        next.question = askForPassphrase(next)
    }

    private func ask(_ prompt: KeyringPrompt) async {
        switch prompt.matter {
        case .unlock where vault == nil:
            if (try? await openVault()) != nil {
                await agree(to: prompt)
            } else if !agents.isEmpty {
                prompt.isShown = true
                askNext()
            } else {
                // No agent can ask a person, so the client gets the answer at once.
                complete(prompt, isDismissed: true)
            }
        default: await agree(to: prompt)
        }
    }

    /// A person gave the passphrase, or didn't.
    func answer(_ path: String, _ result: Result<ServedItems, StoreError>) async {
        guard prompts[path] != nil else { return }
        switch result {
        case .success(let store): if vault == nil { try? await adopt(store) }
        // The person may have unlocked it elsewhere, which makes up for a refusal.
        case .failure(let error):
            if error.code == .promptDismissed {
                refusedClients.formUnion(prompts.values.filter(\.isShown).map(\.client))
            }
            _ = try? await openVault()
        }
        guard vault == nil else { return }
        for waiting in prompts.values where waiting.isShown { complete(waiting, isDismissed: true) }
    }

    /// Does what the prompt was for.
    func agree(to prompt: KeyringPrompt) async {
        guard prompts[prompt.path] != nil else { return }
        switch prompt.matter {
        case .unlock(_, let names): for name in names { await setUnlocked(name) }
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
        case .call(let call, _): queue.putBack(.call(call, waited: true), of: prompt.client)
        }
        complete(prompt, isDismissed: false)
    }

    private func complete(_ prompt: KeyringPrompt, isDismissed: Bool) {
        guard prompts.removeValue(forKey: prompt.path) != nil else { return }
        if case .call(let call, let fault) = prompt.matter {
            if isDismissed { bus.reply(to: call, .failure(fault)) }
            return
        }
        let result: BusValue =
            switch prompt.matter {
            // Clients take the result for a list of paths, dismissed or not.
            case .unlock(let paths, _), .lock(let paths, _): .paths(isDismissed ? [] : paths)
            case .deleteCollection, .deleteItem, .call: .string("")
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

/// Agents: terminals where a person can type the passphrase.
///
/// A connection registers with RegisterAgent. The keyring then calls it at `/org/latchkey/Agent`:
/// `org.latchkey.Agent1.Ask(h descriptor, b isRetry, s program) → (b isGiven)`. The agent writes the passphrase to the
/// descriptor, a pipe, so the passphrase never crosses the bus. An agent only learns which program wants the vault
/// unlocked. A malicious agent can only refuse, or keep the others waiting.
extension Keyring {
    static let agentPath = "/org/latchkey/Agent"
    private static let maximumAgentCount = 16
    private static let maximumAttemptCount = 3

    func registerAgent(_ call: BusCall) throws(BusFault) -> BusValue {
        agents.removeAll { $0 == sender }
        guard agents.count < Self.maximumAgentCount else {
            throw BusFault(.limitsExceeded, "too many agents")
        }
        agents.append(sender)
        refusedClients = []
        return .none
    }

    func describe(_ call: BusCall) async -> BusValue {
        // Half of the time: if the vault can't be used, the same person waits for a second call, which says why.
        deadline = .after(configuration.callDuration / 2)
        let isUsable = (try? await check()) != nil
        var clients: [KeyringClient] = []
        for name in Set(sessions.values.map(\.client)).union(readers.keys).sorted() where name != sender {
            clients.append(await client(name))
        }
        return .tuple([
            KeyringDescription(place: configuration.place, isLocked: !isUsable, clients: clients).value
        ])
    }

    /// Opens the vault, or checks that an open one is still there. One that was replaced is opened anew.
    private func check() async throws(BusFault) {
        _ = try await openVault()
        guard let fault = await failure(BusFault.self, awaiting: try await look()) else { return }
        guard vault == nil else { throw fault }
        _ = try await openVault()
    }

    /// Asks beside the worker, which goes on with other calls, and hands it the result.
    func askForPassphrase(_ prompt: KeyringPrompt) -> Task<Void, Never> {
        let (path, client, agents) = (prompt.path, prompt.client, Array(agents.reversed()))
        let bus = bus
        let queue = queue
        let configuration = configuration
        return Task {
            let program = await KeyringClient(client, on: bus).executable ?? ""
            let result = await Keyring.opening(bus, agents, for: program, configuration)
            _ = queue.offer(.answer(prompt: path, result), of: "", isOwn: true)
        }
    }

    private static func opening(
        _ bus: BusConnection, _ agents: [String], for program: String, _ configuration: KeyringConfiguration
    ) async -> Result<ServedItems, StoreError> {
        let end = Deadline.after(configuration.promptDuration)
        // One that refuses, or says nothing, leaves the others their time.
        for (index, agent) in agents.enumerated() {
            let deadline = Deadline.after(end.remaining / (agents.count - index))
            for attempt in 0..<maximumAttemptCount {
                guard let passphrase = await passphrase(bus, agent, for: program, isRetry: attempt > 0, deadline),
                    !Task.isCancelled
                else { break }
                let opened: Result<ServedItems, StoreError> = await Result(
                    awaiting: try await configuration.source.open(with: passphrase, deadline: deadline))
                if case .failure(let error) = opened, error.code == .wrongKey { continue }
                return opened
            }
            if Task.isCancelled { break }
        }
        return .failure(StoreError(end.hasPassed ? .timedOut : .promptDismissed, "the passphrase was not entered"))
    }

    private static func passphrase(
        _ bus: BusConnection, _ agent: String, for program: String, isRetry: Bool, _ deadline: Deadline
    ) async -> Secret<Passphrase>? {
        guard let ends = try? DescriptorBytes.pipe() else { return nil }
        defer { Glibc.close(ends.reading) }
        // Reading never waits: the bytes are in the pipe once the agent has responded, even if the agent keeps its end
        // open.
        _ = fcntl(ends.reading, F_SETFL, O_NONBLOCK)
        let reply = try? await bus.call(
            .ask, on: agentPath, of: agent, [.handle(0), .boolean(isRetry), .string(program)],
            within: deadline.remaining,
            descriptor: ends.writing)
        Glibc.close(ends.writing)
        guard let reply, reply[0].boolean else { return nil }
        // A passphrase isn't longer than a pipe's first page.
        let secret = try? Secret<Passphrase>(readingFrom: ends.reading, atMost: 4096)
        guard let secret, !secret.isEmpty else { return nil }
        return secret
    }
}

extension BusMethod {
    static let ask = BusMethod(interface: "org.latchkey.Agent1", name: "Ask", reply: "(b)")
    static let registerAgent = BusMethod(interface: BusInterface.agents.name, name: "RegisterAgent", reply: "()")
    static let getProperty = BusMethod(interface: BusInterface.properties.name, name: "Get", reply: "(v)")
    static let describe = BusMethod(interface: BusInterface.agents.name, name: "Describe", reply: "((sba(suss)))")
}
