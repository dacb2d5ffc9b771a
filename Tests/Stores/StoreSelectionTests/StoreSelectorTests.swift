internal import Foundation
internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeyStoreSelection
internal import Synchronization
internal import Testing
internal import TestServices

/// Two stores that can be switched off, and a count of how often each was asked.
private final class FakeStores: Sendable {
    struct State {
        var works = ["first": true, "second": true]
        var isSlow = false
        var probes: [String] = []
        var opened: [String] = []
    }

    let state = Mutex(State())

    var catalogue: StoreCatalogue {
        StoreCatalogue([backend("first"), backend("second"), backend("volatile", isPersistent: false)])
    }

    func set(_ name: String, works: Bool) { state.withLock { $0.works[name] = works } }

    private func backend(_ name: StaticString, isPersistent: Bool = true) -> StoreBackend {
        StoreBackend(name: name, isPersistent: isPersistent) { [self] (_) throws(StoreError) in
            state.withLock { $0.probes.append(name.description) }
            try check(name)
        } open: { [self] (_) throws(StoreError) in
            state.withLock { $0.opened.append(name.description) }
            try check(name)
            return try InMemoryStore()
        }
    }

    private func check(_ name: StaticString) throws(StoreError) {
        if state.withLock({ $0.works[name.description] == false }) {
            let code: StoreError.Code = state.withLock(\.isSlow) ? .timedOut : .unavailable
            throw StoreError(code, "\(name) does not answer", hint: "start \(name)")
        }
    }
}

@Suite struct StoreSelectorTests {
    private let directory: TestDirectory
    private let stores = FakeStores()
    private let memory: RememberedChoice
    private let settings = StoreSettings(
        vaultPath: "/nonexistent", vaultKey: .keyFile(path: "/nonexistent"), mayPrompt: false)

    init() throws {
        directory = try TestDirectory()
        memory = RememberedChoice(path: directory / "state/latchkey/store")
    }

    private var selector: StoreSelector { StoreSelector(catalogue: stores.catalogue, remembered: memory) }

    private func name(_ choice: StoreChoice) -> String { choice.backend.name.description }

    // MARK: - Order

    @Test func `the first store that works is chosen and remembered, with each refusal's reason`() async throws {
        stores.set("first", works: false)
        let choice = try await selector.choose(named: nil, settings: settings)
        #expect(name(choice) == "second")
        #expect(choice.source == .probed)
        #expect(choice.refusals.map(\.name.description) == ["first"])
        #expect(choice.refusals.first?.error.code == .unavailable)
        #expect(choice.logMessage.text.contains("first does not answer"))
        #expect(try memory.read() == "second")
    }

    @Test func `the remembered store is used again, without a prompt`() async throws {
        try memory.write("second")
        let choice = try await selector.choose(named: nil, settings: settings)
        #expect(name(choice) == "second")
        #expect(choice.source == .remembered)
        #expect(stores.state.withLock(\.probes).isEmpty)
    }

    @Test(arguments: [StoreChoiceSource.argument, .environment, .configuration])
    func `a named store wins over the remembered one, and isn't remembered`(
        _ source: StoreChoiceSource
    ) async throws {
        try memory.write("second")
        let choice = try await selector.choose(named: NamedStore(name: "first", source: source), settings: settings)
        #expect(name(choice) == "first")
        #expect(choice.source == source)
        #expect(try memory.read() == "second")
    }

    @Test func `a store chosen because another was slow is used once, with a warning`() async throws {
        stores.set("first", works: false)
        stores.state.withLock { $0.isSlow = true }
        let log = MemoryLogSink()
        let selector = StoreSelector(
            catalogue: stores.catalogue, remembered: memory,
            logger: RedactedLogger("test", minimumLevel: .warning, sink: log))
        let choice = try await selector.choose(named: nil, settings: settings)
        #expect(name(choice) == "second")
        #expect(choice.refusals.first?.error.code == .timedOut)
        #expect(log.records.map(\.message.text).contains { $0.contains("because first did not respond") })
        #expect(try memory.read() == nil)
        // It answers again, and is found again.
        stores.set("first", works: true)
        #expect(name(try await selector.choose(named: nil, settings: settings)) == "first")
    }

    // MARK: - Never a fallback

