import Foundation
import LatchkeyCredentials
import LatchkeyImporting
import LatchkeyLog
import Testing
import TestServices

/// What is left of a tool's file when the secrets are taken out, and which files are left alone.
struct EmptiedFileTests: ToolFileSuite {
    private let directory: TestDirectory

    init() throws {
        directory = try TestDirectory(inMemory: true)
    }

    private let line = "https://ada:p@example.org\n"

    @Test func `git's file is left without a byte, with its mode`() async throws {
        let file = try directory.write("credentials", line, mode: 0o644)
        let read = try await GitCredentials.read(file)
        try read.files.forEach { try $0.empty() }
        #expect(try directory.read("credentials").isEmpty)
        #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o644)
    }

    @Test func `lines without a login stay when git's file is emptied`() async throws {
        let file = try directory.write("credentials", "# mine\n\(line)https://example.org\n")
        let read = try await GitCredentials.read(file)
        #expect(read.skippedCount == 0)
        try read.files.forEach { try $0.empty() }
        #expect(try directory.read("credentials") == Array("# mine\nhttps://example.org\n".utf8))
    }

    @Test func `of two passwords under one name git's is the first, and the other is named`() async throws {
        let file = try directory.write("credentials", line + "https://ada:other@example.org\n" + line)
        let read = try await GitCredentials.read(file)
        #expect(try await entries(read) == ["git:https://example.org ada p"])
        #expect(read.skippedCount == 1 && read.skippedNames.count == 1)
        #expect(read.skippedNames == ["line 2, which is there with another secret before"])
    }

    @Test func `a file that was changed since, or is there no more, is left`() async throws {
        let file = try directory.write("credentials", line)
        let read = try await GitCredentials.read(file)
        try directory.write("credentials", line + line)
        #expect(await problem { try read.files.forEach { try $0.empty() } } == .changed)
        #expect(try directory.read("credentials") == Array((line + line).utf8))
        try FileManager.default.removeItem(atPath: file)
        #expect(await problem { try read.files.forEach { try $0.empty() } } == .unreadable(ENOENT))
    }

    @Test func `a file with a second name, which would keep the secrets, is left`() async throws {
        let file = try directory.write("credentials", line)
        try FileManager.default.linkItem(atPath: file, toPath: directory / "second")
        let read = try await GitCredentials.read(file)
        #expect(await problem { try read.files.forEach { try $0.empty() } } == .hardLinked)
        #expect(try directory.read("credentials") == Array(line.utf8))
    }

    @Test func `another user's file is left`() async throws {
        var file = "/etc/hosts"
        if geteuid() == 0 {
            file = try directory.write("credentials", line)
            try #require(unsafe chown(file, 65534, 65534) == 0)
        }
        let before = try Data(contentsOf: URL(fileURLWithPath: file))
        let read = try await GitCredentials.read(file)
        #expect(await problem { try read.files.forEach { try $0.empty() } } == .othersFile)
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == before)
    }

    /// Whatever a file is like: once it is emptied, nothing is found in it any more, and it is still of its format.
    @Test func `what is emptied holds no entry, for 4,000 mutated files`() async throws {
        var docker = Mutator(
            seed: 1,
            samples: [
                "{\"auths\":{\"a\":{\"auth\":\"YTpi\"},\"b\":{\"auth\":\"YTo=\",\"identitytoken\":\"t\"}},\"x\":{}}",
                "{ \"auths\" : { \"a\" : { \"email\" : \"e\" , \"auth\" : \"YTpi\" , \"y\" : [ 1 ] } } }",
            ], words: ["\"auth\"", "\"identitytoken\"", ":", ",", "{", "}", "\"", "\"YTpi\"", "\\u0061", " "])
        var cargo = Mutator(
            seed: 2,
            samples: [
                "[registry]\ntoken = \"a\"\n", "[registries.own]\ntoken = '''a\nb'''\nx = 1\n",
                "registries.b.token = 'x'\r\n",
                "[registries]\nown = { token = 'in' }\n",
            ], words: ["'''", "\"", "'", "[", "]", "=", "token", "registry", "\n", "\r\n", "#", " "])
        var netrc = Mutator(
            seed: 3,
            samples: [
                "machine a login b password c\nmachine d\n\tlogin \"e f\" password \"g\\\"\"\n# h\n",
                "macdef m\nx\n\nmachine a password b login c account d\n",
            ], words: ["machine ", "login ", "password ", "default ", "macdef ", "\"", "\\", "#", "\n", " "])
        var pypirc = Mutator(
            seed: 4,
            samples: [
                "[pypi]\nusername = a\npassword = b\n",
                "[own]\r\nrepository: https://x\r\nusername: a\r\npassword: b\r\n",
            ], words: ["[", "]", "=", ":", "password", "[pypi]", "\n", "\r\n", " ", "#", ";"])
        var emptied = Array(repeating: 0, count: 4)
        for round in 0..<4000 {
            let kind = round % 4
            let file = try directory.write("any", [docker.next(), cargo.next(), netrc.next(), pypirc.next()][kind])
            func read() async throws -> CredentialImport {
                switch kind {
                case 0: try await DockerLogins.read(file)
                case 1: try await CargoTokens.read(file) { _ in "sparse+https://own.example/" }
                case 2: try await NetrcLogins.read(file)
                default: try await PyPILogins.read(file)
                }
            }
            guard let found = try? await read(), found.skippedCount == 0, !found.files.isEmpty,
                (try? found.files.forEach { try $0.empty() }) != nil
            else { continue }
            emptied[kind] += 1
            let rest = try await read()
            #expect(try await entries(rest).isEmpty && rest.skippedCount == 0)
        }
        #expect(emptied.allSatisfy { $0 > 100 }, "too few files can be read: \(emptied)")
    }
}
