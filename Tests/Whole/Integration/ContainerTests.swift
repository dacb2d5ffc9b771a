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

    /// A container may be forbidden to make another one.
    private func isForbidden(_ run: ProgramRun) -> Bool {
        guard run.status == 1, run.errorText.contains(/^(unshare|mount): .*(not permitted|denied)/)
        else { return false }
        print("note: ContainerTests: no namespace can be made here, so nothing was mounted")
        return true
    }

    @Test func `the error for a home that can't be written names the variable to set`() async throws {
        let refused = try await run("latchkey provider add github --client-id me")
        if isForbidden(refused) { return }
        #expect(refused.status == 73 && refused.errorText.contains(": read-only file system [provider.unusable]"))
        #expect(
            refused.errorText.hasSuffix(
                "hint: set LATCHKEY_CONFIG or HOME to a directory that you can write to\n"))
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

    /// A cluster mounts its settings so, with a mode that lets others write.
    @Test func `a configuration that nobody can write is read, whatever its mode`() async throws {
        let given = directory / "given"
        try directory.makeFolder("given")
        try directory.write("given/config", "store = vault\n")
        #expect(unsafe chmod(given, 0o777) == 0 && chmod(given + "/config", 0o666) == 0)
        let list = "export LATCHKEY_CONFIG='\(given)'; latchkey config list"
        let refused = try await run(list)
        if isForbidden(refused) { return }
        #expect(refused.status == 78 && refused.errorText.contains("can be changed by other users"))
        let read = try await run("mount --bind '\(given)' '\(given)' && mount -o remount,bind,ro '\(given)'\n" + list)
        #expect(read.status == 0 && read.outputText.contains("store  vault"), "\(read.errorText)")
    }

    /// The journal of such a vault would be in the container's own file system, and end with the container.
    @Test func `a vault that is mounted as a single file is read, and never written to`() async throws {
        let vault = directory / "data" + "/vault"
        let key = directory / "key"
        let made = try await runWithVault(
            """
            export LATCHKEY_VAULT='\(vault)' LATCHKEY_KEY_FILE='\(key)'
            latchkey vault init --key-file "$LATCHKEY_KEY_FILE" && printf s3cret | latchkey set example alice
            """)
        #expect(made.status == 0, "\(made.errorText)")
        let before = try Data(contentsOf: URL(fileURLWithPath: vault))
        let run = try await run(
            """
            export LATCHKEY_VAULT='\(vault)' LATCHKEY_KEY_FILE='\(key)'
            mount --bind '\(vault)' '\(vault)' && latchkey get example alice && printf other | latchkey set example bob
            """)
        if isForbidden(run) { return }
        #expect(run.outputText == "s3cret" && run.status == 73, "\(run.errorText)")
        #expect(run.errorText.contains("mounted without its directory"))
        #expect(run.errorText.hasSuffix("hint: mount the directory that contains the vault\n"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: vault)) == before)
        let doctor = try await self.run(
            """
            export LATCHKEY_VAULT='\(vault)' LATCHKEY_KEY_FILE='\(key)'
            mount --bind '\(vault)' '\(vault)' && latchkey doctor
            """)
        #expect(doctor.outputText.contains("mounted without its directory"), "\(doctor.outputText)")
    }

    @Test func `without /proc a program isn't started with a file that it can't open`() async throws {
        let made = try await runWithVault(
            """
            export LATCHKEY_VAULT='\(directory / "data")/vault' LATCHKEY_KEY_FILE='\(directory / "key")'
            latchkey vault init --key-file "$LATCHKEY_KEY_FILE" && printf s3cret | latchkey set example alice
            """)
        #expect(made.status == 0, "\(made.errorText)")
        for options in ["--file A=example/alice", "--mask --env A=example/alice"] {
            let run = try await run(
                """
                export LATCHKEY_VAULT='\(directory / "data")/vault' LATCHKEY_KEY_FILE='\(directory / "key")'
                mount -t tmpfs none /proc && latchkey run \(options) -- echo started
                """)
            if isForbidden(run) { return }
            #expect(run.status == 69 && run.output.isEmpty, "\(options): \(run.status) \(run.errorText)")
            #expect(
                run.errorText.hasSuffix("hint: mount the proc file system: /proc has to be there\n"), "\(run.errorText)"
            )
        }
    }

    /// Kubernetes and OpenShift run containers as such users; dbus-daemon refuses their connections.
    @Test func `a user without a name gets the reason why no keyring can be served`() async throws {
        let made = try await runWithVault(
            """
            export LATCHKEY_VAULT='\(directory / "data")/vault' LATCHKEY_KEY_FILE='\(directory / "key")'
            latchkey vault init --key-file "$LATCHKEY_KEY_FILE"
            """)
        #expect(made.status == 0, "\(made.errorText)")
        let run = try await Program("unshare").run(
            [
                "--user", "--map-user=54321", "/bin/sh", "-c",
                try setup() + """
                    export LATCHKEY_VAULT='\(directory / "data")/vault' LATCHKEY_KEY_FILE='\(directory / "key")'
                    latchkey keyring run -- true
                    """,
            ], environment: own)
        if isForbidden(run) { return }
        #expect(run.status == 69, "\(run.status) \(run.errorText)")
        #expect(run.errorText.contains("dbus-daemon needs a name for the user 54321"), "\(run.errorText)")
    }
}
