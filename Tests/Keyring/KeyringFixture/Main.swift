internal import CLatchkeyProgramMemory
internal import Glibc
internal import LatchkeyDBus
internal import LatchkeyKeyringService
internal import LatchkeySecrets
internal import LatchkeySystem
internal import Synchronization

// keyring-fixture MODE [--own [--replace]]: serves items in memory on the bus of DBUS_SESSION_BUS_ADDRESS, prints the
// unique name (with --own, once org.freedesktop.secrets is its own), and lives until it is ended. Lines on standard input
// do what other processes and persons do to a store; see `perform`.
//
// keyring-fixture agent PASSPHRASE…: a terminal whose person types one after the other, and then nothing. At `silence`
// nobody is there.
@main struct Main {
    static let service = Mutex<KeyringService?>(nil)

    static func main() async {
        let words = CommandLine.arguments
        guard words.count > 1,
            let address = unsafe getenv("DBUS_SESSION_BUS_ADDRESS").map({ unsafe String(cString: $0) })
        else { exit(64) }
        do {
            if words[1] == "agent" { try await beAgent(Array(words.dropFirst(2)), address) }
            guard let mode = FixtureMode(rawValue: words[1]) else { exit(64) }
            let fixture = try mode.fixture()
            let service = try await KeyringService.start(fixture.configuration, at: address)
            Self.service.withLock { $0 = service }
            if words.contains("--own"), let owner = try await service.own(replacing: words.contains("--replace")) {
                say("owned by \(owner.processID ?? 0) \(owner.executable ?? "-")")
                exit(1)
            }
            say(service.uniqueName)
            let (lines, input) = AsyncStream.makeStream(of: String.self)
            try SystemThread.detach {
                while let line = readLine() { if line == "stop" { service.stop() } else { input.yield(line) } }
            }
            Task { for await line in lines { await fixture.perform(line) } }
            let end = await service.waitForEnd()
            say("\(end)")
            exit(end == .stopped ? 0 : 1)
        } catch {
            say("\(error)")
            exit(1)
        }
    }

    private static func beAgent(_ passphrases: [String], _ address: String) async throws -> Never {
        let typed = Typed(passphrases)
        let agent = try await KeyringAgent.start(at: address) { program, isRetry, _ in
            say(isRetry ? "asked again" : program.isEmpty ? "asked for nobody" : "asked")
            let next = typed.next()
            while next == "silence" { pause() }
            return next.map { Secret<Passphrase>(copying: $0.utf8.span) }
        }
        guard let agent else {
            say("no keyring")
            exit(1)
        }
        say("ready")
        say("\(await agent.waitForEnd())")
        exit(0)
    }
}

/// A line for the test. Not by print: to flush that waits for whoever reads standard input.
func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = try? DescriptorBytes.write(bytes.span, to: 1)
}
