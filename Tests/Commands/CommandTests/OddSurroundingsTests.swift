internal import Foundation
internal import Testing
internal import TestServices

/// Odd surroundings, as a table: each command ends within ten seconds with a status that the manual page names, and one
/// line that helps.
@Suite struct OddSurroundingsTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        /// For the shell, in a folder with a vault (`$V`), its key file (`key`) and the secret of example.org/ada.
        let script: String
        let status: Int32
        /// What standard error has in it; `nil`: nothing is said.
        let said: String?

        init(_ name: String, _ script: String, _ status: Int32, _ said: String?) {
            (self.name, self.script, self.status, self.said) = (name, script, status, said)
        }

        var testDescription: String { name }
    }

    private static let usual = [
        "vault init --vault new/vault --key-file new-key", "set example.org bob", "get example.org ada", "list",
        "vault status", "vault export copy --key-file copy-key", "generate", "rename example.org ada example.org bob",
    ]

    private static let fewFiles = usual.map {
        Case("ulimit -n 10: \($0)", "ulimit -n 10; latchkey \($0)", 69, "hint: raise the limit on open files")
    }

    private static let fullOutput = ["get example.org ada", "list", "vault status", "generate", "--help"].flatMap {
        [
            Case("full: \($0)", "latchkey \($0) > /dev/full", 73, "hint: make sure that standard output is open"),
            Case("closed: \($0)", "latchkey \($0) >&-", 73, "hint: make sure that standard output is open"),
            // Whoever can't be told still gets what they asked for.
            Case("errors full: \($0)", "latchkey \($0) 2> /dev/full", 0, nil),
            Case("all closed: \($0)", "latchkey \($0) <&- >&- 2>&-", 73, nil),
        ]
    }

    /// A reader that has gone costs what was said, and nothing of the work.
    private static let unread = [
        Case(
            "no reader of a warning",
            """
            python3 -c 'import os, subprocess, sys
            reading, writing = os.pipe(); os.close(reading)
            sys.exit(subprocess.run(sys.argv[1:], stderr=writing).returncode)' $LATCHKEY config set key-file /nope/x &&
                latchkey config get key-file | grep -q /nope/x
            """, 0, nil)
    ]

    private static let locales = ["set example.org bob", "get example.org ada", "list", "vault slots"].map {
        Case(
            "locale: \($0)", "env LC_ALL=xx_YY.nope LANG=$'\\377' timeout 10 $LATCHKEY \($0)", 0,
            $0.hasPrefix("set") ? "stored the secret for " : nil)
    }

    private static let files = [
        Case(
            "a configuration that is a folder", "mkdir -p config/latchkey/config; latchkey get example.org ada", 78,
            "hint: replace it with a file, or remove it"),
        Case(
            "a configuration that is a pipe", "mkdir -p c; mkfifo c/config; LATCHKEY_CONFIG=c latchkey list", 78,
            "hint: replace it with a file, or remove it"),
        Case(
            "a configuration's folder that is a file", "LATCHKEY_CONFIG=key latchkey list", 78,
            "hint: set LATCHKEY_CONFIG to the directory that contains the file `config`"),
        Case(
            "a remembered store that is a pipe",
            "rm -f state/latchkey/store; mkfifo state/latchkey/store; latchkey list",
            69, "hint: choose another store with --store"),
        Case(
            "a remembered store that is a folder",
            "rm -f state/latchkey/store; mkdir state/latchkey/store; latchkey list", 69,
            "hint: choose another store with --store"),
        Case(
            "a key file that is a pipe", "mkfifo -m 600 pipe; LATCHKEY_KEY_FILE=pipe latchkey get example.org ada", 77,
            "hint: use a file of your own"),
        Case(
            "leases that are a pipe",
            "rm -f $V.leases; mkfifo -m 600 $V.leases; printf x | latchkey set example.org bob",
            0, "stored the secret for example.org/bob in vault "),
        Case(
            "a journal that is a pipe", "rm -f $V-journal; mkfifo -m 600 $V-journal; latchkey get example.org ada", 77,
            "hint: remove it"),
        Case(
            "a rollback record that is a pipe",
            "rm state/latchkey/vaults/*; mkfifo -m 600 pipe; latchkey list > /dev/null; mv pipe state/latchkey/vaults/*; latchkey list",
            77, "hint: use a file of your own"),
        Case(
            "little memory, none of it locked", "ulimit -v 2000000 -l 0; latchkey get example.org ada > /dev/null", 0,
            nil),
        Case(
            "a folder that is gone", "mkdir gone; cd gone; rmdir ../gone; latchkey list --vault x", 69,
            "hint: check the path, or run `latchkey vault init"),
    ]

    private static let pipes =
        [
            "get example.org ada", "set example.org ada", "list", "vault status", "vault verify", "vault unlock",
            "vault rekey", "vault export copy --key-file copy-key",
        ].map {
            Case(
                "a vault that is a pipe: \($0)",
                "mkdir -m 700 p; mkfifo -m 600 p/vault; latchkey \($0) --vault p/vault", 77,
                "hint: use a file of your own, in a directory that only you can write")
        } + [
            Case(
                "an import of a pipe", "mkfifo -m 600 pipe; latchkey vault import pipe", 77,
                "hint: use a file of your own"),
            Case(
                "a vault to be made where a pipe is", "mkdir -m 700 p; mkfifo p/v; latchkey vault init --vault p/v", 73,
                "hint: choose another path with --vault"),
        ]

    /// Not even root makes a file in /proc.
    private static let homes = [
        Case("no HOME", "unset HOME; latchkey get example.org ada", 0, nil),
        Case(
            "a HOME that is no folder, named vault",
            "unset XDG_STATE_HOME XDG_CONFIG_HOME XDG_DATA_HOME; HOME=/dev/null LATCHKEY_KEY_FILE=key latchkey get example.org ada --vault $V",
            0, nil),
        Case(
            "a read-only HOME, named vault",
            "unset XDG_STATE_HOME XDG_CONFIG_HOME XDG_DATA_HOME; printf x | HOME=/proc LATCHKEY_KEY_FILE=key latchkey set example.org ada --vault $V",
            0, "can't record the last seen state of the vault"),
        Case(
            "a read-only HOME, list", "unset XDG_STATE_HOME XDG_CONFIG_HOME XDG_DATA_HOME; HOME=/proc latchkey list",
            69,
            "hint: run `latchkey vault init --key-file /proc/.config/latchkey/vault.key`"),
        Case(
            "a read-only HOME, init",
            "unset XDG_STATE_HOME XDG_CONFIG_HOME XDG_DATA_HOME; HOME=/proc/self latchkey vault init --key-file new-key",
            77,
            "hint: choose a path that you can write to"),
    ]

    @Test(arguments: fewFiles + fullOutput + unread + locales + files + pipes + homes)
    func `odd surroundings end in time, with a documented status and a line that helps`(_ odd: Case) async throws {
        let directory = try TestDirectory()
        let run = try await run(odd.script, in: directory)
        #expect(run.status == odd.status, "\(run.errorText)")
        if let said = odd.said {
            #expect(run.errorText.contains(said), "\(run.errorText)")
        } else {
            #expect(run.errorText.isEmpty)
        }
    }

    @Test func `a umask that removes all rights removes none from our own files`() async throws {
        let directory = try TestDirectory()
        let script = """
            umask 777
            latchkey vault init --vault n/vault --key-file k 2> /dev/null && printf x | latchkey set --vault n/vault a b
            latchkey vault export ex --vault n/vault --key-file k2 > /dev/null 2>&1
            rm state/latchkey/store; latchkey list > /dev/null; latchkey get --vault n/vault a b
            """
        let run = try await run(script, in: directory)
        #expect(run.status == 0 && run.outputText == "x", "\(run.errorText)")
        // For root no mode is in the way, so that they are looked at.
        for name in ["n/vault", "n/vault-journal", "k", "k2", "ex", "state/latchkey/store"] {
            #expect(try mode(directory / name) == 0o600, "\(name)")
        }
        let keyFiles = try FileManager.default.contentsOfDirectory(atPath: directory / "state/latchkey/key-files")
        #expect(keyFiles.count == 2)
        for name in keyFiles { #expect(try mode(directory / "state/latchkey/key-files/\(name)") == 0o600) }
        for name in ["n", "state/latchkey", "state/latchkey/key-files", "state/latchkey/vaults"] {
            #expect(try mode(directory / name) == 0o700, "\(name)")
        }
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    private func run(_ script: String, in directory: TestDirectory) async throws -> ProgramRun {
        var environment = try directory.environment()
        environment["V"] = directory / "data/latchkey/vault"
        environment["LATCHKEY"] = try BuiltProducts.latchkey().path
        let shell = try Program("bash")
        let setUp = "$LATCHKEY vault init --key-file key && printf hunter2 | $LATCHKEY set example.org ada"
        try await shell.run(["-c", setUp], environment: environment, folder: directory.path).successful("set up")
        // timeout(1) ends with 124 what takes longer.
        return try await shell.run(
            ["-c", "latchkey() { timeout 10 $LATCHKEY \"$@\"; }\n" + script], environment: environment,
            input: Array("x".utf8), folder: directory.path)
    }
}
