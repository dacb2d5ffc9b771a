import Foundation
import LatchkeySystem
import Testing
import TestServices

/// The libraries that are loaded at first use: what a process may load, where they are missing, and what is said then.
struct LibraryTests {
    /// The probe's words for each entry to a library.
    private static let entries: [LoadableLibrary: [String]] = [
        .crypto: [
            "point", "sign", "verify", "pem", "proof-key", "stored-proof-key", "exchange", "derive", "tag", "seal",
            "open",
        ],
        .curl: ["request"], .microHTTPD: ["listen"], .glib: ["bus"], .libsecret: ["keyring"], .libpq: ["database"],
    ]

    /// What the libraries are for, as messages say it.
    private static let purposes: [LoadableLibrary: String] = [
        .crypto: "libcrypto, which signs and encrypts", .curl: "libcurl, which sends HTTP requests",
        .microHTTPD: "libmicrohttpd, which receives the browser's redirect", .glib: "GLib, which connects to D-Bus",
        .libsecret: "libsecret, which connects to the keyring", .libpq: "libpq, which connects to PostgreSQL",
    ]

    private func probe(
        _ words: [String], path: String? = nil, hiding: [LoadableLibrary] = []
    ) async throws -> [String] {
        let directory = try TestDirectory()
        var environment = try directory.environment()
        environment["LD_LIBRARY_PATH"] = path
        let program = try BuiltProducts.program("library-probe")
        let run: ProgramRun
        if hiding.isEmpty {
            run = try await program.run(words, environment: environment)
        } else {
            let script = """
                for name in \(hiding.map(\.fileName).joined(separator: " ")); do
                    for file in /usr/lib/*/$name /usr/lib/*/$name.*; do
                        [ ! -e "$file" ] || mount --bind /dev/null "$file" || exit
                    done
                done
                exec "$@"
                """
            run = try await Program("unshare").run(
                ["--map-root-user", "--mount", "sh", "-c", script, "sh", program.path] + words,
                environment: environment)
        }
        return try run.successful("library-probe").outputText.split(separator: "\n").map(String.init)
    }

    /// An entry that gets as far as it can without a service.
    private func isUsed(_ line: String) -> Bool {
        line.hasSuffix(": done") || line.contains("[http.cannot-connect]") || line.contains("[store.unavailable")
    }

    @Test func `without a restriction every library can be used`() async throws {
        let words = LoadableLibrary.allCases.flatMap { Self.entries[$0]! }
        let lines = try await probe(words)
        #expect(lines.count == words.count)
        for line in lines { #expect(isUsed(line) && !line.contains("library"), "\(line)") }
    }

    @Test(arguments: ["library-probe", "latchkey"])
    func `a program that uses the libraries isn't linked to them and exports no functions of their names`(
        _ name: String
    ) async throws {
        let path = try BuiltProducts.program(name).path
        let linked = try await Program("ldd").run([path]).successful("ldd").outputText
        let names = linked.split(separator: "\n").compactMap { $0.split(whereSeparator: \.isWhitespace).first }
            .map { $0.split(separator: "/").last! }.map { String($0.prefix { $0 != "." && $0 != "-" }) }
        // All but the release build's `latchkey` are linked to Swift's own libraries as well.
        let swift = ["libBlocksRuntime", "libdispatch", "libgcc_s", "libstdc++"]
        let others = Set(names.filter { !$0.hasPrefix("libswift") && !$0.hasPrefix("lib_") && !swift.contains($0) })
        #expect(others == ["linux", "ld", "libc", "libm", "libsodium", "libsqlite3"], "\(linked)")
        let listing = try await Program("nm").run(["-g", "--defined-only", "--format=just-symbols", path])
        let symbols = try listing.successful("nm").outputText.split(separator: "\n")
        #expect(symbols.contains("latchkey_load"))
        let prefixes = ["curl_", "MHD_", "SSL_", "EVP_", "BN_", "EC_", "ECDSA_", "OPENSSL_", "g_", "secret_", "PQ"]
        let theirs = symbols.filter { symbol in prefixes.contains { symbol.hasPrefix($0) } }
        #expect(theirs.isEmpty, "\(theirs)")
    }

    // MARK: - The permission

    @Test(arguments: LoadableLibrary.allCases)
    func `a library that the process doesn't permit is refused at each entry`(_ library: LoadableLibrary) async throws {
        let others = LoadableLibrary.allCases.filter { other in
            switch library {
            case .crypto: ![.crypto, .curl, .libpq].contains(other)
            case .glib: ![.glib, .libsecret].contains(other)
            default: other != library
            }
        }
        let words = Self.entries[library]!
        let lines = try await probe(["only=\(others.map { "\($0)" }.joined(separator: ","))"] + words)
        #expect(lines.count == words.count)
        let cause = "\(Self.purposes[library]!), isn't permitted in this process"
        for line in lines { #expect(line.contains(cause), "\(line)") }
    }

    @Test func `a permission includes what a library loads itself, and can be withdrawn`() async throws {
        let lines = try await probe(["only=curl", "request", "sign", "listen", "only=", "request"])
        #expect(lines.count == 4)
        #expect(lines[0].contains("[http.cannot-connect]") && lines[1] == "sign: done", "\(lines)")
        #expect(
            lines[2].contains("[library.not-permitted]") && lines[3].contains("[library.not-permitted]"), "\(lines)")
    }

    // MARK: - Libraries that are missing or wrong

    @Test func `if a library is missing, each entry throws and names the package to install`() async throws {
        let words = LoadableLibrary.allCases.flatMap { Self.entries[$0]! }
        let lines = try await probe(words, hiding: LoadableLibrary.allCases)
        #expect(lines.count == words.count)
        for library in LoadableLibrary.allCases {
            for word in Self.entries[library]! {
                // These need libcrypto first.
                let missing = [.curl, .libpq].contains(library) ? .crypto : library
                let line = try #require(lines.first { $0.hasPrefix("\(word): ") })
                #expect(
                    line.contains("\(Self.purposes[missing]!), can't be loaded: no \(missing.fileName) [")
                        && line.contains(" -> run `apt install \(missing.debianPackage)`"), "\(line)")
            }
        }
    }

