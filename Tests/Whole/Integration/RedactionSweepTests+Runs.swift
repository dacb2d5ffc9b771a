import Foundation
import TestServices

/// The runs of the sweep: each command in success and in failure.
extension RedactionSweepTests {
    /// Secrets kept, found, missed, refused and deleted, with a store that works.
    static func storeRuns(_ canaries: Canaries) -> [Run] {
        [
            Run(command: "set", arguments: ["sweep", "ada"], input: canaries.password, statuses: [0]),
            Run(command: "set", arguments: ["sweep", "ada"], input: canaries.other, statuses: [0]),
            Run(
                command: "set", arguments: ["--label", "a label", "sweep", "bob"], input: canaries.password,
                statuses: [0]),
            Run(command: "set", arguments: ["", "ada"], input: canaries.password, statuses: [64]),
            Run(command: "set", arguments: ["only one"], input: canaries.password, statuses: [64]),
            Run(command: "set", arguments: ["--no-such-option", "a", "b"], input: canaries.password, statuses: [64]),
            Run(command: "get", arguments: ["sweep", "ada"], statuses: [0], outputIsSecret: true),
            Run(command: "get", arguments: ["sweep", "nobody"], statuses: [1]),
            Run(command: "get", arguments: ["--timeout", "0", "sweep", "ada"], statuses: [64, 75]),
            Run(
                command: "run",
                arguments: ["--mask", "--env", "A=sweep/ada", "--file", "F=sweep/ada", "--", "/bin/sh", "-c"]
                    + ["echo \"$A\"; cat \"$F\"; printf %s \"a name:$A\" | base64 -w 0; echo \"is $A\" >&2"],
                statuses: [0]),
            Run(command: "run", arguments: ["--env", "A=sweep/nobody", "--", "/bin/true"], statuses: [1]),
            Run(command: "generate", arguments: ["sweep", "new"], statuses: [0]),
            Run(command: "generate", arguments: [], statuses: [0], outputIsSecret: true),
            Run(command: "edit", arguments: ["sweep", "new"], environment: ["EDITOR": "echo >>"], statuses: [0]),
            Run(command: "edit", arguments: ["sweep", "new"], environment: ["EDITOR": "false"], statuses: [69]),
            Run(command: "rename", arguments: ["sweep", "new", "--to", "sweep/newer", "--force"], statuses: [0]),
            Run(command: "rename", arguments: ["sweep", "new", "--to", "sweep/newer"], statuses: [1]),
            Run(command: "list", arguments: [], statuses: [0]),
            Run(command: "list", arguments: ["--json", "sweep"], statuses: [0]),
            Run(command: "list", arguments: ["--all-stores"], statuses: [0, 69]),
            Run(command: "list", arguments: ["--all"], statuses: [0]),
            Run(command: "search", arguments: ["ADA"], statuses: [0]),
            Run(command: "search", arguments: ["--json", "ada"], statuses: [0]),
            Run(command: "search", arguments: ["--all", "nobody"], statuses: [0]),
            Run(command: "get", arguments: ["--all-stores", "sweep", "nobody"], statuses: [1, 69]),
            Run(command: "doctor", arguments: [], statuses: [0]),
            Run(command: "doctor", arguments: ["--json", "--repair-duplicates"], statuses: [0, 69]),
            Run(command: "config get", arguments: ["store"], statuses: [1]),
            Run(command: "config set", arguments: ["all-stores", "no"], statuses: [0]),
            Run(command: "config set", arguments: ["stroe", "no"], statuses: [64]),
            Run(command: "config list", arguments: [], statuses: [0]),
            Run(command: "delete", arguments: ["sweep", "bob"], statuses: [0]),
            Run(command: "delete", arguments: ["sweep", "bob"], statuses: [1]),
        ]
    }