    @Test func `a named store that is gone is an error`() async throws {
        stores.set("first", works: false)
        let failure = await failureToOpen(NamedStore(name: "first", source: .argument))
        guard let error = failure?.storeError else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(error.code == .unavailable)
        #expect(stores.state.withLock(\.opened) == ["first"])
    }

    @Test func `the error for an unavailable remembered store says how to choose another`() async throws {
        try memory.write("first")
        stores.set("first", works: false)
        let failure = await failureToOpen(nil)
        guard let error = failure?.storeError else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(error.code == .unavailable)
        #expect(error.cause.text.contains("can't open the store in use"))
        #expect(error.recoveries == [.chooseStore, .diagnose])
        #expect(stores.state.withLock(\.opened) == ["first"])
        #expect(try memory.read() == "first")
    }

    @Test func `if no store works, the error has each one's reason and nothing is remembered`() async throws {
        stores.set("first", works: false)
        stores.set("second", works: false)
        let failure = await failureToOpen(nil)
        guard let error = failure, case .noneWorks(let refusals) = error.problem else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(refusals.map(\.name.description) == ["first", "second"])
        #expect(error.cause.text.contains("first does not answer"))
        #expect(error.cause.text.contains("second does not answer"))
        #expect(try memory.read() == nil)
    }

    @Test(arguments: [StoreChoiceSource.argument, .environment, .configuration, .remembered])
    func `an unknown store is an error`(_ source: StoreChoiceSource) async throws {
        if source == .remembered {
            try directory.makeFolder("state/latchkey"); try directory.write("state/latchkey/store", "floppy\n")
        }
        let named = source == .remembered ? nil : NamedStore(name: "floppy", source: source)
        let failure = await failureToOpen(named)
        guard let error = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(error.problem == .unknownName(source))
        #expect(error.hint?.text == "set the store to first or second")
    }

    @Test func `a store that forgets is refused by name and never probed`() async throws {
        let named = NamedStore(name: "volatile", source: .argument)
        let refused = await failureToOpen(named)
        guard let error = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        #expect(error.problem == .notPersistent)
        stores.set("first", works: false)
        stores.set("second", works: false)
        _ = await failureToOpen(nil)
        #expect(stores.state.withLock(\.probes) == ["first", "second"])
    }

    // MARK: - A stranger's store

    @Test func `a store that a caller adds can be named and comes last`() async throws {
        let added = StoreBackend(
            name: "third", probe: { (_) throws(StoreError) in }, open: { (_) throws(StoreError) in try InMemoryStore() }
        )
        let selector = StoreSelector(catalogue: stores.catalogue.adding(added), remembered: nil)
        let opened = try await selector.open(named: NamedStore(name: "third", source: .argument), settings: settings)
        #expect(name(opened.choice) == "third")
        stores.set("first", works: false)
        stores.set("second", works: false)
        #expect(name(try await selector.choose(named: nil, settings: settings)) == "third")
    }

    // MARK: - The memory

    @Test func `a choice that can't be remembered is reported and doesn't fail`() async throws {
        try directory.write("state", "a file where a folder has to be")
        let log = MemoryLogSink()
        let selector = StoreSelector(
            catalogue: stores.catalogue, remembered: memory,
            logger: RedactedLogger("test", minimumLevel: .warning, sink: log))
        #expect(name(try await selector.choose(named: nil, settings: settings)) == "first")
        #expect(log.records.map(\.message.text).contains { $0.contains("can't remember the choice") })
    }

    @Test func `the remembered choice is a private file, written whole`() throws {
        try memory.write("vault")
        try memory.write("secret-service")
        #expect(try memory.read() == "secret-service")
        #expect(try directory.read("state/latchkey/store") == Array("secret-service\n".utf8))
        let attributes = try FileManager.default.attributesOfItem(atPath: directory / "state/latchkey/store")
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory / "state/latchkey") == ["store"])
    }

    @Test func `a remembered choice that is a link is refused`() throws {
        try directory.makeFolder("state/latchkey")
        try directory.write("elsewhere", "vault\n")
        try FileManager.default.createSymbolicLink(
            atPath: directory / "state/latchkey/store", withDestinationPath: directory / "elsewhere")
        #expect(throws: StoreError.self) { try memory.read() }
    }

    private func failureToOpen(_ named: NamedStore?) async -> StoreSelectionError? {
        do throws(StoreSelectionError) {
            _ = try await selector.open(named: named, settings: settings)
            return nil
        } catch {
            return error
        }
    }
}
