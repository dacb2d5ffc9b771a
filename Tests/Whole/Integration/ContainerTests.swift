import Foundation
import Testing
import TestServices

/// What a container leaves a program: no keyring, no display, folders that can't be written. Made of the kernel's own
/// namespaces, which is what container engines make theirs of.
struct ContainerTests {
    private let directory: TestDirectory
    private let environment: [String: String]

    init() throws {
        directory = try TestDirectory()
        environment = try directory.environment()
    }

    private func setup() throws -> String { "latchkey() { '\(try BuiltProducts.latchkey().path)' \"$@\"; }\n" }

    /// Runs a script in namespaces of its own, where `home` is empty and read-only.
    private func run(_ script: String) async throws -> ProgramRun {
        let mounts = """
            set -e
            mount -t tmpfs none /run
            : > /run/.containerenv
            mount -t tmpfs -o ro none '\(directory / "home")'
            set +e

            """
        let rights = getuid() == 0 ? [] : ["--user", "--map-root-user"]
        return try await Program("unshare").run(
            rights + ["--mount", "/bin/sh", "-c", mounts + setup() + script], environment: own)
    }

    /// The same for what a vault is made for: to others than root `/` seems to be a stranger's in a namespace of
    /// theirs, and a vault isn't made below such a folder. There the home has no write permission instead.
    private func runWithVault(_ script: String) async throws -> ProgramRun {
        if getuid() == 0 { return try await run(script) }
        let home = directory / "home"
        _ = unsafe chmod(home, 0o500)
        defer { _ = unsafe chmod(home, 0o700) }
        return try await Program("/bin/sh").run(
            ["-c", setup() + script], environment: own.merging(["container": "podman"]) { $1 })
    }

    /// Everything below the home directory, as where nobody says otherwise.
    private var own: [String: String] { environment.filter { !$0.key.hasPrefix("XDG_") } }

    @Test func `the error for a home that can't be written names the variable to set`() async throws {
        let refused = try await run("latchkey provider add github --client-id me")
        // A container may be forbidden to make another one.
        if refused.status == 1, refused.errorText.contains(/^(unshare|mount): .*(not permitted|denied)/) {
            print("note: ContainerTests: no namespace can be made here, so no home was read-only")
            return
        }
        #expect(refused.status == 73 && refused.errorText.contains(": read-only file system [provider.unusable]"))
        #expect(
            refused.errorText.hasSuffix(
                "hint: set LATCHKEY_CONFIG or HOME to a folder that you can write to\n"))
        let elsewhere = try await runWithVault(
            """
            export LATCHKEY_CONFIG='\(directory / "config")' LATCHKEY_VAULT='\(directory / "data")/vault'
            export LATCHKEY_KEY_FILE='\(directory / "key")'
            latchkey provider add github --client-id me &&
            latchkey vault init --key-file "$LATCHKEY_KEY_FILE" && printf s3cret | latchkey set example alice &&
            latchkey get example alice && latchkey provider list && latchkey doctor --verbose
            """)
        #expect(elsewhere.status == 0, "\(elsewhere.errorText)\(elsewhere.outputText)")
        #expect(elsewhere.outputText.hasPrefix("s3cret"))
        #expect(elsewhere.outputText.contains("no display, in a container, without a terminal"))
    }
}
