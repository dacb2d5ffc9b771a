internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeyDBus
internal import LatchkeyLog
internal import LatchkeySecrets
internal import LatchkeySystem

/// Terminals that ask their persons for the passphrase.
///
/// A connection registers with RegisterAgent, and is then called at `/org/latchkey/Agent`: `org.latchkey.Agent1.Ask(h
/// descriptor, b isRetry) → (b isGiven)`. It writes the passphrase to the descriptor, a pipe, and so it never crosses the
/// bus. An agent learns nothing but that somebody wants the vault unlocked: a false one can only refuse.
extension Keyring {
    static let agentPath = "/org/latchkey/Agent"
    private static let maximumAgentCount = 16
    private static let maximumAttemptCount = 3

    func registerAgent(_ call: BusCall) throws(BusFault) -> BusValue {
        agents.removeAll { $0 == sender }
        guard agents.count < Self.maximumAgentCount else {
            throw BusFault(.limitsExceeded, "there are too many agents")
        }
        agents.append(sender)
        return .none
    }

    func unregisterAgent(_ call: BusCall) -> BusValue {
        agents.removeAll { $0 == sender }
        return .none
    }

    func describe(_ call: BusCall) async -> BusValue {
        // One that nothing has been asked of yet isn't locked for that.
        _ = try? await openVault()
        var clients: [KeyringClient] = []
        for name in Set(sessions.values.map(\.client)).union(readers.keys).sorted() where name != sender {
            clients.append(await client(name))
        }
        return .tuple([
            KeyringDescription(place: configuration.place, isLocked: vault == nil, clients: clients).value
        ])
    }

    /// Asks beside the worker, which goes on with other calls, and hands it the result.
    func askForPassphrase(_ prompt: String) -> Task<Void, Never> {
        let agents = Array(agents.reversed())
        let bus = bus
        let queue = queue
        let configuration = configuration
        return Task {
            let result = await Keyring.opening(bus, agents, configuration)
            _ = queue.offer(.answer(prompt: prompt, result), of: "", isOwn: true)
        }
    }

    private static func opening(
        _ bus: BusConnection, _ agents: [String], _ configuration: KeyringConfiguration
    ) async -> Result<ServedItems, StoreError> {
        let end = Deadline.after(configuration.promptDuration)
        // One that refuses, or says nothing, leaves the others their time.
        for (index, agent) in agents.enumerated() {
            let deadline = Deadline.after(end.remaining / (agents.count - index))
            for attempt in 0..<maximumAttemptCount {
                guard let passphrase = await passphrase(bus, agent, isRetry: attempt > 0, deadline), !Task.isCancelled
                else { break }
                let opened: Result<ServedItems, StoreError> = await Result(
                    awaiting: try await configuration.source.open(with: passphrase, deadline: deadline))
                if case .failure(let error) = opened, error.code == .wrongKey { continue }
                return opened
            }
            if Task.isCancelled { break }
        }
        return .failure(StoreError(.promptDismissed, "nobody gave the passphrase"))
    }

    private static func passphrase(
        _ bus: BusConnection, _ agent: String, isRetry: Bool, _ deadline: Deadline
    ) async -> Secret<Passphrase>? {
        var ends: [Int32] = [-1, -1]
        // It never waits: what the agent wrote is there once it has responded, and one that keeps its end open holds
        // up nothing.
        guard unsafe pipe(&ends) == 0 else { return nil }
        defer { Glibc.close(ends[0]) }
        guard fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0,
            ends.allSatisfy({ fcntl($0, F_SETFD, FD_CLOEXEC) == 0 })
        else {
            Glibc.close(ends[1])
            return nil
        }
        let reply = try? await bus.call(
            .ask, on: agentPath, of: agent, [.handle(0), .boolean(isRetry)], within: deadline.remaining,
            descriptor: ends[1])
        Glibc.close(ends[1])
        guard let reply, reply[0].boolean else { return nil }
        // More than a pipe's first page is no passphrase.
        let secret = try? Secret<Passphrase>(readingFrom: ends[0], atMost: 4096)
        guard let secret, !secret.isEmpty else { return nil }
        return secret
    }
}

extension BusMethod {
    static let ask = BusMethod(interface: "org.latchkey.Agent1", name: "Ask", reply: "(b)")
    static let registerAgent = BusMethod(interface: BusInterface.agents.name, name: "RegisterAgent", reply: "()")
    static let describe = BusMethod(interface: BusInterface.agents.name, name: "Describe", reply: "((sba(suss)))")
}
