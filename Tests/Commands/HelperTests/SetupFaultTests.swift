import Foundation
import Testing
import TestServices

/// `latchkey setup` where names are odd, others write too, disks are full and processes are killed: nothing that was
/// there is lost.
@Suite struct SetupFaultTests: SetupSuite {
    let directory: TestDirectory
    let environment: [String: String]

    init() throws {
        directory = try TestDirectory()
        environment = try Self.environment(in: directory)
    }

    // MARK: - Names

    @Test func `a program or a store at a path with spaces is refused where its path would be split`() async throws {
        try directory.makeFolder("other programs")
        let program = directory / "other programs/latchkey"
        // Not by this process: a child of another test would hold the copy open for writing, and nobody could start it.
        try await Program("cp").run([BuiltProducts.latchkey().path, program]).successful("cp")
        func run(_ arguments: String...) async throws -> ProgramRun {
            try await Program(program).run(["setup"] + arguments, environment: environment)
        }
        for tool in ["git", "aws", "go"] {
            #expect(try await run(tool, "--yes").errorText.contains("[setup.unusable]"))
            let spaced = try await setup(tool, "--yes", "--vault", directory / "my vault")
            #expect(spaced.status == 77 && spaced.errorText.contains("[setup.unusable]"))
            #expect(spaced.errorText.contains("my vault'"), "\(spaced.errorText)")
        }
        #expect(try await setup("aws", "a b", "--yes").errorText.contains("[setup.unusable]"))
        #expect(try entries("home").isEmpty)
    }

    @Test func `a home with spaces works`() async throws {
        let home = try directory.makeFolder("ho me")
        let extra = ["HOME": home]
        #expect(try await setup("git", "--yes", with: extra).status == 0)
        let value = try await Program("git").run(
            ["config", "--global", "credential.helper"], environment: environment.merging(extra) { $1 })
        #expect(value.outputText.hasSuffix("latchkey helper git\n"))
        #expect(try await setup("git", "--undo", "--yes", with: extra).status == 0)
        #expect(try entries("ho me").isEmpty)
    }

    @Test func `a profile's name can't lead the record elsewhere`() async throws {
        #expect(try await setup("aws", "../../x", "--yes").status == 0)
        #expect(try entries("state/latchkey/setup") == ["aws-..%2F..%2Fx.json", "lock"])
        #expect(try await setup("aws", "../../x", "--undo", "--yes").status == 0)
        #expect(try entries("state/latchkey/setup") == ["lock"])
    }

    // MARK: - Two at once, and edits between

    @Test func `a second setup with other options is refused, so that the first can be undone`() async throws {
        #expect(try await setup("git", "--yes").status == 0)
        let written = try directory.read("home/.gitconfig")
        let run = try await setup("git", "--yes", "--store", "vault")
        #expect(run.status == 77 && run.errorText.contains("remove that setting first: latchkey setup git --undo"))
        #expect(try directory.read("home/.gitconfig") == written)
        #expect(try await setup("git", "--undo", "--yes").status == 0)
        #expect(try entries("home").isEmpty)
    }

