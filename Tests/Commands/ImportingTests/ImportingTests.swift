import Foundation
import LatchkeyCredentials
import LatchkeyCommands
import LatchkeyLog
import LatchkeySecrets
import Testing
import TestServices

/// The readers of other programs' files, on files that those programs don't write.
struct ImportingTests {
    private let directory: TestDirectory

    init() throws {
        directory = try TestDirectory()
    }

    private func kept(_ read: CredentialImport) async throws -> [String] {
        try await read.store.list().all().map { "\($0.key.service) \($0.key.account)" }.sorted()
    }

    private func holds(_ read: CredentialImport, _ service: String, _ account: String, _ text: String) async throws
        -> Bool
    {
        let key = try CredentialKey(service: service, account: account)
        return try await read.store.read(key, as: Password.self)?.secret.matches(Array(text.utf8).span) ?? false
    }

    private func problem(_ body: () async throws -> CredentialImport) async -> ImportError.Problem? {
        do {
            _ = try await body()
            return nil
        } catch {
            return (error as? ImportError)?.problem
        }
    }

    // MARK: - git

    @Test func `git's lines are URLs with a user and a password, and others are skipped`() async throws {
        let file = try directory.write(
            "git",
            """
            https://ada:p%40ss%3a%25@example.org
            http://bob:two@example.org:8080/team/repo.git

            https://nobody@example.org
            not a url
            https://eve:bad%zz@example.org
            https://eve:line%0abreak@example.org
            https://:x@example.org
            https://zoe:@example.org
            https://cr:lf@example.org/\r

            """)
        let read = try await GitCredentials.read(file)
        #expect(
            try await kept(read) == [
                "git:http://example.org:8080/team/repo.git bob", "git:https://example.org (no user)",
                "git:https://example.org ada", "git:https://example.org cr", "git:https://example.org eve",
            ])
        #expect(try await holds(read, "git:https://example.org", "ada", "p@ss:%"))
        #expect(try await holds(read, "git:http://example.org:8080/team/repo.git", "bob", "two"))
        // What has no login is no credential.
        #expect(read.skippedCount == 3)
    }

    // MARK: - gh

    @Test func `each host of gh has a token, and each user one`() async throws {
        let file = try directory.write(
            "hosts.yml",
            """
            github.com:
                users:
                    ada:
                        oauth_token: gho_one
                    bob:
                        oauth_token: "gho_two"
                git_protocol: https
                oauth_token: gho_one
                user: ada
            # an older form
            ghe.example.org:8443:
              user: eve
              oauth_token: 'ghs_three'
            "ghe2.example.org":
              users:
                "123":
                  oauth_token: gho_four

            """)
        let read = try await GitHubHosts.read(file)
        #expect(
            try await kept(read) == [
                "gh:ghe.example.org:8443 eve", "gh:ghe2.example.org 123", "gh:github.com ada", "gh:github.com bob",
            ])
        #expect(try await holds(read, "gh:github.com", "bob", "gho_two"))
        #expect(try await holds(read, "gh:ghe.example.org:8443", "eve", "ghs_three"))
    }

    @Test(arguments: [
        "github.com: {oauth_token: x}\n", "github.com:\n  oauth_token: &a x\n", "- github.com\n", "\tgithub.com:\n",
        "github.com:\n  oauth_token: \"a\\x41\"\n", "github.com:\n  oauth_token: gho_x  # note\n",
        "github.com:\n  oauth_token: ~\n", "github.com:\n  oauth_token: null  \n",
    ])
    func `other notations of YAML are refused with their line`(_ text: String) async throws {
        let file = try directory.write("hosts.yml", text)
        let found = await problem { try await GitHubHosts.read(file) }
        #expect(found == .malformed(line: text.hasPrefix("github.com:\n") ? 2 : 1))
    }

    @Test func `comments and blanks behind the text are no part of it`() async throws {
        let file = try directory.write(
            "hosts.yml", "github.com: # work\n    user: al\n    oauth_token: tok1  \nb.example:\n    user: bo  # me\n")
        let found = await problem { try await GitHubHosts.read(file) }
        #expect(found == .malformed(line: 5))
        let sound = try directory.write(
            "hosts.yml",
            "github.com: # work\n    user: al\n    oauth_token: tok1  \nb.example:\n    oauth_token: \"x\" \r\n")
        let read = try await GitHubHosts.read(sound)
        #expect(try await kept(read) == ["gh:github.com al"] && read.skippedCount == 1)
        #expect(try await holds(read, "gh:github.com", "al", "tok1"))
    }

    // MARK: - Python keyring

    @Test func `a sealed file of Python keyring is recognized`() async throws {
        let file = try directory.write(
            "crypted_pass.cfg", "[keyring_2Dsetting]\npassword_20reference = \n\tYWJj\n")
        #expect(await problem { try await PythonKeyringFile.read(file) } == .sealed)
    }

    @Test(arguments: ["name = YWJj\n", "[a]\nname\n", "[a]\nname = YWJ\n", "[a]\nname = Y=Jj\n", "[a\n", "[a_2]\n"])
    func `a damaged file of Python keyring is refused`(_ text: String) async throws {
        let file = try directory.write("keyring_pass.cfg", text)
        guard case .malformed = await problem({ try await PythonKeyringFile.read(file) }) else {
            Issue.record("\(text) was read")
            return
        }
    }

    // MARK: - All

    @Test func `a file that is missing, too large or not a file is refused`() async throws {
        #expect(await problem { try await GitCredentials.read(directory / "nothing") } == .unreadable(2))
        #expect(await problem { try await GitCredentials.read(directory.path) } == .notAFile)
        let large = try directory.write("large", [UInt8](repeating: 0x41, count: (16 << 20) + 1))
        #expect(await problem { try await GitCredentials.read(large) } == .tooLarge)
    }

    /// What only who knows the passphrase can damage. The first file is sound.
    @Test func `no damage inside a sealed file of libsecret's makes its reader crash`() async throws {
        let seed = Int.random(in: 0..<1_000_000)
        let script = TestData.folder().appendingPathComponent("libsecret_files.py").path
        let count = runsLong ? 20_000 : 300
        try await Program("/usr/bin/python3").run([script, directory.path, "\(count)", "\(seed)"]).successful("python3")
        let passphrase = Secret<Passphrase>(copying: [0x61].span)
        var readCount = 0
        for number in 0..<count {
            let read = try? await LibsecretFile.read(directory / "\(number)", passphrase: { passphrase.duplicate() })
            if number == 0 {
                let key = try CredentialKey(service: "example.org", account: "ada")
                let sound = try #require(read)
                #expect(try await sound.store.read(key, as: Password.self) != nil)
                #expect(try await !holds(sound, "example.org", "ada", "older"))
                #expect(sound.skippedNames == ["an item, of which another secret was imported"])
                #expect(try await holds(sound, "git:https://example.org", "bob", "gcm"))
            }
            readCount += read == nil ? 0 : 1
        }
        #expect((1..<count).contains(readCount), "seed \(seed)")
    }

    /// Each reader on 3,000 files made of pieces of its own format: an error or some entries, and nothing worse.
    @Test func `no file makes a reader crash`() async throws {
        var random = SystemRandomNumberGenerator()
        let pieces = [
            "https://", "a", ":", "@", "%4", "%41", "/", "\n", "\r\n", " ", "\t", "[", "]", "=", "_2D", "_", "YWJj",
            "oauth_token: ", "users:\n", "\"", "'", "\0", "\u{FFFD}", "GnomeKeyring\n\r\0\n\u{1}\0", "#", "user: x\n",
        ]
        let passphrase = Secret<Passphrase>(copying: [0x61].span)
        let sound = Array("GnomeKeyring\n\r\0\n".utf8) + [1, 0]
        for _ in 0..<3000 {
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 0...12, using: &random) {
                bytes += Array(pieces.randomElement(using: &random)!.utf8)
            }
            let file = try directory.write("any", bytes)
            _ = try? await GitCredentials.read(file)
            _ = try? await GitHubHosts.read(file)
            _ = try? await PythonKeyringFile.read(file)
            let noise = (0..<Int.random(in: 0...80, using: &random)).map { _ in
                Bool.random(using: &random) ? UInt8.random(in: 0...8) : UInt8.random(in: 0...255)
            }
            let keyring = try directory.write("keyring", sound + [4, 0, 0, 0, 1, 2, 3, 4, 1, 0, 0, 0] + noise)
            _ = try? await LibsecretFile.read(keyring, passphrase: { passphrase.duplicate() })
        }
    }
}
