internal import CLatchkeyProgramMemory
internal import Glibc
internal import LatchkeyKeyringService

// keyring-fixture MODE [--own]: serves items in memory on the bus of DBUS_SESSION_BUS_ADDRESS, prints the unique name
// (with --own, once org.freedesktop.secrets is its own), and lives until it is ended.
@main struct Main {
    static func main() async {
        let words = CommandLine.arguments
        guard words.count > 1, let mode = FixtureMode(rawValue: words[1]),
            let address = unsafe getenv("DBUS_SESSION_BUS_ADDRESS").map({ unsafe String(cString: $0) })
        else { exit(64) }
        do {
            let service = try await KeyringService.start(try mode.configuration(), at: address)
            if words.contains("--own"), let owner = try await service.own(replacing: words.contains("--replace")) {
                print("owned by \(owner.processID ?? 0) \(owner.executable ?? "-")")
                exit(1)
            }
            print(service.uniqueName)
            fflush(nil)
            let end = await service.waitForEnd()
            print(end)
            exit(end == .stopped ? 0 : 1)
        } catch {
            print(error)
            exit(1)
        }
    }
}
