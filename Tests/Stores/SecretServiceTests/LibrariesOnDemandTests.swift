import Foundation
import Testing
import TestServices

/// libsecret and GLib are loaded when the keyring is first used, and by nothing else.
struct LibrariesOnDemandTests {
    /// How the libraries' files begin.
    private static let names = ["libsecret-1.so", "libglib-2.0.so", "libgobject-2.0.so", "libgio-2.0.so"]

    private func latchkey(
        _ arguments: [String], _ environment: [String: String], input: String = ""
    ) async throws -> ProgramRun {
        try await BuiltProducts.latchkey().run(arguments, environment: environment, input: Array(input.utf8))
    }

    /// Runs a command, which must succeed, and returns which of the libraries ld.so(8) loaded in its processes.
    private func loaded(
        _ arguments: [String], _ environment: [String: String], in directory: TestDirectory, input: String = ""
    ) async throws -> Set<String> {
        let folder = try directory.makeFolder("loaded-\(UInt64.random(in: 0 ... .max))")
        var environment = environment
        environment["LD_DEBUG"] = "files"
        environment["LD_DEBUG_OUTPUT"] = folder + "/of"
        try await latchkey(arguments, environment, input: input).successful("latchkey \(arguments)")
        let reports = try FileManager.default.contentsOfDirectory(atPath: folder).map {
            String(decoding: try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\($0)")), as: UTF8.self)
        }
        // What every run loads shows that the reports say what is loaded.
        #expect(!reports.isEmpty && reports.allSatisfy { $0.contains("file=libsodium.so") })
        return Set(Self.names.filter { name in reports.contains { $0.contains("file=\(name)") } })
    }

    /// A vault that opens with a key file, on a machine with a keyring.
    private func vault(_ session: PrivateSession) async throws -> [String: String] {
        let environment = session.environment.merging(["LATCHKEY_KEY_FILE": session.directory / "key"]) { $1 }
        let initial = ["vault", "init", "--key-file", session.directory / "key"]
        #expect(try await loaded(initial, environment, in: session.directory) == [])
        return environment
    }

    /// A save in a vault is the exception: it looks whether the keyring has the credential too, where there is a bus.
    @Test func `a vault's command loads neither libsecret nor GLib, and a keyring's loads both`() async throws {
        let session = try await PrivateSession(.unlocked)
        let environment = try await vault(session)
        try await latchkey(["set", "s", "u", "--store", "vault"], environment, input: "s3cret").successful("set")
        for arguments in [
            ["--store", "vault", "get", "s", "u"], ["--store", "vault", "list"],
            ["--store", "vault", "delete", "s", "u"], ["vault", "slots"], ["vault", "verify"], ["--help"],
            ["--version"],
        ] {
            #expect(try await loaded(arguments, environment, in: session.directory) == [], "\(arguments)")
        }
        for (arguments, input) in [(["set", "s", "u"], "s3cret"), (["get", "s", "u"], "")] {
            let found = try await loaded(
                ["--store", "secret-service"] + arguments, environment, in: session.directory, input: input)
            #expect(found == Set(Self.names), "\(arguments)")
        }
    }

    /// A first run looks for a keyring before it takes the vault. Where no bus is, no keyring can be.
    @Test func `the search for a keyring loads nothing without a bus`() async throws {
        let directory = try TestDirectory()
        let environment = try directory.environment().merging(["LATCHKEY_KEY_FILE": directory / "key"]) { $1 }
        try await latchkey(["vault", "init", "--key-file", directory / "key"], environment).successful("vault init")
        #expect(try await loaded(["set", "s", "u"], environment, in: directory, input: "x") == [])
        #expect(try await loaded(["get", "s", "u"], environment, in: directory) == [])
    }

    // MARK: - Without them

    /// A folder for LD_LIBRARY_PATH where ld.so finds a libsecret that is none, before the system's own.
    enum Broken: CaseIterable {
        case empty, withoutFunctions

        func folder(in directory: TestDirectory) async throws -> String {
            let folder = try directory.makeFolder("broken")
            switch self {
            case .empty: try directory.write("broken/libsecret-1.so.0", "")
            case .withoutFunctions:
                let source = try directory.write("none.c", "int latchkey_test_nothing;\n")
                try await Program("gcc").run(["-shared", "-o", folder + "/libsecret-1.so.0", source])
                    .successful("gcc")
            }
            return folder
        }

        var problem: String {
            switch self {
            case .empty: "loaded: no libsecret-1.so.0"
            case .withoutFunctions: "used: this version lacks the function secret_service_decode_dbus_secret"
            }
        }
    }

    @Test(arguments: Broken.allCases)
    func `without the libraries the keyring is unavailable, names the packages, and a vault works`(
        _ broken: Broken
    ) async throws {
        let session = try await PrivateSession(.unlocked)
        var environment = try await vault(session)
        environment["LD_LIBRARY_PATH"] = try await broken.folder(in: session.directory)
        let cause = "libsecret, which connects to the keyring, can't be \(broken.problem)"
        let remedy = "run `apt install libsecret-1-0`, or choose another store with --store"
        for arguments in [["get", "s", "u"], ["list"], ["delete", "s", "u"], ["set", "s", "u"]] {
            let run = try await latchkey(["--store", "secret-service"] + arguments, environment, input: "x")
            #expect(run.status == 69, "\(arguments)")
            #expect(run.errorText.contains("latchkey: error: \(cause) [store.unavailable]\n"), "\(run.errorText)")
            #expect(run.errorText.contains("\nlatchkey: hint: \(remedy)"), "\(run.errorText)")
        }
        try await latchkey(["set", "s", "u", "--store", "vault"], environment, input: "s3cret").successful("set")
        #expect(try await latchkey(["get", "s", "u", "--store", "vault"], environment).outputText == "s3cret")
        // Without a choice the keyring is passed over, and the doctor says why.
        #expect(try await latchkey(["get", "s", "u"], environment).outputText == "s3cret")
        let doctor = try await latchkey(["doctor", "--verbose"], environment)
        #expect(doctor.status == 0, "\(doctor.errorText)")
        let lines = doctor.outputText.split(separator: "\n")
        let line = try #require(lines.first { $0.contains("  keyring  ") })
        #expect(line.hasPrefix("note ") && line.contains("\(cause) [store.unavailable]"), "\(doctor.outputText)")
        #expect(doctor.outputText.contains(remedy), "\(doctor.outputText)")
    }

    @Test func `a running program finds the libraries once they are installed`() async throws {
        let session = try await PrivateSession(.unlocked)
        let folder = try await Broken.empty.folder(in: session.directory)
        let probe = try KeyringProbe(session, environment: ["LD_LIBRARY_PATH": folder])
        for _ in 0..<2 {
            let refused = try await probe.ask("read", "s", "u", "password")
            #expect(refused[0...1] == ["error", "store.unavailable"] && refused[4].contains("libsecret-1-0"))
        }
        try FileManager.default.removeItem(atPath: folder + "/libsecret-1.so.0")
        try await probe.save("s", "u", "kept")
        #expect(try await probe.read("s", "u") == "kept")
    }

    // MARK: - The program itself

    @Test func `the program is linked to neither library, and exports no functions of their names`() async throws {
        let path = try BuiltProducts.latchkey().path
        let dynamic = try await Program("readelf").run(["-dW", path]).successful("readelf").outputText
        #expect(dynamic.contains("(NEEDED)") && dynamic.contains("[libsodium.so"))
        for library in Self.names { #expect(!dynamic.contains("[\(library)"), "\(library)") }
        // What else is in the program, such as an adopter's own use of GLib, must not be led to ours.
        let symbols = try await Program("nm").run(["-g", "--defined-only", path]).successful("nm").outputText
        #expect(symbols.contains(" latchkey_libsecret_load\n"))
        let theirs = symbols.split(separator: "\n").filter { $0.contains(/\s(g|secret)_\w+$/) }
        #expect(theirs.isEmpty, "\(theirs)")
    }
}