    /// What other tools ask, and how they are told to.
    static func helperRuns(_ canaries: Canaries) -> [Run] {
        let login = Array("protocol=https\nhost=sweep.example\nusername=ada\npassword=".utf8) + canaries.password
        let index = "https://sweep.example/simple"
        return [
            Run(command: "helper git", arguments: ["store"], input: login, statuses: [0]),
            Run(
                command: "helper git", arguments: ["get"], input: Array("protocol=https\nhost=sweep.example\n\n".utf8),
                statuses: [0], outputIsSecret: true),
            Run(command: "helper git", arguments: ["erase"], input: login, statuses: [0]),
            Run(command: "helper git", arguments: ["store"], input: canaries.password, statuses: [65]),
            Run(command: "helper keyring", arguments: ["set", index, "ada"], input: canaries.password, statuses: [0]),
            Run(command: "helper keyring", arguments: ["get", index, "ada"], statuses: [0], outputIsSecret: true),
            Run(command: "helper keyring", arguments: ["del", index, "ada"], statuses: [0]),
            Run(command: "helper docker", arguments: ["store"], input: canaries.password, statuses: [1]),
            Run(command: "helper docker", arguments: ["get"], input: canaries.password, statuses: [1]),
            Run(command: "helper cargo", arguments: [], input: canaries.password, statuses: [0]),
            Run(command: "helper kubectl", arguments: ["sweep"], statuses: [1]),
            Run(command: "helper headers", arguments: ["sweep"], statuses: [1]),
            Run(command: "helper aws", arguments: ["sweep"], statuses: [1]),
            Run(command: "helper go", arguments: ["https://sweep.example/"], statuses: [0]),
            Run(
                command: "helper terraform", arguments: ["store", "sweep.example"], input: canaries.password,
                statuses: [65]),
            Run(command: "helper terraform", arguments: ["get", "sweep.example"], statuses: [0]),
            Run(command: "helper askpass", arguments: ["Enter passphrase for key '/x': "], statuses: [1]),
            Run(command: "helper systemd", arguments: [], statuses: [77]),
            Run(command: "setup", arguments: ["git", "--print"], statuses: [0]),
        ]
    }

    /// A secret where it doesn't belong: whoever makes that mistake must not find it in a log as well.
    static func misplacedRuns(_ canaries: Canaries) -> [Run] {
        let secret = String(decoding: canaries.other, as: UTF8.self)
        return [
            Run(command: "set", arguments: ["sweep", "ada", secret], statuses: [64]),
            Run(command: "set", arguments: ["sweep", "ada", "--password=\(secret)"], statuses: [64]),
            Run(command: "set", arguments: ["sweep", "ada", "--\(secret)"], statuses: [64]),
            Run(command: "get", arguments: ["sweep", "ada", "--timeout", secret], statuses: [64]),
            Run(command: "run", arguments: ["--env", "A=\(secret)", "--", "/bin/true"], statuses: [1]),
            Run(command: "run", arguments: ["--file", "A=\(secret)", "--", "/bin/true"], statuses: [1]),
            Run(command: "run", arguments: ["--env", "\(secret)=sweep/ada", "--", "/bin/true"], statuses: [0, 64]),
            Run(command: "run", arguments: ["--env", "\(secret)=sweep", "--", "/bin/true"], statuses: [1, 64]),
            Run(
                command: "run", arguments: ["--env", secret, "--env", "A=sweep/ada", "--", "/bin/true"], statuses: [64]),
            Run(command: "run", arguments: ["--env", "A=sweep/ada", secret, secret, "--", "true"], statuses: [64]),
            Run(command: "list", arguments: ["--store", secret], statuses: [64]),
            Run(command: "list", arguments: ["--collection", secret], statuses: [69]),
            Run(command: "list", arguments: ["--collection", "/" + secret], statuses: [64]),
            Run(command: "token", arguments: ["sweep", "https://example.org/?code=\(secret)"], statuses: [64]),
            Run(
                command: "request", arguments: ["sweep", "GET", "https://user:\(secret)@example.org/"],
                statuses: [1, 64, 78]),
            Run(
                command: "provider add",
                arguments: ["sweep", "--issuer", "https://example.org/?token=\(secret)", "--client-id", "id"],
                statuses: [64, 78]),
        ]
    }

