internal import Foundation
internal import Testing
internal import TestServices

/// Files that other programs and other users may have a hand in: what a provider is, and which entry the desktop takes.
@Suite struct OwnFilesTests {
    private let directory: TestDirectory
    private let environment: [String: String]
    private var file: String { directory / "config/latchkey/providers/spotify.json" }
    private var associations: String { directory / "config/mimeapps.list" }

    init() async throws {
        directory = try TestDirectory()
        var environment = try directory.environment()
        environment["LATCHKEY_STORE"] = "vault"
        self.environment = environment
    }

    private func run(_ arguments: String...) async throws -> ProgramRun {
        try await BuiltProducts.latchkey().run(arguments, environment: environment)
    }

    // MARK: - Providers

    enum Tampering: String, CaseIterable {
        case writableByGroup, writableByAll, folderWritableByAll, link, fifo, anotherOwner, folderOfAnotherOwner
    }

    /// Whoever may write a provider's file chooses where codes and secrets are sent: it was read whosever it was.
    @Test(arguments: Tampering.allCases)
    func `a provider's file that others can write is refused`(tampering: Tampering) async throws {
        try await run("provider", "add", "spotify", "--client-id", "me").successful("provider add")
        guard try tamper(file, tampering) else { return }
        for arguments in [
            ["provider", "list"], ["sign-in", "spotify", "--browser"], ["provider", "remove", "spotify"],
        ] {
            let run = try await BuiltProducts.latchkey().run(arguments, environment: environment)
            #expect(run.status == 77, "\(arguments): \(run.errorText)")
            #expect(run.errorText.contains("[provider.not-own]"))
            #expect(run.errorText.contains("latchkey: hint: check \(file), then run chmod go-w"))
        }
        _ = unsafe chown((file as NSString).deletingLastPathComponent, geteuid(), getegid())
    }

