internal import Foundation
internal import Testing
internal import TestServices

/// Keys that are made on a disk that fails at one step after another: a vault never loses its only key.
@Suite struct FailingDiskTests {
    private let directory: TestDirectory
    private let environment: [String: String]

    init() async throws {
        directory = try TestDirectory()
        let programs = URL(fileURLWithPath: try BuiltProducts.latchkey().path).deletingLastPathComponent().path
        environment = try directory.environment().merging([
            "PATH": "\(programs):\(Program.searchPath)", "LATCHKEY_STORE": "vault",
            "DISK": try await Program.compile(
                TestData.tests.appendingPathComponent("Stores/CWatchedDisk/disk.c").path, ["-shared", "-fPIC"]),
        ]) { $1 }
    }

    private static let steps = """
        mkdir -m 700 whole
        latchkey vault init --vault whole/vault --key-file whole/key 2> errors
        printf s3cret | LATCHKEY_KEY_FILE=whole/key latchkey set --vault whole/vault example.org ada 2> errors
        opens() { test "$(LATCHKEY_KEY_FILE=$2 latchkey get --vault $1 example.org ada 2> errors)" = s3cret; }
        for step in $(seq 200); do
            rm -rf disk "$XDG_STATE_HOME"; cp -r whole disk
            LD_PRELOAD=$DISK DISK_FOLDER=$PWD/disk DISK_FAIL=$step LATCHKEY_KEY_FILE=disk/key $COMMAND > out 2>> all && break
            CHECK || { echo "step $step"; tail -3 all; }
        done
        grep -q "key file .* can't be written: " all || tail all
        echo "$step steps"
        """

    @Test(arguments: [
        (
            "vault add-slot second --vault disk/vault --key-file disk/new.key --replace 'key file'",
            "opens disk/vault disk/key || opens disk/vault disk/new.key"
        ),
        (
            "vault init --vault disk/new --key-file disk/new.key",
            "test ! -e disk/new || LATCHKEY_KEY_FILE=disk/new.key latchkey vault slots --vault disk/new > slots 2> errors"
        ),
        (
            "vault export --vault disk/vault disk/export --key-file disk/new.key",
            "test ! -e disk/export || opens disk/export disk/new.key"
        ),
    ])
    func `whichever step fails, a key opens the vault`(_ command: String, _ check: String) async throws {
        let script = Self.steps.replacing("$COMMAND", with: "latchkey " + command).replacing("CHECK", with: check)
        let run = try await Program("bash").run(["-c", script], environment: environment, folder: directory.path)
        let steps = try #require(run.outputText.wholeMatch(of: /(\d+) steps\n/), "\(run.outputText) \(run.errorText)")
        #expect((5..<200).contains(Int(steps.output.1) ?? 0))
    }

    /// It said that nothing was changed.
    @Test func `a copy that a full disk ends shows what it has copied, and can be repeated`() async throws {
        let script = """
            latchkey vault init --vault a/vault --key-file key 2> errors
            latchkey vault init --vault b/vault --key-file key 2> errors
            for host in $(seq 100 139); do
                printf 'https://ada:%04000d@h%d.example\n' 1 $host
            done > file
            export LATCHKEY_KEY_FILE=key
            latchkey import --from git file --vault a/vault > out 2> errors
            (ulimit -f 120; latchkey copy --from $PWD/a/vault --to $PWD/b/vault > out 2> errors); echo $?
            grep -c copied out
            grep -cF "[store.cannot-write]" errors
            latchkey copy --from $PWD/a/vault --to $PWD/b/vault > again; echo $?
            grep -c same again
            """
        let run = try await Program("bash").run(["-c", script], environment: environment, folder: directory.path)
        let lines = run.outputText.split(separator: "\n")
        #expect(lines.count == 5 && lines[0] == "73" && lines[2] == "1" && lines[3] == "0", "\(lines) \(run.errorText)")
        #expect((1..<40).contains(Int(lines[1]) ?? 0) && lines[1] == lines[4], "\(lines)")
    }

    /// The error named the folder, and nothing said that there was a vault now, whose key was deleted.
    @Test func `without a rollback record there is no vault, and a later init makes one`() async throws {
        let run = try await Program("bash").run(
            [
                "-c",
                """
                mkdir -p "$XDG_STATE_HOME/latchkey/vaults"; chmod 755 "$XDG_STATE_HOME/latchkey/vaults"
                latchkey vault init --key-file key 2> errors; echo $?
                ls key data/latchkey/vault 2> /dev/null
                chmod 700 "$XDG_STATE_HOME/latchkey/vaults"
                latchkey vault init --key-file key 2> errors; echo $?
                """,
            ], environment: environment, folder: directory.path)
        #expect(run.outputText == "77\n0\n", "\(run.outputText)")
    }
}
