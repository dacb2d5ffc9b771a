// swift-tools-version: 6.2
import Foundation
import PackageDescription

// A module's name must be unique in every graph that a product of ours is part of, so each begins with Latchkey, and a
// C library's with CLatchkey; see Docs/Decisions/0001-structure.md. Its folder has the short name.
func module(_ name: String, at folder: String, uses dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, path: "Sources/\(folder)")
}

// One C library has one Swift owner.
func system(_ name: String, at folder: String, pkgConfig: String? = nil) -> Target {
    .systemLibrary(
        name: name, path: "Sources/CLibraries/\(folder)", pkgConfig: pkgConfig,
        providers: pkgConfig == nil ? nil : [.apt(headers)])
}

// All that the C modules include. Three of these libraries are loaded at first use, each by its own table; see
// Docs/Decisions/0029-libraries-on-demand.md.
let headers = ["libcurl4-openssl-dev", "libmicrohttpd-dev", "libsodium-dev", "libsqlite3-dev", "libssl-dev"]

let package = Package(
    name: "latchkey",
    products: [
        .library(name: "Latchkey", targets: ["Latchkey"]),
        .library(name: "LatchkeyLog", targets: ["LatchkeyLog"]),
        .library(name: "LatchkeyATProtocol", targets: ["LatchkeyATProtocol"]),
        .library(name: "LatchkeyFoundation", targets: ["LatchkeyFoundation"]),
        .library(name: "LatchkeyTestServer", targets: ["LatchkeyTestServer"]),
        .library(name: "LatchkeyStoreContract", targets: ["LatchkeyStoreContract"]),
        .library(name: "LatchkeyLeakAudit", targets: ["LatchkeyLeakAudit"]),
        .library(name: "LatchkeySwiftLog", targets: ["LatchkeySwiftLog"]),
        .executable(name: "latchkey", targets: ["LatchkeyMain"]),
        .executable(name: "latchkey-demo", targets: ["LatchkeyDemo"]),
    ],
    traits: [
        .trait(name: "Fuzzing", description: "A fuzzer of the parsers; see Tests/Whole/Fuzz."),
        .trait(name: "SwiftLog", description: "The product LatchkeySwiftLog, for swift-log both ways."),
    ],
    dependencies: [
        // Neither fetched nor resolved without the trait.
        .package(url: "https://github.com/apple/swift-log.git", from: "1.14.0")
    ],
    targets: [
        // MARK: System libraries
        system("CLatchkeySodium", at: "Sodium", pkgConfig: "libsodium"),
        system("CLatchkeySQLite", at: "SQLite", pkgConfig: "sqlite3"),
        system("CLatchkeyResolver", at: "Resolver"),
        module("CLatchkeyLinux", at: "CLibraries/Linux"),
        module("CLatchkeyLoad", at: "CLibraries/Load"),
        module("CLatchkeyCrypto", at: "CLibraries/Crypto", uses: ["CLatchkeyLoad"]),
        module("CLatchkeyCurl", at: "CLibraries/Curl", uses: ["CLatchkeyLoad", "CLatchkeyCrypto"]),
        module("CLatchkeyMicroHTTPD", at: "CLibraries/MicroHTTPD", uses: ["CLatchkeyLoad"]),
        module("CLatchkeyGLib", at: "CLibraries/GLib", uses: ["CLatchkeyLoad"]),
        module("CLatchkeyLibpq", at: "CLibraries/Libpq", uses: ["CLatchkeyLoad", "CLatchkeyCrypto"]),

        // MARK: Foundations
        module("LatchkeySystem", at: "Base/System", uses: ["CLatchkeyLinux", "CLatchkeyLoad"]),
        module("LatchkeySecrets", at: "Base/Secrets", uses: ["LatchkeySystem", "CLatchkeySodium"]),
        module(
            "LatchkeyLog", at: "Base/Log",
            uses: ["LatchkeySystem", "LatchkeySecrets", "CLatchkeyLinux", "CLatchkeyLoad"]),
        module(
            "LatchkeyProcess", at: "Base/Process",
            uses: ["LatchkeySystem", "LatchkeySecrets", "LatchkeyLog", "CLatchkeyLinux"]),
        module(
            "LatchkeyCrypto", at: "Base/Crypto",
            uses: ["CLatchkeyCrypto", "LatchkeySystem", "LatchkeySecrets", "LatchkeyLog"]),
        module("LatchkeyJSON", at: "Base/JSON", uses: ["LatchkeySystem", "LatchkeySecrets"]),
        module(
            "LatchkeyDBus", at: "Base/DBus",
            uses: ["CLatchkeyGLib", "LatchkeySystem", "LatchkeySecrets", "LatchkeyLog"]),
        // Replaces free(3) in what it is linked into: for executables, never for a library product.
        module("CLatchkeyProgramMemory", at: "CLibraries/ProgramMemory"),

        // MARK: Stores
        module(
            "LatchkeyCredentials", at: "Stores/Credentials",
            uses: ["LatchkeySystem", "LatchkeySecrets", "LatchkeyLog"]),
        module(
            "LatchkeyVault", at: "Stores/Vault",
            uses: [
                "LatchkeySystem", "LatchkeyCredentials", "LatchkeyLog", "LatchkeySecrets", "CLatchkeySQLite",
                "CLatchkeyLibpq", "CLatchkeyLinux",
            ]),
        module(
            "LatchkeySecretService", at: "Stores/SecretService",
            uses: ["LatchkeySystem", "LatchkeyCredentials", "LatchkeyDBus", "LatchkeySecrets"]),
        module(
            "LatchkeyStoreSelection", at: "Stores/StoreSelection",
            uses: [
                "LatchkeySystem", "LatchkeyCredentials", "LatchkeyProcess", "LatchkeyVault", "LatchkeySecretService",
            ]),

        // MARK: What other programs keep
        // org.freedesktop.secrets, served from any store of items.
        module(
            "LatchkeyKeyringService", at: "Keyring/KeyringService",
            uses: [
                "LatchkeyCredentials", "LatchkeyCrypto", "LatchkeyDBus", "LatchkeyLog", "LatchkeySecrets",
                "LatchkeySystem",
            ]),

        // MARK: Sign-in
        module(
            "LatchkeyHTTP", at: "SignIn/HTTP",
            uses: ["LatchkeySystem", "LatchkeyProcess", "LatchkeySecrets", "LatchkeyLog", "CLatchkeyCurl"]),
        module(
            "LatchkeyLoopback", at: "SignIn/Loopback",
            uses: ["LatchkeySystem", "LatchkeySecrets", "LatchkeyLog", "CLatchkeyMicroHTTPD", "CLatchkeyLinux"]),
        module(
            "LatchkeyOAuth", at: "SignIn/OAuth",
            uses: [
                "LatchkeySystem", "LatchkeyCredentials", "LatchkeyHTTP", "LatchkeyJSON", "LatchkeyCrypto",
                "LatchkeySecrets",
            ]),
        module(
            "LatchkeySignIn", at: "SignIn/SignIn",
            uses: [
                "LatchkeySystem", "LatchkeyOAuth", "LatchkeyLog", "LatchkeyLoopback", "LatchkeyProcess",
                "LatchkeySecrets", "LatchkeyJSON", "CLatchkeyLinux",
            ]),
        module(
            "LatchkeyATProtocol", at: "Extras/ATProtocol",
            uses: [
                "LatchkeySystem", "CLatchkeyResolver", "LatchkeyCredentials", "LatchkeyHTTP", "LatchkeyOAuth",
                "LatchkeyLog", "LatchkeyJSON", "LatchkeySecrets", "LatchkeySignIn",
            ]),
        // The only importer of FoundationNetworking.
        module(
            "LatchkeyFoundation", at: "Extras/Foundation",
            uses: [
                "LatchkeySystem", "LatchkeyCredentials", "LatchkeyHTTP", "LatchkeyOAuth", "LatchkeyLog",
                "LatchkeySecrets",
                "LatchkeySignIn",
            ]),

        // What `import Latchkey` is.
        module(
            "Latchkey", at: "Latchkey",
            uses: [
                "LatchkeyCredentials", "LatchkeyProcess", "LatchkeyHTTP", "LatchkeyLog", "LatchkeyOAuth",
                "LatchkeySecretService", "LatchkeySecrets", "LatchkeySignIn", "LatchkeyStoreSelection", "LatchkeyVault",
            ]),

        // MARK: Products for other people's tests
        module(
            "LatchkeyTestServer", at: "Extras/TestServer",
            uses: [
                "LatchkeySystem", "LatchkeyHTTP", "LatchkeyJSON", "LatchkeyCrypto", "LatchkeyLog", "LatchkeyLoopback",
                "LatchkeyOAuth", "LatchkeySecrets", "LatchkeySignIn",
            ]),
        module(
            "LatchkeyStoreContract", at: "Extras/StoreContract",
            uses: ["LatchkeyCredentials", "LatchkeyLeakAudit", "LatchkeyLog", "LatchkeySecrets"]),
        module(
            "LatchkeyLeakAudit", at: "Extras/LeakAudit",
            uses: ["LatchkeySystem", "LatchkeySecrets", "LatchkeyLog"]),

        .executableTarget(
            name: "LatchkeyDemo", dependencies: ["Latchkey", "LatchkeyTestServer", "LatchkeyLeakAudit"],
            path: "Sources/Extras/Demo"),

        // Without the trait it has the search for credentials in others' text alone.
        module(
            "LatchkeySwiftLog", at: "Extras/SwiftLog",
            uses: [
                "LatchkeyLog", "LatchkeyLeakAudit",
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["SwiftLog"])),
            ]),

        // MARK: The command line
        module(
            "LatchkeyCommandLine", at: "Commands/CommandLine",
            uses: ["LatchkeySystem", "LatchkeySecrets", "LatchkeyLog", "LatchkeyProcess"]),
        module(
            "LatchkeyCommands", at: "Commands/Commands",
            uses: [
                "LatchkeyATProtocol", "LatchkeyCommandLine", "LatchkeyCredentials", "LatchkeyCrypto", "LatchkeyDBus",
                "LatchkeyHTTP", "LatchkeyJSON", "LatchkeyKeyringService", "LatchkeyLog",
                "LatchkeyLoopback", "LatchkeyOAuth", "LatchkeyProcess", "LatchkeySecretService", "LatchkeySecrets",
                "LatchkeySignIn", "LatchkeyStoreSelection", "LatchkeySystem", "LatchkeyVault",
                "CLatchkeyLinux", "CLatchkeyProgramMemory",
            ]),
        // Modules that differ from `Latchkey` in case only would share a file where case is ignored.
        .executableTarget(
            name: "LatchkeyMain", dependencies: ["LatchkeyCommands", "LatchkeyStoreSelection"],
            path: "Sources/Commands/Main"),

        // MARK: Tests
        .systemLibrary(name: "CTestProcess", path: "Tests/Kit/CTestProcess"),
        .target(
            name: "TestServices", dependencies: ["CTestProcess"], path: "Tests/Kit/TestServices",
            exclude: ["cheap_passphrases.c"]),
        .target(
            name: "TestSecrets", dependencies: ["LatchkeyOAuth", "LatchkeySecrets"], path: "Tests/SignIn/TestSecrets"),
        .testTarget(name: "TestServicesTests", dependencies: ["TestServices"], path: "Tests/Kit/TestServicesTests"),
        .testTarget(
            name: "SecretsTests", dependencies: ["LatchkeySecrets", "TestServices"],
            path: "Tests/Base/SecretsTests"),
        .executableTarget(
            name: "library-probe",
            dependencies: [
                "LatchkeyCredentials", "LatchkeyCrypto", "LatchkeyDBus", "LatchkeyHTTP", "LatchkeyLog",
                "LatchkeyLoopback", "LatchkeyOAuth", "LatchkeyProcess", "LatchkeySecretService", "LatchkeySecrets",
                "LatchkeySystem", "LatchkeyVault",
            ],
            path: "Tests/Base/LibraryProbe"),
        .testTarget(
            name: "LibraryTests", dependencies: ["LatchkeySystem", "TestServices", "library-probe", "LatchkeyMain"],
            path: "Tests/Base/LibraryTests"),
        .testTarget(
            name: "DBusTests", dependencies: ["LatchkeyDBus", "LatchkeySecrets"], path: "Tests/Base/DBusTests"),
        .testTarget(
            name: "LogTests", dependencies: ["LatchkeyLog", "LatchkeyLeakAudit", "LatchkeySecrets", "TestServices"],
            path: "Tests/Base/LogTests"),
        .testTarget(
            name: "CredentialsTests",
            dependencies: ["LatchkeyCredentials", "LatchkeyStoreContract", "LatchkeyLog", "LatchkeySecrets"],
            path: "Tests/Stores/CredentialsTests"),
        .target(name: "CWatchedDisk", path: "Tests/Stores/CWatchedDisk"),
        .executableTarget(
            name: "vault-writer",
            dependencies: ["LatchkeyVault", "LatchkeyCredentials", "LatchkeyLog", "LatchkeySecrets", "CWatchedDisk"],
            path: "Tests/Stores/VaultWriter"),
        .testTarget(
            name: "VaultTests",
            dependencies: [
                "LatchkeySystem", "LatchkeyVault", "LatchkeyCredentials", "LatchkeyStoreContract", "TestServices",
                "VaultChecks", "vault-writer",
            ],
            path: "Tests/Stores/VaultTests", exclude: ["Fixtures", "attack_vault.py", "read_vault.py"]),
        .testTarget(
            name: "PostgreSQLTests",
            dependencies: [
                "LatchkeyVault", "LatchkeyCredentials", "LatchkeySecrets", "LatchkeyLog", "LatchkeyStoreContract",
                "LatchkeyStoreSelection", "TestServices", "LatchkeyTestServer", "LatchkeyMain", "vault-writer",
            ],
            path: "Tests/Stores/PostgreSQLTests", exclude: ["hostile_database.py", "rekey_hosts.py"]),
        .executableTarget(
            name: "keyring-probe",
            dependencies: ["LatchkeySecretService", "LatchkeyStoreContract", "LatchkeyStoreSelection"],
            path: "Tests/Stores/KeyringProbe"),
        .testTarget(
            name: "SecretServiceTests",
            dependencies: [
                "LatchkeySecretService", "LatchkeyStoreContract", "TestServices", "keyring-probe", "LatchkeyMain",

            ], path: "Tests/Stores/SecretServiceTests"),
        // Serves items in memory on the bus of its environment.
        .executableTarget(
            name: "keyring-fixture",
            dependencies: [
                "LatchkeyKeyringService", "LatchkeyCredentials", "LatchkeyDBus", "LatchkeyLog", "LatchkeySecrets",
                "LatchkeySystem", "CLatchkeyProgramMemory",
            ],
            path: "Tests/Keyring/KeyringFixture"),
        .testTarget(
            name: "KeyringServiceTests",
            dependencies: [
                "LatchkeyKeyringService", "LatchkeyCredentials", "LatchkeyCrypto", "LatchkeyDBus", "LatchkeyLog",
                "LatchkeySecrets", "LatchkeySystem", "LatchkeyStoreContract", "TestServices", "keyring-fixture",
                "keyring-probe", "LatchkeyMain", "vault-writer",
            ],
            path: "Tests/Keyring/KeyringServiceTests",
            exclude: [
                "call.py", "clients.sh", "cookie_server.py", "differences.py", "hostile.py", "signals.py",
                "stand_in.py", "writer.py",
            ]),
        .testTarget(
            name: "ImportingTests", dependencies: ["LatchkeyCommands", "TestServices"],
            path: "Tests/Commands/ImportingTests", exclude: ["libsecret_files.py"]),
        .testTarget(
            name: "StoreSelectionTests",
            dependencies: [
                "LatchkeySystem", "LatchkeyStoreSelection", "LatchkeyProcess", "LatchkeyVault", "TestServices",
            ], path: "Tests/Stores/StoreSelectionTests"),
        .testTarget(
            name: "HTTPTransportTests", dependencies: ["LatchkeyHTTP", "LatchkeyLoopback", "TestServices"],
            path: "Tests/SignIn/HTTPTransportTests"),
        .testTarget(
            name: "LoopbackHTTPTests", dependencies: ["LatchkeyLoopback", "LatchkeyHTTP"],
            path: "Tests/SignIn/LoopbackHTTPTests"),
        .testTarget(
            name: "OAuthTests",
            dependencies: ["LatchkeyJSON", "LatchkeyOAuth", "LatchkeyCrypto", "LatchkeyTestServer", "TestServices"],
            path: "Tests/SignIn/OAuthTests", exclude: ["signature_vectors.py"]),
        // Built with libFuzzer by hand; the tests run the vault's checks on what is in Tests/Whole/Fuzz/Corpus.
        .target(name: "FuzzDriver", path: "Tests/Whole/Fuzz/Driver"),
        .target(
            name: "VaultChecks",
            dependencies: ["LatchkeyVault", "LatchkeyCredentials", "LatchkeyLog", "LatchkeySecrets"],
            path: "Tests/Whole/Fuzz/VaultChecks"),
        .executableTarget(
            name: "fuzz-parsers", dependencies: ["LatchkeyJSON", "LatchkeyOAuth", "FuzzDriver"],
            path: "Tests/Whole/Fuzz/Parsers"),
        .executableTarget(
            name: "fuzz-vault", dependencies: ["VaultChecks", "FuzzDriver"], path: "Tests/Whole/Fuzz/Vault"),
        .testTarget(
            name: "SignInTests",
            dependencies: [
                "LatchkeySignIn", "LatchkeyTestServer", "LatchkeyCredentials", "LatchkeyLeakAudit", "LatchkeyProcess",
                "TestSecrets", "TestServices",
            ], path: "Tests/SignIn/SignInTests"),
        .testTarget(
            name: "ATProtocolTests",
            dependencies: [
                "LatchkeyATProtocol", "LatchkeyTestServer", "LatchkeyCredentials", "LatchkeyLeakAudit", "TestSecrets",
                "TestServices",
            ], path: "Tests/Extras/ATProtocolTests"),
        .testTarget(
            name: "FoundationTests",
            dependencies: [
                "LatchkeyFoundation", "LatchkeyTestServer", "LatchkeyCredentials", "LatchkeyLeakAudit", "TestSecrets",
                "TestServices",
            ], path: "Tests/Extras/FoundationTests"),
        .testTarget(
            name: "AuthorizationServerTests",
            dependencies: [
                "LatchkeyTestServer", "LatchkeyCrypto", "LatchkeyHTTP", "LatchkeySecrets", "LatchkeySystem",
                "TestServices",
            ],
            path: "Tests/Extras/AuthorizationServerTests"),
        // The example for adopters; Docs/Examples/AuditedLogs is a package of its own as well.
        .target(
            name: "Orders", dependencies: ["LatchkeyLog", "LatchkeySecrets"], path: "Docs/Examples/AuditedLogs/Sources"),
        .testTarget(
            name: "OrdersTests", dependencies: ["Orders", "LatchkeyLeakAudit"], path: "Docs/Examples/AuditedLogs/Tests"),
        .testTarget(
            name: "SwiftLogTests", dependencies: ["LatchkeySwiftLog"], path: "Tests/Extras/SwiftLogTests"),
        .testTarget(
            name: "RedactionAuditTests",
            dependencies: ["LatchkeyLeakAudit", "LatchkeyLog", "LatchkeySecrets", "TestServices"],
            path: "Tests/Extras/RedactionAuditTests"),
        .testTarget(
            name: "TerminalTests",
            dependencies: ["LatchkeyCommandLine", "LatchkeyProcess", "LatchkeyLog", "TestServices", "library-probe"],
            path: "Tests/Commands/TerminalTests"),
        // A third store, in a folder and a line of its own.
        .executableTarget(
            name: "sample-store",
            dependencies: ["LatchkeyCommands", "LatchkeyStoreSelection", "LatchkeyCredentials", "LatchkeyLog"],
            path: "Tests/Stores/SampleStore"),
        // A service to sign in at, in a file and a line of its own.
        .executableTarget(
            name: "sample-provider",
            dependencies: ["LatchkeyCommands", "LatchkeyStoreSelection", "LatchkeySignIn", "LatchkeyOAuth"],
            path: "Tests/SignIn/SampleProvider"),
        .testTarget(
            name: "CommandTests",
            dependencies: [
                "sample-store", "sample-provider", "TestServices", "LatchkeyTestServer", "LatchkeyLoopback",
                "LatchkeyLeakAudit", "LatchkeySecrets", "LatchkeyMain", "LatchkeyCommands", "LatchkeyStoreSelection",
                "LatchkeyCommandLine", "vault-writer",
            ],
            path: "Tests/Commands/CommandTests",
            exclude: [
                "Transcripts", "completed_names.py", "env_file.py", "idpyoidc_server.py", "kernel_keyring.py",
                "mask_forms.py", "mcp_server.py", "mix_up.py", "private_endpoint.py", "rename_race.py",
                "strict_server.py",
            ]),
        .testTarget(
            name: "HelperTests",
            dependencies: [
                "TestServices", "LatchkeyTestServer", "LatchkeyCommands", "LatchkeyMain", "LatchkeyHTTP",
                "LatchkeyOAuth", "LatchkeySystem", "LatchkeyVault",
            ],
            path: "Tests/Commands/HelperTests", exclude: ["Fixtures"]),
        .testTarget(
            name: "IntegrationTests",
            dependencies: [
                "TestServices", "LatchkeyTestServer", "LatchkeyCredentials", "LatchkeySecretService", "LatchkeyVault",
                "LatchkeyLeakAudit", "LatchkeySecrets", "LatchkeyMain", "LatchkeyDemo",
                "keyring-probe",
            ],
            path: "Tests/Whole/Integration", exclude: ["Fixtures"]),
        .testTarget(
            name: "KeyringProgramTests",
            dependencies: [
                "TestServices", "LatchkeyMain", "LatchkeyCredentials", "LatchkeySecrets", "LatchkeyTestServer",
                "LatchkeyVault",
            ], path: "Tests/Keyring/KeyringProgramTests", exclude: ["portal.py"]),
        // The cases import these modules; nothing here does.
        .testTarget(
            name: "DoesNotCompileTests",
            dependencies: [
                "Latchkey", "LatchkeyLog", "LatchkeyATProtocol", "LatchkeyFoundation",
                "LatchkeySignIn", "LatchkeyCommands", "LatchkeyCommandLine", "LatchkeyStoreSelection",
                "LatchkeyTestServer", "LatchkeyStoreContract", "LatchkeyLeakAudit",
            ],
            path: "Tests/Whole/DoesNotCompile", exclude: ["Cases", "taken-names.txt"]),
        .target(name: "CAllocations", path: "Tests/Kit/CAllocations"),
        .executableTarget(
            name: "latchkey-benchmarks",
            dependencies: [
                "LatchkeyTestServer", "CAllocations", "LatchkeyCredentials", "LatchkeyHTTP", "LatchkeyJSON",
                "LatchkeyLoopback", "LatchkeyLog", "LatchkeyOAuth", "LatchkeyLeakAudit", "LatchkeySecrets",
                "LatchkeySignIn", "TestServices", "LatchkeyVault", "LatchkeySecretService", "CLatchkeySQLite",
                "CLatchkeyGLib", "CLatchkeyLibpq", "LatchkeyMain",
            ],
            path: "Tests/Whole/Benchmarks"),
        .testTarget(
            name: "DocumentationTests",
            dependencies: [
                "TestServices", "Latchkey", "LatchkeyVault", "LatchkeyCredentials", "LatchkeyLog", "LatchkeySecrets",
                "LatchkeySignIn", "LatchkeyCommands", "LatchkeyStoreSelection", "LatchkeyCommandLine", "LatchkeyMain",
            ], path: "Tests/Whole/DocumentationTests"),
    ],
    swiftLanguageModes: [.v6]
)

