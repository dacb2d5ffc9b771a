import TestServices

extension RedactionSweepTests {
    /// Around the served keyring: with a vault it is served; a desktop has one already.
    static func keyringRuns(_ canaries: Canaries) -> [Run] {
        let save = "secret-tool store --label=Sweep service keyring.example username ada"
        return [
            Run(
                command: "keyring run", arguments: ["--", "sh", "-c", save], input: canaries.password,
                statuses: [0, 69, 77]),
            Run(
                command: "keyring run",
                arguments: ["--only", "keyring.example", "--", "secret-tool", "lookup", "service", "keyring.example"],
                statuses: [0, 69, 77], outputIsSecret: true),
            Run(command: "keyring serve", arguments: ["--no-prompt"], statuses: [69, 77]),
            Run(command: "keyring status", arguments: [], statuses: [0, 69]),
            Run(command: "keyring agent", arguments: [], statuses: [69, 77]),
            Run(command: "keyring enable", arguments: [], statuses: [0]),
            Run(command: "keyring disable", arguments: [], statuses: [0]),
        ]
    }
}