    @Test func `of eight concurrent setups one writes, the others find it, and --undo removes all of it`() async throws
    {
        try directory.write("home/.gitconfig", "[user]\n\tname = Ada\n")
        let statuses = try await withThrowingTaskGroup(of: Int32.self) { group in
            for _ in 0..<8 { group.addTask { try await setup("git", "--yes").status } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        // Who finds the lock taken for long is told.
        #expect(statuses.contains(0) && Set(statuses).isSubset(of: [0, 75]), "\(statuses)")
        let text = String(decoding: try directory.read("home/.gitconfig"), as: UTF8.self)
        #expect(text.components(separatedBy: "helper git").count == 2, "\(text)")
        #expect(try await setup("git", "--undo", "--yes").status == 0)
        #expect(try directory.read("home/.gitconfig") == Array("[user]\n\tname = Ada\n".utf8))
    }

    @Test(arguments: [("", Int32(0)), ("--store vault", 77)])
    func `a setup that another one overtakes finds its change, or is refused with other options`(
        _ options: String, _ status: Int32
    ) async throws {
        let run = try await shell(
            """
            strace -qq -o log -P "$HOME/.gitconfig" -e trace=openat -e inject=openat:signal=STOP:when=1 \
                "$(command -v latchkey)" setup git \(options) --yes &
            until grep 'stopped by SIGSTOP' log; do kill -0 $! || exit 1; sleep 0.02; done
            latchkey setup git --yes
            kill -CONT $(pgrep -P $!)
            wait $!
            """)
        #expect(run.status == status, "\(run.errorText)")
        #expect(try await setup("git", "--undo", "--yes").status == 0)
        #expect(try entries("home").isEmpty)
    }

    @Test func `a setup waits for another one for a moment, and says so`() async throws {
        try directory.makeFolder("state/latchkey/setup")
        let run = try await shell(
            """
            python3 -c '
            import fcntl, subprocess, sys
            lock = open("state/latchkey/setup/lock", "w")
            fcntl.lockf(lock, fcntl.LOCK_EX)
            sys.exit(subprocess.run(["latchkey", "setup", "git", "--yes"]).returncode)'
            """)
        #expect(run.status == 75 && run.errorText.contains("[setup.busy]"), "\(run.errorText)")
        #expect(try entries("home").isEmpty)
    }

    @Test func `a person's changes during the question aren't lost`() async throws {
        for option in [[], ["--undo"]] {
            let terminal = try PseudoTerminal()
            let running = try BuiltProducts.latchkey().start(
                ["setup", "git"] + option, environment: environment, terminal: terminal, streamsOnTerminal: true)
            try await terminal.waitForQuestion("Write this?", from: running)
            _ = try await shell("git config --global user.name Ada; git config --global user.name > name")
            terminal.type("y\r")
            // What is to be taken away was shown with what stood around it.
            #expect(try await running.finish().status == (option.isEmpty ? 0 : 75))
            #expect(try await shell("git config --global user.name").outputText == "Ada\n")
            // The next round takes back what this one writes.
            #expect(try await shell("rm home/.gitconfig").status == 0)
            if option.isEmpty { #expect(try await setup("git", "--yes").status == 0) }
        }
    }

    @Test func `edits around the inserted text stay after --undo`() async throws {
        #expect(try await setup("git", "--yes").status == 0)
        #expect(try await shell("git config --global user.name Ada && sed -i '1i # mine' home/.gitconfig").status == 0)
        #expect(try await setup("git", "--undo", "--yes").status == 0)
        #expect(try directory.read("home/.gitconfig") == Array("# mine\n[user]\n\tname = Ada\n".utf8))
    }

    /// Tools write below the last section, and pip and aws refused a file whose setting had lost its section.
    @Test(arguments: [
        ("git", "[credential]\nx = 1\n# mine\n"), ("pip", "[global]\nx = 1\n# mine\n"),
        ("aws", "[default]\nx = 1\n# mine\n"),
    ])
    func `settings below the inserted one keep their section after --undo`(
        _ tool: String, _ left: String
    ) async throws {
        #expect(try await setup(tool, "--yes").status == 0)
        _ = try await shell("printf 'x = 1\\n# mine\\n' >> $(find home config -type f)")
        #expect(try await setup(tool, "--undo", "--yes").status == 0)
        #expect(try await shell("cat $(find home config -type f)").outputText == left)
    }

    /// --undo said that it was done, and left docker with a helper that was gone.
    @Test func `a link that is made again leaves --undo what it has to restore`() async throws {
        let before = Array("{\"credsStore\":\"pass\"}".utf8)
        try write("home/.docker/config.json", before)
        let path = ["PATH": Program.searchPath]
        #expect(try await setup("docker", "--yes", with: path).status == 0)
        _ = try await shell("rm home/.local/bin/*")
        #expect(try await setup("docker", "--yes", with: path).status == 0)
        // And once more after the program has moved.
        _ = try await shell("ln -sfn /nonexistent/latchkey home/.local/bin/docker-credential-latchkey")
        #expect(try await setup("docker", "--yes", with: path).status == 0)
        #expect(try await setup("docker", "--undo", "--yes", with: path).status == 0)
        #expect(try directory.read("home/.docker/config.json") == before)
        #expect(try entries("home/.local/bin").isEmpty)
    }

    @Test func `the path of a vault is written whole`() async throws {
        #expect(try await setup("git", "--yes", "--vault", "own/vault").status == 0)
        let written = String(decoding: try directory.read("home/.gitconfig"), as: UTF8.self)
        #expect(written.contains("--vault=\(directory / "own/vault")\n"), "\(written)")
    }

    @Test func `--undo leaves a file with edits inside the inserted text, and accepts removed text`() async throws {
        #expect(try await setup("git", "--yes").status == 0)
        #expect(try await shell("sed -i 's/helper git/helper git --no-prompt/' home/.gitconfig").status == 0)
        let edited = try directory.read("home/.gitconfig")
        // What was inserted ends with a line's end, which isn't there any more.
        let refused = try await setup("git", "--undo", "--yes")
        #expect(refused.status == 77 && refused.errorText.contains("[setup.changed]"))
        #expect(try directory.read("home/.gitconfig") == edited)
        try directory.write("home/.gitconfig", "[user]\n")
        #expect(try await setup("git", "--undo", "--yes").status == 0)
        #expect(try directory.read("home/.gitconfig") == Array("[user]\n".utf8))
        #expect(try await setup("git", "--undo", "--yes").status == 1)
    }

    @Test(arguments: [
        ("{\"auths\":{\"a\":{}}}", "{\"auths\": {\"a\": {}}}"),
        ("{\"credsStore\":\"desktop\",\"auths\":{}}", "{\"auths\": {}, \"credsStore\": \"desktop\"}"),
    ])
    func `docker rewrites its file at every login, and --undo still works`(
        _ before: String, _ after: String
    ) async throws {
        try write("home/.docker/config.json", Array(before.utf8))
        #expect(try await setup("docker", "--yes").status == 0)
        let rewrite = """
            import json
            name = "home/.docker/config.json"
            content = json.load(open(name))
            with open(name, "w") as file:
                json.dump(content, file, indent="\\t", sort_keys=True)
            """
        #expect(try await shell("python3 - <<'END'\n\(rewrite)\nEND").status == 0)
        let undone = try await setup("docker", "--undo", "--yes")
        #expect(undone.status == 0, "\(undone.errorText)")
        #expect(!undone.outputText.contains("\\u"), "a tab is shown as white space")
        let content = try JSONSerialization.jsonObject(with: Data(try directory.read("home/.docker/config.json")))
        let expected = try JSONSerialization.jsonObject(with: Data(after.utf8))
        #expect((content as? NSDictionary) == (expected as? NSDictionary))
    }

    /// A line of the person's own that reads as ours was taken for it: where setup had made the link alone, and where
    /// docker's latchkey was a single registry's.
    @Test(arguments: [
        (
            tool: "docker", file: "home/.docker/config.json", before: "{\"credsStore\": \"latchkey\"}", after: nil,
            status: 0
        ),
        (
            "docker", "home/.docker/config.json", "{\"credsStore\":\"desktop\"}",
            "{\"credsStore\":\"pass\",\"credHelpers\":{\"x.example\":\"latchkey\"}}", 0
        ),
        (
            "docker", "home/.docker/config.json", "{\"x\":{}}",
            "{\"x\":{\n    \"credsStore\": \"latchkey\",\"y\":1}}", 0
        ),
        ("uv", "config/uv/uv.toml", "", "# keyring-provider = \"subprocess\"\n", 77),
    ])
    func `--undo leaves a person's own line that equals the inserted one`(
        _ tool: String, _ file: String, _ before: String, _ after: String?, _ status: Int32
    ) async throws {
        // Another keyring may be on the path, which uv would find.
        let extra = tool == "docker" ? ["PATH": Program.searchPath] : [:]
        try write(file, Array(before.utf8))
        #expect(try await setup(tool, "--yes", with: extra).status == 0)
        if let after { try write(file, Array(after.utf8)) }
        let undone = try await setup(tool, "--undo", "--yes", with: extra)
        #expect(undone.status == status, "\(undone.errorText)")
        #expect(try directory.read(file) == Array((after ?? before).utf8))
        if status == 0 { #expect(try entries("home/.local/bin") == []) }
    }

    // MARK: - Faults

    @Test func `a full disk leaves everything unchanged`() async throws {
        let text = "[user]\n" + String(repeating: "# much to say\n", count: 600)
        try directory.write("home/.gitconfig", text)
        // Not even the record, then the record and not the file.
        for limit in [64, 4096] {
            let run = try await shell(
                "trap '' XFSZ; prlimit --fsize=\(limit) latchkey setup git --yes 2>&1 | cat; exit ${PIPESTATUS[0]}")
            #expect(run.status == 73 && run.outputText.contains("[setup.cannot-write]"), "\(run.outputText)")
            #expect(try directory.read("home/.gitconfig") == Array(text.utf8))
            #expect(try await setup("git", "--undo", "--yes").status == 1, "nothing is remembered")
        }
        #expect(try await setup("git", "--yes").status == 0)
        let written = try directory.read("home/.gitconfig")
        let undo = try await shell("trap '' XFSZ; ulimit -f 4; latchkey setup git --undo --yes")
        #expect(undo.status == 73)
        #expect(try directory.read("home/.gitconfig") == written)
        #expect(try await setup("git", "--undo", "--yes").status == 0)
        #expect(try entries("home") == [".gitconfig"])
    }

    @Test func `a change that is too long for the record isn't made`() async throws {
        let line = Array("GOAUTH=git /\(String(repeating: "x", count: 9000))\n".utf8)
        try write("config/go/env", line)
        let run = try await setup("go", "--yes")
        #expect(
            run.status == 73
                && run.errorText.contains("can't record the change, so nothing was changed: file too large"),
            "\(run.errorText)")
        #expect(try directory.read("config/go/env") == line)
        #expect(try await setup("go", "--undo", "--yes").status == 1)
    }

    @Test func `a disk that is full after the link removes the link again`() async throws {
        let text = Array("{\"rest\":\"\(String(repeating: "x", count: 9000))\"}".utf8)
        try write("home/.docker/config.json", text)
        let latchkey = try BuiltProducts.latchkey().path
        let run = try await shell(
            "trap '' XFSZ; PATH=\(Program.searchPath); prlimit --fsize=4096 \(latchkey) setup docker --yes 2>&1")
        #expect(run.status == 73, "\(run.outputText)")
        #expect(try directory.read("home/.docker/config.json") == text)
        #expect(try entries("home/.local/bin").isEmpty)
        #expect(try await setup("docker", "--undo", "--yes").status == 1)
    }

    @Test func `a link that can't be made leaves no record and no change`() async throws {
        try directory.write("home/.local", "a file where the folder should be\n")
        let run = try await setup("docker", "--yes", with: ["PATH": Program.searchPath])
        #expect(run.status == 73, "\(run.errorText)")
        #expect(try entries("home") == [".local"])
        #expect(try await setup("docker", "--undo", "--yes").status == 1)
    }

    /// In /proc not even root makes files.
    @Test func `a folder that can't be written gets no record`() async throws {
        let run = try await setup("git", "--yes", with: ["GIT_CONFIG_GLOBAL": "/proc/gitconfig"])
        #expect(run.status == 73 && run.errorText.contains("[setup.cannot-write]"), "\(run.errorText)")
        #expect(try await setup("git", "--undo", "--yes").status == 1)
    }

    @Test func `a state folder that isn't a folder leaves everything unchanged`() async throws {
        try directory.write("state/latchkey", "no folder\n")
        let run = try await setup("git", "--yes")
        #expect(run.status == 73 && run.errorText.contains("nothing was changed"), "\(run.errorText)")
        #expect(try entries("home").isEmpty)
    }

    /// strace kills it at each call that changes a name or makes one last. Whatever is done by then, the file is whole,
    /// and the same command and --undo lead back.
    @Test(arguments: [false, true])
    func `a setup that is killed at any step leaves a whole file, and can be undone`(_ isUndo: Bool) async throws {
        let before = Array("{\"auths\":{}}\n".utf8)
        let path = ["PATH": Program.searchPath]
        let link = directory / "home/.local/bin/docker-credential-latchkey"
        try write("home/.docker/config.json", before)
        #expect(try await setup("docker", "--yes", with: path).status == 0)
        let after = try directory.read("home/.docker/config.json")
        #expect(try await setup("docker", "--undo", "--yes").status == 0)
        #expect(try directory.read("home/.docker/config.json") == before && before != after)
        let program = try BuiltProducts.latchkey().path
        var kills = 0
        for call in ["rename", "fsync", "fdatasync", "symlink", "unlink", "mkdir", "write"] {
            for step in 1...40 {
                if isUndo { #expect(try await setup("docker", "--yes", with: path).status == 0) }
                let run = try await shell(
                    """
                    env PATH=\(Program.searchPath) strace -f -qq -o /dev/null -e trace=\(call) \
                        -e inject=\(call):signal=KILL:when=\(step) "\(program)" setup docker \(isUndo ? "--undo" : "") --yes
                    """)
                let text = try directory.read("home/.docker/config.json")
                #expect(text == before || text == after, "\(call) \(step): \(String(decoding: text, as: UTF8.self))")
                if run.status == 0 { break }
                kills += 1
                // Doing it again ends it, whatever was done.
                if !isUndo {
                    let again = try await setup("docker", "--yes", with: path)
                    #expect(again.status == 0, "\(call) \(step): \(again.errorText)")
                    #expect(try directory.read("home/.docker/config.json") == after)
                }
                let undone = try await setup("docker", "--undo", "--yes", with: path)
                #expect(undone.status == 0 || isUndo && undone.status == 1, "\(call) \(step): \(undone.errorText)")
                #expect(try directory.read("home/.docker/config.json") == before, "\(call) \(step)")
                #expect(try entries("state/latchkey/setup").filter { $0.hasSuffix(".json") }.isEmpty)
                #expect(!FileManager.default.fileExists(atPath: link), "\(call) \(step)")
            }
            _ = try await setup("docker", "--undo", "--yes", with: path)
        }
        #expect(kills >= 7, "strace killed it \(kills) times")
    }
}