// .packaging/build links Swift's libraries into `latchkey`. The tests depend on it and inherit the option, but Testing has
// no static library.
if Context.environment["LATCHKEY_STATIC"] == "1" {
    for target in package.targets {
        if target.name == "LatchkeyMain" {
            target.linkerSettings = [.unsafeFlags(["-static-stdlib"])]
        } else if target.type == .test {
            target.linkerSettings = [.unsafeFlags(["-no-static-stdlib"])]
        }
    }
}

let isCheckout = FileManager.default.fileExists(atPath: Context.packageDirectory + "/.git")
for target in package.targets where target.type != .system {
    if target.name.hasPrefix("CLatchkey") {
        target.cSettings = [.define("_FORTIFY_SOURCE", to: "2", .when(configuration: .release))]
    }
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .strictMemorySafety(),
    ]
    // Optimized tests take longer to compile than they save. What they test is optimized.
    if target.type == .test { target.swiftSettings?.append(.unsafeFlags(["-Onone"], .when(configuration: .release))) }
    // A distribution that builds the archive of a release may have a newer compiler, with other warnings.
    if isCheckout { target.swiftSettings?.append(.treatAllWarnings(as: .error)) }
}

// For working on one part: LATCHKEY_ONLY=VaultTests leaves out every target that it doesn't need.
if let only = Context.environment["LATCHKEY_ONLY"] {
    var needed = Set(only.split(separator: ",").map(String.init))
    var grown = true
    while grown {
        let before = needed.count
        for target in package.targets where needed.contains(target.name) {
            for dependency in target.dependencies {
                switch dependency {
                case .targetItem(let name, _), .byNameItem(let name, _): needed.insert(name)
                default: break
                }
            }
        }
        grown = needed.count > before
    }
    package.targets.removeAll { !needed.contains($0.name) }
    if !needed.contains("LatchkeySwiftLog") { package.dependencies = [] }
    package.products.removeAll { !(($0 as? Product.Executable)?.targets.allSatisfy(needed.contains) ?? false) }
}