    /// A folder with a library that is compiled from a text.
    private func folder(
        with library: LoadableLibrary, _ source: String, in directory: TestDirectory, mode: Int = 0o700
    ) async throws -> String {
        let folder = try directory.makeFolder("libraries", mode: mode)
        let source = try directory.write("library.c", source)
        try await Program("gcc").run(["-shared", "-fPIC", "-o", "\(folder)/\(library.fileName)", source])
            .successful("gcc")
        return folder
    }

    @Test(arguments: LoadableLibrary.allCases)
    func `a library of another version is refused by the name of the missing function`(_ library: LoadableLibrary)
        async throws
    {
        let directory = try TestDirectory()
        let folder = try await folder(with: library, "int latchkey_test_nothing;\n", in: directory)
        let lines = try await probe([Self.entries[library]![0]], path: folder)
        let text = "\(Self.purposes[library]!), can't be used: this version lacks the function "
        #expect(lines.count == 1 && lines[0].contains(text), "\(lines)")
        #expect(lines[0].contains("apt install \(library.debianPackage)"), "\(lines)")
    }

    @Test(arguments: ["GnuTLS/3.7.9", "(OpenSSL/3.0.17) GnuTLS/3.7.9", "OpenSSL/1.1.1w", "LibreSSL/3.8.2"])
    func `a libcurl without OpenSSL 3 is refused before it sends anything`(_ tls: String) async throws {
        let directory = try TestDirectory()
        let source = """
            #include <curl/curl.h>
            static curl_version_info_data information = {.ssl_version = "\(tls)"};
            curl_version_info_data *curl_version_info(CURLversion version) { return &information; }

            """
        let folder = try await folder(with: .curl, source, in: directory)
        let lines = try await probe(["request", "sign"], path: folder)
        #expect(lines.count == 2)
        #expect(
            lines[0].contains("libcurl, which sends HTTP requests, can't be used: its TLS isn't OpenSSL 3"), "\(lines)")
        #expect(lines[0].contains("[library.unfit]") && lines[1] == "sign: done", "\(lines)")
    }

    // MARK: - Libraries of other users

    /// What is wrong with a folder in LD_LIBRARY_PATH.
    enum Exposure: CaseIterable { case folder, file, emptyFolder, linkedFolder, second, token, processor, above }

    @Test(arguments: Exposure.allCases)
    func `a library that another user can replace isn't loaded`(_ exposure: Exposure) async throws {
        let directory = try TestDirectory()
        let source = "__attribute__((constructor)) static void start(void) { __builtin_trap(); }\n"
        let folder = try await folder(
            with: .microHTTPD, source, in: directory,
            mode: [.file, .second, .token, .processor, .above].contains(exposure) ? 0o700 : 0o777)
        let file = "\(folder)/\(LoadableLibrary.microHTTPD.fileName)"
        var path = folder
        switch exposure {
        case .folder: break
        case .file: try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: file)
        case .emptyFolder: try FileManager.default.removeItem(atPath: file)
        case .linkedFolder:
            path = try directory.makeFolder("links")
            try FileManager.default.createSymbolicLink(
                atPath: "\(path)/\(LoadableLibrary.microHTTPD.fileName)", withDestinationPath: file)
        // ld.so(8) replaces it by the program's folder.
        case .token: path = "$ORIGIN/somewhere"
        case .processor:
            try FileManager.default.createDirectory(
                atPath: "\(folder)/glibc-hwcaps/x86-64-v2", withIntermediateDirectories: true)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o777], ofItemAtPath: "\(folder)/glibc-hwcaps/x86-64-v2")
        case .above:
            path = try directory.makeFolder("above", mode: 0o777) + "/own"
            try FileManager.default.moveItem(atPath: folder, toPath: path)
        case .second: path = try "\(directory.makeFolder("empty")):\(directory.makeFolder("open", mode: 0o777))"
        }
        let lines = try await probe(["listen"], path: path)
        #expect(lines.count == 1)
        #expect(
            lines[0].contains("isn't loaded: another user can write to LD_LIBRARY_PATH [library.exposed]"), "\(lines)")
        #expect(lines[0].contains("chmod go-w"), "\(lines)")
    }

    @Test func `a folder of the same user is searched for libraries`() async throws {
        let directory = try TestDirectory()
        let folder = try directory.makeFolder("own")
        #expect(try await probe(["listen"], path: folder) == ["listen: done"])
    }

    // MARK: - Threads

    @Test func `eight threads load the same and different libraries at once`() async throws {
        for _ in 0..<10 { #expect(try await probe(["eight-threads"]) == ["eight-threads: []"]) }
    }
}