    /// What needs a provider or a session, and hasn't got one.
    static func signInRuns(_ canaries: Canaries) throws -> [Run] {
        let nowhere = "http://127.0.0.1:\(try LoopbackPort.free())"
        let add = ["sweep", "--issuer", nowhere, "--client-id", "id", "--client-secret-stdin"]
        return [
            Run(command: "provider add", arguments: add, input: canaries.clientSecret, statuses: [69]),
            Run(
                command: "provider add", arguments: ["sweep", "--issuer", "http://example.org", "--client-id", "id"],
                input: canaries.clientSecret, statuses: [64, 78]),
            Run(command: "provider list", arguments: [], statuses: [0]),
            Run(command: "provider remove", arguments: ["sweep"], statuses: [1, 64, 78]),
            Run(command: "scheme add", arguments: ["com.example.sweep"], statuses: [0]),
            Run(command: "scheme list", arguments: [], statuses: [0]),
            Run(command: "scheme receive", arguments: ["com.example.sweep:/x?code=c&state=s"], statuses: [1]),
            Run(command: "scheme remove", arguments: ["com.example.sweep"], statuses: [0, 1]),
            Run(command: "sign-in", arguments: ["sweep", "--paste"], input: canaries.other, statuses: [1, 64, 78]),
            Run(command: "sign-out", arguments: ["sweep"], statuses: [0, 1, 64, 78]),
            Run(command: "accounts", arguments: [], statuses: [0]),
            Run(command: "use", arguments: ["sweep", "ada"], statuses: [1, 64, 78]),
            Run(command: "token", arguments: ["sweep"], statuses: [1, 64, 78]),
            Run(command: "request", arguments: ["sweep", "GET", nowhere], statuses: [1, 64, 78]),
            Run(command: "run", arguments: ["sweep", "--", "true"], statuses: [1, 64, 78]),
            Run(command: "completions", arguments: ["bash"], statuses: [0]),
            Run(command: "completions", arguments: ["zsh"], statuses: [0]),
            Run(command: "completions", arguments: ["fish"], statuses: [0]),
            Run(command: "help", arguments: ["get"], statuses: [0]),
            Run(command: "help", arguments: ["nothing"], statuses: [64]),
            Run(command: "help", arguments: [], statuses: [0]),
            Run(command: "version", arguments: [], statuses: [0]),
            Run(command: "version", arguments: ["--json"], statuses: [0]),
            Run(command: "version", arguments: ["surplus"], statuses: [64]),
        ]
    }

