internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeyStoreSelection
internal import LatchkeySystem
internal import LatchkeyCommandLine

/// Which store is used, who says so, and how the others would do.
struct ChoiceCheck {
    let context: CommandContext
    let settings: StoreSettings

    func findings() async -> (choice: StoreChoice?, findings: [Finding]) {
        let choice: StoreChoice
        do throws(StoreSelectionError) {
            choice = try await context.selector.choose(
                named: context.namedStore, settings: settings, remembers: false)
        } catch {
            return (nil, [.refusal("choice", error, matters: true)])
        }
        let name: LogMessage = "\(choice.backend.name) (\(choice.source.logMessage))"
        // Why it is gone is the store's own line to say.
        var findings: [Finding] = [
            choice.backend.exists(settings)
                ? .good("choice", name) : .note("choice", "\(name), which can't be used: see below")
        ]
        for backend in context.selector.catalogue.backends
        where backend.name.description != choice.backend.name.description {
            findings.append(await why(backend))
        }
        return (choice, findings)
    }

    /// Why another store isn't the one.
    private func why(_ backend: StoreBackend) async -> Finding {
        guard backend.isPersistent else {
            return .note("choice", "not \(backend.name): it forgets everything when the process ends")
        }
        if let error = await failure(StoreError.self, awaiting: try await backend.probe(settings)) {
            return .note("choice", "not \(backend.name): \(error.cause) [\(error.codeName)]")
        }
        return .note("choice", "not \(backend.name): it works, but another one was named or comes before it")
    }
}
