import Foundation
import LatchkeyTestServer
import Testing
import TestServices

/// The program starts itself for its own jobs, by names that anybody can give it as well.
@Suite struct ProcessRoleTests {
    private func run(
        as name: String, _ arguments: [String], _ scene: RefreshScene
    ) async throws -> ProgramRun {
        try await Program("bash").run(
            ["-c", "exec -a \"$0\" '\(try BuiltProducts.latchkey().path)' \"$@\"", name] + arguments,
            environment: scene.environment)
    }

    @Test func `an unknown role's name runs the command, and a role without its input ends`() async throws {
        let scene = try await RefreshScene(signsIn: false)
        for name in [
            "", "/", "a/path/latchkey", "latchkey-worker", "latchkey-worker x", "latchkey-worker 1 2",
            "latchkey-monitor -1", "exe",
        ] {
            let run = try await run(as: name, ["version"], scene)
            #expect(run.status == 0 && run.outputText.hasPrefix("latchkey "), "\(name): \(run.errorText)")
        }
        for name in ["latchkey-monitor 5", "latchkey-bus-starter 5"] {
            let run = try await run(as: name, ["version"], scene)
            #expect(run.status == 64 && run.output.isEmpty, "\(name)")
        }
        // Whose starter is another process than it says: as when that has ended.
        #expect(try await run(as: "latchkey-worker 1", ["accounts"], scene).status == 128 + SIGTERM)
        for name in ["latchkey-keyring-session 100 101", "latchkey-keyring-starter 100 101"] {
            let run = try await run(as: name, ["keyring", "run", "--", "true"], scene)
            #expect(run.status == 64 && run.errorText.contains("[keyring.not-started]"), "\(name): \(run.errorText)")
        }
    }

    @Test(arguments: ["git-credential-latchkey", "docker-credential-latchkey", "keyring", "latchkey-askpass"])
    func `a helper's name with an unknown word is no other command`(_ name: String) async throws {
        let scene = try await RefreshScene(signsIn: false)
        let run = try await run(as: "/usr/bin/" + name, ["vault"], scene)
        #expect(run.output.isEmpty || name.hasPrefix("docker"), "\(run.outputText)")
        // git's helpers pass over what they don't know (gitcredentials(7)).
        #expect(run.status == (name.hasPrefix("git") ? 0 : name.hasPrefix("keyring") ? 64 : 1), "\(run.errorText)")
    }

    /// The program starts itself from there. Swift reads arguments there, so they are read otherwise.
    @Test func `without the proc file system commands say that they can't start a worker`() async throws {
        let scene = try await RefreshScene(signsIn: false)
        let latchkey = try BuiltProducts.latchkey().path
        // Where the toolchain's libraries are found by the program's own path, that is /proc's to say.
        let libraries = try await Program("sh").run(
            ["-c", "ldd '\(latchkey)' | sed -n 's|.*=> \\(/.*\\)/libswiftCore.so .*|\\1|p'"]
        ).outputText.trimmingCharacters(in: .newlines)
        let script = "mount -t tmpfs none /proc && LD_LIBRARY_PATH='\(libraries)' exec '\(latchkey)' \"$@\""
        func run(_ words: String...) async throws -> ProgramRun {
            try await Program("unshare").run(
                (geteuid() == 0 ? [] : ["--map-root-user"]) + ["--mount", "sh", "-c", script, "sh"] + words,
                environment: scene.environment)
        }
        for refused in [try await run("sign-in", "work"), try await run("keyring", "run", "--", "true")] {
            #expect(refused.status == 69 && refused.output.isEmpty, "\(refused.errorText)")
            #expect(refused.errorText.contains("[program.not-started]") && refused.errorText.contains("mount the proc"))
        }
        try await run("provider", "list", "--available").successful("list")
    }

    @Test func `a worker that starts no program may get no new privileges, and has its starter's name`() async throws {
        let scene = try await RefreshScene()
        scene.server.expireAccessTokens()
        scene.server.switchOn(.held(.token))
        let running = try scene.start(scene.environment)
        try await running.wait(for: "the worker") {
            running.workingPID != running.pid
                && [running.pid, running.workingPID].allSatisfy { process in
                    let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
                    return status?.hasPrefix("Name:\tlatchkey\n") == true && status!.contains("NoNewPrivs:\t1\n")
                }
        }
        running.kill()
        _ = try await running.finish()
    }
}
