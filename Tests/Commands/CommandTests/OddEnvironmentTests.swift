import Foundation
import Testing
import TestServices

/// What a script's author gets wrong: each is an error that says so, in time, and nothing goes elsewhere.
@Suite struct OddEnvironmentTests {
    private let directory: TestDirectory
    private let environment: [String: String]

    init() async throws {
        directory = try TestDirectory()
        environment = try directory.environment()
    }

    private func shell(_ script: String, _ environment: [String: String]) async throws -> ProgramRun {
        let latchkey = try BuiltProducts.latchkey().path
        return try await Program("bash").run(
            ["-c", "cd '\(directory.path)' && latchkey() { '\(latchkey)' \"$@\"; }\n" + script],
            environment: environment)
    }

    /// Opening a named pipe that nobody writes to waits for ever, whatever `--timeout` says.
    @Test func `Latchkey waits for a passphrase file that is a silent pipe until the deadline`() async throws {
        var environment = environment
        environment["LATCHKEY_PASSPHRASE_FILE"] = directory / "pipe"
        try await PassphraseVault.make("correct horse".utf8, in: environment)
        try await Program("mkfifo").run(["-m", "600", directory / "pipe"]).successful("mkfifo")
        let late = try await shell("latchkey list --store vault --timeout 1", environment)
        #expect(
            late.status == 75 && late.errorText.contains("delivered no passphrase in time"),
            "\(late.status) \(late.errorText)")
        #expect(late.errorText.contains("latchkey: hint: make sure that its writer is running"))
        // One that is written to in time is read.
        let read = try await shell(
            "(sleep 1; printf 'correct horse' > '\(directory / "pipe")') & latchkey list --store vault", environment)
        #expect(read.status == 0, "\(read.errorText)")
    }

    @Test func `Latchkey waits for a silent descriptor until the deadline`() async throws {
        try await PassphraseVault.make("correct horse".utf8, in: environment)
        let run = try await shell(
            "mkfifo pipe && exec 3<>pipe && latchkey list --store vault --passphrase-fd 3 --timeout 1", environment)
        #expect(
            run.status == 75 && run.errorText.contains("delivered no passphrase in time"),
            "\(run.status) \(run.errorText)")
    }

    /// The variable was passed over, and the secret went into another vault.
    @Test(arguments: ["LATCHKEY_VAULT", "LATCHKEY_KEY_FILE", "LATCHKEY_CONFIG", "XDG_DATA_HOME", "HOME"])
    func `a variable that isn't UTF-8 is an error, and the secret goes nowhere`(_ name: String) async throws {
        let setUp = try await shell("latchkey vault init --key-file '\(directory / "key")'", environment)
        #expect(setUp.status == 0, "\(setUp.errorText)")
        var environment = environment
        environment["LATCHKEY_KEY_FILE"] = directory / "key"
        environment["LATCHKEY_STORE"] = "vault"
        let before = try directory.read("data/latchkey/vault")
        let run = try await shell("export \(name)=$'/tmp/\\xff'; printf x | latchkey set example.org ada", environment)
        #expect(run.status == 78, "\(run.errorText)")
        #expect(
            run.errorText.contains("the environment variable \(name) is not valid UTF-8 [environment.invalid-utf-8]"))
        #expect(try directory.read("data/latchkey/vault") == before)
        // Another program's variable is nobody's business.
        let other = try await shell("export OTHER=$'\\xff'; printf x | latchkey set example.org ada", environment)
        #expect(other.status == 0, "\(other.errorText)")
    }

    @Test func `a process with too few file descriptors gets an error before it begins`() async throws {
        let run = try await shell("(ulimit -n 10; latchkey list)", environment)
        #expect(run.status == 69 && run.errorText.contains("[process.too-few-descriptors]"), "\(run.errorText)")
        #expect(run.errorText.contains("hint: raise the limit on open files"))
    }

    @Test func `on a full disk a save is refused, and the old secret stays`() async throws {
        var environment = environment
        environment["LATCHKEY_KEY_FILE"] = directory / "key"
        environment["LATCHKEY_STORE"] = "vault"
        let script = """
            latchkey vault init --key-file "$LATCHKEY_KEY_FILE" && printf old | latchkey set example.org ada
            (ulimit -f 0; printf new | env --default-signal=XFSZ '\(try BuiltProducts.latchkey().path)' set example.org ada) 2>&1 | cat >&2
            echo "${PIPESTATUS[0]}"
            latchkey get example.org ada
            """
        let run = try await shell(script, environment)
        #expect(run.outputText == "73\nold", "\(run.outputText) \(run.errorText)")
        #expect(run.errorText.contains("hint: make sure that the disk has room and that files may grow (`ulimit -f`)"))
    }
}