    /// Returns `false` if this user can't do that.
    private func tamper(_ file: String, _ tampering: Tampering) throws -> Bool {
        let folder = (file as NSString).deletingLastPathComponent
        switch tampering {
        case .writableByGroup: #expect(unsafe chmod(file, 0o620) == 0)
        case .writableByAll: #expect(unsafe chmod(file, 0o602) == 0)
        case .folderWritableByAll: #expect(unsafe chmod(folder, 0o777) == 0)
        case .link:
            try FileManager.default.moveItem(atPath: file, toPath: file + ".real")
            try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: file + ".real")
        case .fifo:
            try FileManager.default.removeItem(atPath: file)
            #expect(unsafe mkfifo(file, 0o600) == 0)
        case .anotherOwner, .folderOfAnotherOwner:
            // Only root can give a file away.
            guard geteuid() == 0 else { return false }
            #expect(unsafe chown(tampering == .anotherOwner ? file : folder, 1234, 1234) == 0)
        }
        return true
    }

    /// Whoever may write the configuration can name a vault of theirs. Of its owner and its folder nothing was asked.
    @Test(arguments: Tampering.allCases.filter { $0 != .fifo })
    func `a configuration that others can write is refused, behind a link too, and a link stays one`(
        tampering: Tampering
    ) async throws {
        let file = directory / "config/latchkey/config"
        try await run("config", "set", "store", "vault").successful("config set")
        guard try tamper(file, tampering) else { return }
        let list = try await run("config", "list")
        guard tampering != .link else {
            #expect(list.outputText.contains("store  vault"), "\(list.errorText)")
            try await run("config", "set", "all-stores", "yes").successful("config set")
            #expect(try String(contentsOfFile: file + ".real", encoding: .utf8) == "store = vault\nall-stores = yes\n")
            #expect(unsafe chmod(directory / "config/latchkey", 0o777) == 0)
            let elsewhere = directory / "config/link"
            func config(_ words: String...) async throws -> ProgramRun {
                try await BuiltProducts.latchkey().run(
                    ["config"] + words, environment: environment.merging(["LATCHKEY_CONFIG": elsewhere]) { $1 })
            }
            #expect(unsafe mkdir(elsewhere, 0o700) == 0 && symlink(file + ".real", elsewhere + "/config") == 0)
            #expect(try await config("list").status == 78)
            #expect(unsafe chmod(directory / "config/latchkey", 0o700) == 0)
            #expect(try await config("list").status == 0)
            #expect(unsafe unlink(elsewhere + "/config") == 0 && symlink("gone", elsewhere + "/config") == 0)
            #expect(try await config("set", "all-stores", "no").status == 73)
            guard try tamper(file + ".real", .anotherOwner) else { return }
            #expect(try await run("config", "list").status == 78)
            return
        }
        #expect(list.status == 78)
        #expect(list.errorText.contains("[configuration.invalid]\nlatchkey: hint: check what it says, then "))
        let said =
            switch tampering {
            case .anotherOwner: "\" belongs to another user "
            case .folderOfAnotherOwner: "\" is in a directory of another user "
            default: "chmod go-w "
            }
        #expect(list.errorText.contains(said), "\(list.errorText)")
        // Nor is one written there, which no command would read.
        if tampering == .folderOfAnotherOwner {
            #expect(unsafe unlink(file) == 0)
            #expect(try await run("config", "set", "store", "vault").status == 78)
            #expect(!FileManager.default.fileExists(atPath: file))
        }
        _ = unsafe chown((file as NSString).deletingLastPathComponent, geteuid(), getegid())
    }

    // MARK: - mimeapps.list

    private static let others =
        "[Added Associations]\ntext/plain=x.desktop;\n\n[Default Applications]\ntext/html=b.desktop\n"

    @Test func `a scheme's entry is written among other entries, and removed again`() async throws {
        try directory.write("config/mimeapps.list", Self.others)
        try await run("scheme", "add", "com.example.app").successful("scheme add")
        let line = "x-scheme-handler/com.example.app=latchkey-com.example.app.desktop"
        let expected = Self.others.replacing("[Default Applications]\n", with: "[Default Applications]\n\(line)\n")
        #expect(try String(contentsOfFile: associations, encoding: .utf8) == expected)
        // Another one's entry gives way, and a second time changes nothing.
        try directory.write("config/mimeapps.list", expected.replacing("latchkey-", with: "other-"))
        for _ in 0..<2 {
            try await run("scheme", "add", "com.example.app").successful("scheme add")
            #expect(try String(contentsOfFile: associations, encoding: .utf8) == expected)
        }
        try await run("scheme", "remove", "com.example.app").successful("scheme remove")
        #expect(try String(contentsOfFile: associations, encoding: .utf8) == Self.others)
    }

    @Test func `a list that is a link stays a link, and its target is written`() async throws {
        try directory.makeFolder("dotfiles")
        try directory.write("dotfiles/mimeapps", Self.others)
        try FileManager.default.createSymbolicLink(
            atPath: associations, withDestinationPath: "../dotfiles/mimeapps")
        try await run("scheme", "add", "com.example.app").successful("scheme add")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: associations) == "../dotfiles/mimeapps")
        #expect(String(decoding: try directory.read("dotfiles/mimeapps"), as: UTF8.self).contains("com.example.app"))
        try await run("scheme", "remove", "com.example.app").successful("scheme remove")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: associations) == "../dotfiles/mimeapps")
        #expect(String(decoding: try directory.read("dotfiles/mimeapps"), as: UTF8.self) == Self.others)
    }

    @Test func `a list that can't be restored is left alone, and no entry stays`() async throws {
        try directory.write("config/mimeapps.list", Array("[Default Applications]\ntext/x=".utf8) + [0xFF, 0x0A])
        let broken = try await run("scheme", "add", "com.example.app")
        #expect(broken.status == 73 && broken.errorText.contains("[scheme.associations]"), "\(broken.errorText)")
        try FileManager.default.removeItem(atPath: associations)
        try FileManager.default.createSymbolicLink(atPath: associations, withDestinationPath: "nowhere/at/all")
        let dangling = try await run("scheme", "add", "com.example.app")
        #expect(dangling.status == 73 && dangling.errorText.contains("[scheme.associations]"), "\(dangling.errorText)")
        #expect(try await run("scheme", "list").outputText.contains("com.example") == false)
    }

    @Test func `entries of many concurrent processes all exist`() async throws {
        try directory.write("config/mimeapps.list", Self.others)
        let schemes = (1...8).map { "com.example.app\($0)" }
        let environment = environment
        try await withThrowingTaskGroup(of: Void.self) { group in
            for scheme in schemes {
                group.addTask {
                    try await BuiltProducts.latchkey().run(["scheme", "add", scheme], environment: environment)
                        .successful("scheme add")
                }
            }
            try await group.waitForAll()
        }
        let text = try String(contentsOfFile: associations, encoding: .utf8)
        for scheme in schemes { #expect(text.contains("x-scheme-handler/\(scheme)=latchkey-\(scheme).desktop\n")) }
        #expect(text.contains("text/plain=x.desktop;\n") && text.contains("text/html=b.desktop\n"))
    }
}
