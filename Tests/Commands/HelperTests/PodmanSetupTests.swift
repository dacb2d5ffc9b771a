import Foundation
import Testing
import TestServices

/// `latchkey setup podman`, and what podman and skopeo do at a registry afterwards.
@Suite struct PodmanSetupTests {
    /// Logs in at the registry on the port that is the script's argument.
    private func login(_ scene: HelperScene, _ program: String, _ port: UInt16) async throws -> ProgramRun {
        try await scene.shell(
            "printf s3cret | \(program) login --tls-verify=false --username ada --password-stdin 127.0.0.1:$1",
            String(port))
    }

    /// What the files of the person's that podman could have written hold.
    private func files(_ scene: HelperScene) async throws -> String {
        try await scene.shell("cat $(find . -name '*auth*.json') < /dev/null").outputText
    }

    @Test(arguments: HelperScene.Store.allCases)
    func `podman and skopeo share one login, in the store and in no file, until --undo`(
        _ store: HelperScene.Store
    ) async throws {
        let scene = try await HelperScene(store)
        let port = try LoopbackPort.free()
        let registry = try await DockerHelperTests.registry(scene, port)
        defer { registry.signal(SIGTERM) }
        let made = try await scene.shell("latchkey setup podman --yes")
        #expect(made.status == 0, "\(made.errorText)")
        for (first, second) in [("podman", "skopeo"), ("skopeo", "podman")] {
            let login = try await login(scene, first, port)
            #expect(login.outputText == "Login Succeeded!\n", "\(login.errorText)")
            let user = try await scene.shell("\(second) login --get-login 127.0.0.1:$1", String(port))
            #expect(user.outputText == "ada\n", "\(user.errorText)")
            #expect(try await scene.latchkey("list").contains("docker:127.0.0.1:\(port)  ada"))
            // The registry lets nobody in without it.
            let asked = try await scene.shell(
                "skopeo list-tags --tls-verify=false docker://127.0.0.1:$1/x", String(port))
            #expect(asked.errorText.contains("404 (Not Found)"), "\(asked.errorText)")
            let logout = try await scene.shell("\(second) logout 127.0.0.1:$1", String(port))
            #expect(logout.status == 0, "\(logout.errorText)")
            #expect(try await !scene.latchkey("list").contains("docker:"))
        }
        #expect(try await files(scene).isEmpty)
        // Taken back, they write to their own file again.
        #expect(try await scene.shell("latchkey setup podman --undo --yes").status == 0)
        #expect(try await login(scene, "podman", port).status == 0)
        #expect(try await files(scene).contains("127.0.0.1:\(port)"))
        #expect(try await !scene.latchkey("list").contains("docker:"))
    }

    @Test(arguments: ["podman", "skopeo"])
    func `a store's refusal fails the login, and nothing goes into a file in plain text`(_ program: String) async throws
    {
        let scene = try await HelperScene(locked: .vault)
        let port = try LoopbackPort.free()
        let registry = try await DockerHelperTests.registry(scene, port)
        defer { registry.signal(SIGTERM) }
        #expect(try await scene.shell("latchkey setup podman --yes").status == 0)
        let login = try await login(scene, program, port)
        #expect(login.status != 0 && login.errorText.contains("the vault is locked"), "\(login.errorText)")
        #expect(try await files(scene).isEmpty)
    }

    @Test func `setup leaves helpers in the person's own file alone`() async throws {
        let scene = try await HelperScene()
        let file = try scene.directory.makeFolder("home/.config/containers") + "/registries.conf"
        try Data("credential-helpers = [\"own\"]\n".utf8).write(to: URL(fileURLWithPath: file))
        for option in ["--yes", "--print"] {
            let run = try await BuiltProducts.latchkey().run(
                ["setup", "podman", option], environment: scene.environment)
            #expect(run.status == (option == "--yes" ? 77 : 0))
            #expect(
                run.errorText.contains("\(file) already sets credential-helpers, so it wasn't changed")
                    && run.errorText.contains(
                        "latchkey: hint: add \"latchkey\" before the other helpers in that file, then run the command again\n"
                    ),
                "\(run.errorText)")
        }
        #expect(!FileManager.default.fileExists(atPath: file + ".d"))
    }

    @Test(arguments: ["skopeo", "buildah"])
    func `skopeo and buildah are set up as podman is`(_ name: String) async throws {
        let scene = try await HelperScene()
        let podman = try await scene.latchkey("setup", "podman", "--print")
        #expect(try await scene.latchkey("setup", name, "--print") == podman)
        #expect(podman.contains("+ credential-helpers = [\"latchkey\"]\n"))
    }

    @Test func `docker and podman share the link until both are undone`() async throws {
        let scene = try await HelperScene()
        var environment = scene.environment
        environment["PATH"] = scene.directory / "home/.local/bin" + ":" + Program.searchPath
        func run(_ arguments: String...) async throws {
            try await BuiltProducts.latchkey().run(["setup"] + arguments + ["--yes"], environment: environment)
                .successful("setup")
        }
        let link = scene.directory / "home/.local/bin/docker-credential-latchkey"
        try await run("podman")
        try await run("docker")
        try await run("podman", "--undo")
        #expect(FileManager.default.fileExists(atPath: link))
        try await run("docker", "--undo")
        #expect(!FileManager.default.fileExists(atPath: link))
    }

    @Test func `an auth file with logins is listed with what moves them, and they are found then`() async throws {
        let scene = try await HelperScene()
        try scene.directory.makeFolder("run/containers")
        try scene.directory.write(
            "run/containers/auth.json", "{\"auths\":{\"registry.example\":{\"auth\":\"YWRhOnMzY3JldA==\"}}}")
        let command = "latchkey setup podman && latchkey import --from docker --empty-source "
        let listed = try await scene.latchkey("setup", "--json")
        #expect(listed.contains(command + scene.directory.path + "/run/containers/auth.json"), "\(listed)")
        let moved = try await scene.shell(
            """
            latchkey setup podman --yes && latchkey import --from docker --empty-source run/containers/auth.json &&
            podman login --get-login registry.example
            """)
        #expect(moved.outputText.hasSuffix("ada\n"), "\(moved.errorText)\(moved.outputText)")
        #expect(moved.errorText.hasSuffix("latchkey: podman finds them if you ran `latchkey setup podman`\n"))
        #expect(try await !files(scene).contains("YWRhOnMzY3JldA"))
    }
}