    /// Vaults made, opened wrongly, damaged and missing. The one that is opened most is made by the sweep.
    static func vaultRuns(_ canaries: Canaries, _ directory: TestDirectory) throws -> [Run] {
        let right = ["LATCHKEY_PASSPHRASE_FILE": try directory.write("passphrase", canaries.passphrase)]
        let wrong = ["LATCHKEY_PASSPHRASE_FILE": try directory.write("wrong", canaries.wrongPassphrase)]
        let new = ["--vault", try directory.makeFolder("first") + "/vault"]
        let vault = ["--vault", try directory.makeFolder("second") + "/vault"]
        let damaged = try directory.makeFolder("damaged") + "/vault"
        try Data("SQLite format 3\0 no more".utf8).write(to: URL(fileURLWithPath: damaged))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: damaged)
        let missing = ["--vault", directory / "missing/vault"]
        let exported = try directory.makeFolder("exported") + "/vault"
        let foreign = try directory.write(
            "git-credentials", Array("https://ada:".utf8) + canaries.other + Array("@example.org\n".utf8))
        return [
            Run(command: "vault init", arguments: new, environment: right, statuses: [0]),
            Run(command: "vault init", arguments: new, environment: right, statuses: [64, 73, 77, 78]),
            Run(
                command: "set", arguments: vault + ["sweep", "ada"], input: canaries.password, environment: right,
                statuses: [0]),
            Run(command: "vault verify", arguments: vault, environment: right, statuses: [0]),
            Run(command: "vault verify", arguments: vault, environment: wrong, statuses: [77]),
            Run(command: "vault init", arguments: ["--vault", damaged], environment: right, statuses: [73]),
            Run(command: "vault accept-rollback", arguments: vault, environment: right, statuses: [0]),
            Run(command: "vault accept-rollback", arguments: vault, environment: wrong, statuses: [77]),
            Run(
                command: "vault export", arguments: vault + [exported, "--key-file", exported + ".key"],
                environment: right, statuses: [0]),
            Run(command: "vault export", arguments: vault + [exported], environment: right, statuses: [73]),
            Run(
                command: "vault import", arguments: vault + [exported, "--key-file", exported + ".key"],
                environment: right, statuses: [0]),
            Run(command: "vault import", arguments: vault + [damaged], environment: right, statuses: [65]),
            Run(command: "vault import", arguments: vault + [exported], environment: wrong, statuses: [77]),
            Run(command: "vault export", arguments: vault + [exported + "2"], environment: wrong, statuses: [77]),
            Run(command: "vault accept-rollback", arguments: missing, environment: right, statuses: [69]),
            // 69: a container that has no keyring.
            Run(command: "vault unlock", arguments: vault + ["--for", "1m"], environment: right, statuses: [0, 69]),
            Run(command: "vault unlock", arguments: vault, environment: wrong, statuses: [77, 69]),
            Run(command: "get", arguments: vault + ["sweep", "nobody"], statuses: [1, 77]),
            Run(command: "vault lock", arguments: vault, statuses: [0, 69]),
            Run(command: "vault lock", arguments: missing, statuses: [0, 69]),
            Run(command: "vault lock", arguments: ["--vault", damaged], statuses: [0, 65, 69]),
            Run(command: "vault unlock", arguments: missing, environment: right, statuses: [69]),
            Run(command: "vault new-key", arguments: [], statuses: [77]),
            Run(command: "vault new-key", arguments: ["surplus"], statuses: [64]),
            Run(command: "vault new-key", arguments: ["--key-file", damaged + ".key"], statuses: [64]),
            Run(
                command: "vault add-slot", arguments: vault + ["unit", "--credential", "name"], environment: right,
                statuses: [77]),
            Run(
                command: "vault add-slot", arguments: vault + ["desktop", "--secret-service"], environment: right,
                statuses: [69]),
            Run(command: "vault schema", arguments: ["orders"], statuses: [0]),
            Run(command: "vault schema", arguments: ["orders", "--schema", "Orders"], statuses: [64]),
            Run(command: "vault schema", arguments: [String(decoding: canaries.other, as: UTF8.self)], statuses: [64]),
            Run(command: "vault status", arguments: vault, environment: right, statuses: [0]),
            Run(command: "vault status", arguments: vault, environment: wrong, statuses: [77]),
            // There is no terminal to ask for the new one on.
            Run(command: "vault passwd", arguments: vault, environment: right, statuses: [77]),
            Run(command: "vault passwd", arguments: vault, environment: wrong, statuses: [77]),
            Run(command: "vault passwd", arguments: missing, environment: right, statuses: [69]),
            Run(command: "vault status", arguments: missing, environment: right, statuses: [69]),
            Run(command: "vault rekey", arguments: vault, environment: right, statuses: [0]),
            Run(command: "vault rekey", arguments: vault, environment: wrong, statuses: [77]),
            Run(command: "vault rekey", arguments: ["--vault", damaged], environment: right, statuses: [65]),
            Run(command: "vault slots", arguments: missing, environment: right, statuses: [69]),
            Run(command: "vault slots", arguments: vault, environment: right, statuses: [0]),
            Run(command: "vault slots", arguments: vault, environment: wrong, statuses: [77]),
            Run(
                command: "vault add-slot", arguments: vault + ["file", "--key-file", damaged + ".key"],
                environment: right, statuses: [0]),
            Run(command: "vault add-slot", arguments: vault + ["file"], environment: right, statuses: [73]),
            Run(command: "vault remove-slot", arguments: vault + ["file"], environment: right, statuses: [0]),
            Run(command: "vault remove-slot", arguments: vault + ["file"], environment: right, statuses: [1]),
            Run(command: "vault remove-slot", arguments: vault + ["passphrase"], environment: right, statuses: [73]),
            // 1 and 69: there is nothing to import, or no keyring to take it from.
            Run(
                command: "copy", arguments: vault + ["--from", "vault", "--to", "secret-service"], environment: right,
                statuses: [0, 69]),
            Run(
                command: "copy", arguments: vault + ["--from", "vault", "--to", "secret-service"], environment: wrong,
                statuses: [77]),
            Run(
                command: "move", arguments: vault + ["--from", "secret-service", "--to", "vault"], environment: right,
                statuses: [0, 69, 73]),
            Run(command: "move", arguments: vault + ["--from", "vault"], environment: right, statuses: [64]),
            Run(
                command: "move", arguments: missing + ["--from", "vault", "--to", "secret-service"],
                environment: right, statuses: [69]),
            Run(
                command: "copy", arguments: ["--vault", damaged, "--from", "vault", "--to", "secret-service"],
                environment: right, statuses: [65, 69]),
            Run(
                command: "import", arguments: vault + ["--from", "git", foreign], environment: right, statuses: [0]),
            Run(
                command: "import", arguments: vault + ["--from", "python-keyring", foreign], environment: right,
                statuses: [65]),
            Run(command: "import", arguments: vault + ["--from", "gh"], environment: right, statuses: [69]),
            Run(command: "get", arguments: vault + ["sweep", "ada"], environment: wrong, statuses: [77]),
            Run(
                command: "set", arguments: vault + ["sweep", "ada"], input: canaries.other, environment: wrong,
                statuses: [77]),
            Run(
                command: "get", arguments: vault + ["sweep", "ada"], environment: right, statuses: [0],
                outputIsSecret: true),
            Run(command: "vault verify", arguments: ["--vault", damaged], environment: right, statuses: [65]),
            Run(
                command: "set", arguments: ["--vault", damaged, "sweep", "ada"], input: canaries.password,
                environment: right, statuses: [65]),
            Run(
                command: "set", arguments: missing + ["sweep", "ada"], input: canaries.password, environment: right,
                statuses: [69, 78]),
        ]
    }
}

extension RedactionSweepTests {
    /// Around the served keyring: with a vault it is served; a desktop has one already.
    static func keyringRuns(_ canaries: Canaries) -> [Run] {
        let save = "secret-tool store --label=Sweep service keyring.example username ada"
        return [
            Run(
                command: "keyring run", arguments: ["--", "sh", "-c", save], input: canaries.password,
                statuses: [0, 1, 69, 77]),
            Run(
                command: "keyring run",
                arguments: ["--only", "keyring.example", "--", "secret-tool", "lookup", "service", "keyring.example"],
                statuses: [0, 1, 69, 77], outputIsSecret: true),
            Run(command: "keyring serve", arguments: ["--no-prompt"], statuses: [69, 77]),
            Run(command: "keyring status", arguments: [], statuses: [0, 69]),
            Run(command: "keyring agent", arguments: [], statuses: [69, 77]),
            Run(command: "keyring enable", arguments: [], statuses: [0, 69]),
            Run(command: "keyring disable", arguments: [], statuses: [0, 1]),
        ]
    }
}
