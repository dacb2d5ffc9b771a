// swift-tools-version: 6.2
import PackageDescription

// A module's name must be unique in every graph that a product of ours is part of, so each begins with Latchkey, and a
// C library's with CLatchkey; see Docs/Decisions/0001-structure.md. Its folder has the short name.
func module(_ name: String, at folder: String, uses dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, path: "Sources/\(folder)")
}

// One C library has one Swift owner.
func system(_ name: String, at folder: String, pkgConfig: String? = nil, apt: String? = nil) -> Target {
    .systemLibrary(
        name: name, path: "Sources/SystemLibraries/\(folder)", pkgConfig: pkgConfig,
        providers: apt.map { [.apt([$0])] })
}

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
        .executable(name: "latchkey", targets: ["LatchkeyCommand"]),
        .executable(name: "latchkey-auth", targets: ["LatchkeyAuthCommand"]),
        .executable(name: "latchkey-keyring", targets: ["LatchkeyKeyringCommand"]),
    ],
    traits: [
        .trait(name: "Fuzzing", description: "A fuzzer of the parsers; see Tests/Fuzz."),
        .trait(name: "SwiftLog", description: "The product LatchkeySwiftLog, for swift-log both ways."),
    ],
    dependencies: [
        // Neither fetched nor resolved without the trait.
        .package(url: "https://github.com/apple/swift-log.git", from: "1.14.0")
    ],
    targets: [
        // MARK: System libraries
        system("CLatchkeyLinux", at: "CLinux"),
        system("CLatchkeySodium", at: "CSodium", pkgConfig: "libsodium", apt: "libsodium-dev"),
        system("CLatchkeySQLite", at: "CSQLite", pkgConfig: "sqlite3", apt: "libsqlite3-dev"),
        system("CLatchkeyCurl", at: "CCurl", pkgConfig: "libcurl", apt: "libcurl4-openssl-dev"),
        system("CLatchkeyMicroHTTPD", at: "CMicroHTTPD", pkgConfig: "libmicrohttpd", apt: "libmicrohttpd-dev"),
        system("CLatchkeyCrypto", at: "CCrypto", pkgConfig: "libcrypto", apt: "libssl-dev"),
        system("CLatchkeyResolver", at: "CResolver"),
        system("CLatchkeyGIO", at: "CGIO", pkgConfig: "gobject-2.0", apt: "libglib2.0-dev"),

        // MARK: Foundations
        module("LatchkeySystem", at: "System"),
        module("LatchkeySodium", at: "Sodium", uses: ["CLatchkeySodium"]),
        module("LatchkeySecrets", at: "Secrets", uses: ["LatchkeySystem", "LatchkeySodium"]),
        module("LatchkeyLog", at: "RedactedLog", uses: ["LatchkeySecrets", "LatchkeySodium", "CLatchkeyLinux"]),
        module("LatchkeyHardening", at: "ProcessHardening", uses: ["LatchkeySystem", "LatchkeyLog", "CLatchkeyLinux"]),
        module("LatchkeyEnvironment", at: "Surroundings", uses: ["LatchkeyLog"]),
        module("LatchkeyJSON", at: "JSON", uses: ["LatchkeySystem", "LatchkeySecrets"]),
        // Replaces free(3) in what it is linked into: for executables, never for a library product.
        module("CLatchkeyProgramMemory", at: "CProgramMemory"),

        // MARK: Stores
        // Loads libsecret and GLib when they are first needed; see Docs/Decisions/0029-libsecret-on-demand.md.
        module("CLatchkeyLibsecret", at: "CLibsecret"),
        // Loads libpq in the same way.
        module("CLatchkeyLibpq", at: "CLibpq"),
        module(
            "LatchkeyCredentials", at: "Credentials",
            uses: ["LatchkeySystem", "LatchkeySecrets", "LatchkeyLog", "LatchkeySodium"]),
        // What the Secret Service has: attributes, labels, collections.
        module("LatchkeyItems", at: "Items", uses: ["LatchkeyCredentials", "LatchkeySecrets"]),
        module(
            "LatchkeyInMemory", at: "Stores/InMemory",
            uses: ["LatchkeySystem", "LatchkeyCredentials", "LatchkeyLog", "LatchkeySecrets", "LatchkeySodium"]),
        module(
            "LatchkeyVault", at: "Stores/Vault",
            uses: [
                "LatchkeySystem",
                "LatchkeyCredentials", "LatchkeyItems", "LatchkeyLog", "LatchkeySecrets", "LatchkeySodium",
                "CLatchkeySQLite", "CLatchkeyLibpq", "CLatchkeyLinux",
            ]),
        module(
            "LatchkeySecretService", at: "Stores/SecretService",
            uses: ["LatchkeySystem", "LatchkeyCredentials", "LatchkeySodium", "CLatchkeyLibsecret"]),
        module(
            "LatchkeyStoreSelection", at: "StoreSelection",
            uses: [
                "LatchkeySystem", "LatchkeyCredentials", "LatchkeyEnvironment", "LatchkeyInMemory", "LatchkeyVault",
                "LatchkeySecretService",
            ]),

        // MARK: What other programs keep
        module("LatchkeyLibCrypto", at: "LibCrypto", uses: ["CLatchkeyCrypto", "LatchkeySecrets"]),
        // The only importer of GIO: org.freedesktop.secrets, served from any store of items.
        module(
            "LatchkeyKeyringService", at: "KeyringService",
            uses: [
                "CLatchkeyGIO", "LatchkeyCredentials", "LatchkeyItems", "LatchkeyLibCrypto", "LatchkeyLog",
                "LatchkeySecrets", "LatchkeySodium", "LatchkeySystem",
            ]),
        module(
            "LatchkeyImporting", at: "Importing",
            uses: [
                "LatchkeySystem", "LatchkeyCredentials", "LatchkeyInMemory", "LatchkeyJSON", "LatchkeyLibCrypto",
                "LatchkeyLog", "LatchkeySecrets",
            ]),

        // MARK: Sign-in
        module(
            "LatchkeyHTTP", at: "HTTPTransport",
            uses: ["LatchkeySystem", "LatchkeyEnvironment", "LatchkeySecrets", "LatchkeyLog", "CLatchkeyCurl"]),
        module(
            "LatchkeyLoopback", at: "LoopbackHTTP",
            uses: ["LatchkeySystem", "LatchkeySecrets", "LatchkeyLog", "CLatchkeyMicroHTTPD", "CLatchkeyLinux"]),
        module(
            "LatchkeyOAuth", at: "OAuth",
            uses: [
                "LatchkeySystem", "LatchkeyCredentials", "LatchkeyHTTP", "LatchkeyJSON", "LatchkeyLibCrypto",
                "LatchkeySodium",
            ]),
        module(
            "LatchkeySignIn", at: "SignIn",
            uses: [
                "LatchkeySystem",
                "LatchkeyOAuth", "LatchkeyLog", "LatchkeyLoopback", "LatchkeyHardening", "LatchkeySodium",
                "LatchkeyEnvironment", "LatchkeyJSON", "CLatchkeyLinux",
            ]),
        module(
            "LatchkeyATProtocol", at: "ATProtocol",
            uses: [
                "LatchkeySystem",
                "CLatchkeyResolver", "LatchkeyCredentials", "LatchkeyHTTP", "LatchkeyOAuth", "LatchkeyLog",
                "LatchkeyJSON", "LatchkeySecrets", "LatchkeySignIn",
            ]),
        module(
            "LatchkeyAuthenticator", at: "Authenticating",
            uses: [
                "LatchkeySystem", "LatchkeyCredentials", "LatchkeyHTTP", "LatchkeyInMemory", "LatchkeyOAuth",
                "LatchkeyLog",
                "LatchkeySecrets", "LatchkeySignIn",
            ]),
        // The only importer of FoundationNetworking.
        module(
            "LatchkeyFoundation", at: "FoundationBridge",
            uses: [
                "LatchkeySystem", "LatchkeyAuthenticator", "LatchkeyCredentials", "LatchkeyHTTP", "LatchkeyOAuth",
                "LatchkeyLog",
                "LatchkeySecrets", "LatchkeySignIn",
            ]),

        // What `import Latchkey` is.
        module(
            "Latchkey", at: "Latchkey",
            uses: [
                "LatchkeyCredentials", "LatchkeyEnvironment", "LatchkeyHTTP", "LatchkeyHardening", "LatchkeyInMemory",
                "LatchkeyLog", "LatchkeyOAuth", "LatchkeySecretService", "LatchkeySecrets", "LatchkeySignIn",
                "LatchkeyStoreSelection", "LatchkeyVault",
            ]),

        // MARK: Products for other people's tests
        module(
            "LatchkeyTestServer", at: "AuthorizationServer",
            uses: [
                "LatchkeySystem", "LatchkeyHTTP", "LatchkeyJSON", "LatchkeyLibCrypto", "LatchkeyLoopback",
                "LatchkeyOAuth", "LatchkeySecrets", "LatchkeySignIn", "LatchkeySodium",
            ]),
        module(
            "LatchkeyStoreContract", at: "StoreContract",
            uses: ["LatchkeyCredentials", "LatchkeyLog", "LatchkeySecrets"]),
        module(
            "LatchkeyLeakAudit", at: "RedactionAudit",
            uses: ["LatchkeySystem", "LatchkeySecrets", "LatchkeyLog", "LatchkeySodium"]),

        // Empty without the trait.
        module(
            "LatchkeySwiftLog", at: "SwiftLog",
            uses: [
                "LatchkeyLog", "LatchkeyLeakAudit",
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["SwiftLog"])),
            ]),

        // MARK: The command line
        module(
            "LatchkeyTerminal", at: "Terminal",
            uses: ["LatchkeySystem", "LatchkeySecrets", "LatchkeyLog", "LatchkeyHardening", "LatchkeyEnvironment"]),
        module(
            "LatchkeyStoreCommands", at: "StoreCommands",
            uses: [
                "LatchkeySystem", "LatchkeyTerminal", "LatchkeyStoreSelection", "LatchkeyLog", "LatchkeyHardening",
                "LatchkeyItems", "LatchkeySecretService", "LatchkeyEnvironment", "LatchkeyVault",
                "CLatchkeyProgramMemory",
            ]),
        module(
            "LatchkeySignInCommands", at: "SignInCommands",
            uses: [
                "LatchkeySystem",
                "LatchkeyTerminal", "LatchkeyStoreCommands", "LatchkeyStoreSelection", "LatchkeyATProtocol",
                "LatchkeySignIn", "LatchkeyOAuth", "LatchkeyHTTP", "LatchkeyTestServer", "LatchkeyLoopback",
                "LatchkeyLeakAudit", "LatchkeyInMemory", "LatchkeyVault", "LatchkeyImporting", "LatchkeySecretService",
                "LatchkeyEnvironment", "LatchkeyItems", "LatchkeyJSON",
            ]),
        module(
            "LatchkeyHelperCommands", at: "HelperCommands",
            uses: [
                "LatchkeySystem", "LatchkeyTerminal", "LatchkeyStoreCommands", "LatchkeyStoreSelection",
                "LatchkeyCredentials", "LatchkeyEnvironment", "LatchkeyHardening", "LatchkeyInMemory", "LatchkeyJSON",
                "LatchkeyLog", "LatchkeySecretService", "LatchkeySecrets",
            ]),
        // Modules that differ from `Latchkey` in case only would share a file where case is ignored.
        .executableTarget(
            name: "LatchkeyCommand",
            dependencies: ["LatchkeyHelperCommands", "LatchkeyStoreCommands", "LatchkeyStoreSelection"],
            path: "Sources/latchkey"),
        .executableTarget(
            name: "LatchkeyAuthCommand",
            dependencies: ["LatchkeySignInCommands", "LatchkeyStoreCommands", "LatchkeyStoreSelection"],
            path: "Sources/latchkey-auth"),

        module(
            "LatchkeyKeyringProgram", at: "KeyringProgram",
            uses: [
                "LatchkeySystem", "LatchkeyCredentials", "LatchkeyEnvironment", "LatchkeyHardening", "LatchkeyItems",
                "LatchkeyKeyringService",
                "LatchkeyLog", "LatchkeySecrets", "LatchkeyStoreCommands", "LatchkeyStoreSelection",
                "LatchkeyTerminal", "LatchkeyVault", "CLatchkeyLinux",
            ]),
        .executableTarget(
            name: "LatchkeyKeyringCommand",
            dependencies: ["LatchkeyKeyringProgram", "LatchkeyStoreCommands", "LatchkeyStoreSelection"],
            path: "Sources/latchkey-keyring"),

        // MARK: Tests
        .systemLibrary(name: "CTestProcess", path: "Tests/CTestProcess"),
        .target(
            name: "TestServices", dependencies: ["CTestProcess"], path: "Tests/TestServices"),
        .target(name: "TestSecrets", dependencies: ["LatchkeyOAuth", "LatchkeySecrets"], path: "Tests/TestSecrets"),
        .testTarget(name: "TestServicesTests", dependencies: ["TestServices"]),
        .testTarget(name: "SodiumTests", dependencies: ["LatchkeySodium"]),
        .testTarget(name: "SecretsTests", dependencies: ["LatchkeySecrets", "LatchkeySodium", "TestServices"]),
        .testTarget(name: "RedactedLogTests", dependencies: ["LatchkeyLog", "LatchkeySecrets", "TestServices"]),
        .testTarget(
            name: "LogScrubbingTests", dependencies: ["LatchkeyLog", "LatchkeyLeakAudit", "LatchkeySecrets"]),
        .testTarget(name: "CredentialsTests", dependencies: ["LatchkeyCredentials", "LatchkeyLog", "LatchkeySecrets"]),
        .testTarget(
            name: "InMemoryTests",
            dependencies: ["LatchkeyInMemory", "LatchkeyStoreContract", "LatchkeySecrets", "LatchkeyLog"]),
        .target(name: "CWatchedDisk", path: "Tests/CWatchedDisk"),
        .executableTarget(
            name: "vault-writer",
            dependencies: [
                "LatchkeyVault", "LatchkeyCredentials", "LatchkeyItems", "LatchkeyLog", "LatchkeySecrets",
                "CWatchedDisk",
            ],
            path: "Tests/VaultWriter"),
        .testTarget(
            name: "VaultTests",
            dependencies: [
                "LatchkeySystem", "LatchkeyVault", "LatchkeyItems", "LatchkeyStoreContract", "TestServices",
                "VaultChecks",
                "ItemStoreChecks", "vault-writer",
            ],
            exclude: ["Fixtures", "attack_vault.py", "read_vault.py"]),
        .testTarget(
            name: "PostgreSQLTests",
            dependencies: [
                "LatchkeyVault", "LatchkeyCredentials", "LatchkeyItems", "LatchkeySecrets", "LatchkeyLog",
                "LatchkeyStoreContract", "TestServices", "ItemStoreChecks", "LatchkeyTestServer", "LatchkeyCommand",
                "LatchkeyAuthCommand",
                "vault-writer",
            ],
            exclude: ["hostile_database.py"]),
        .executableTarget(
            name: "keyring-probe", dependencies: ["LatchkeySecretService", "LatchkeyStoreContract"],
            path: "Tests/KeyringProbe"),
        .testTarget(
            name: "SecretServiceTests",
            dependencies: [
                "LatchkeySecretService", "LatchkeyStoreContract", "TestServices", "keyring-probe", "LatchkeyCommand",
            ]),
        // Serves items in memory on the bus of its environment.
        .executableTarget(
            name: "keyring-fixture",
            dependencies: [
                "LatchkeyKeyringService", "LatchkeyCredentials", "LatchkeyItems", "LatchkeyLog", "LatchkeySecrets",
                "LatchkeySystem", "CLatchkeyProgramMemory",
            ],
            path: "Tests/KeyringFixture"),
        .testTarget(
            name: "KeyringServiceTests",
            dependencies: [
                "LatchkeyKeyringService", "LatchkeyCredentials", "LatchkeyItems", "LatchkeyLibCrypto", "LatchkeyLog",
                "LatchkeySecrets", "LatchkeyStoreContract", "TestServices", "keyring-fixture", "keyring-probe",
                "LatchkeyCommand", "LatchkeyKeyringCommand", "vault-writer", "ItemStoreChecks",
            ],
            exclude: [
                "call.py", "clients.sh", "cookie_server.py", "differences.py", "hostile.py", "signals.py",
                "stand_in.py", "writer.py",
            ]),
        .testTarget(name: "ImportingTests", dependencies: ["LatchkeyImporting", "TestServices"]),
        .testTarget(
            name: "StoreSelectionTests",
            dependencies: [
                "LatchkeySystem", "LatchkeyStoreSelection", "LatchkeyEnvironment", "LatchkeyVault", "TestServices",
            ]),
        .testTarget(
            name: "HTTPTransportTests", dependencies: ["LatchkeyHTTP", "LatchkeyLoopback", "TestServices"]),
        .testTarget(name: "LoopbackHTTPTests", dependencies: ["LatchkeyLoopback", "LatchkeyHTTP"]),
        .testTarget(
            name: "OAuthTests",
            dependencies: ["LatchkeyJSON", "LatchkeyOAuth", "LatchkeyLibCrypto", "LatchkeyTestServer", "TestServices"]),
        // Built with libFuzzer by hand; the tests run the vault's checks on what is in Tests/Fuzz/Corpus.
        .target(name: "FuzzDriver", path: "Tests/Fuzz/Driver"),
        .target(
            name: "VaultChecks",
            dependencies: ["LatchkeyVault", "LatchkeyCredentials", "LatchkeyItems", "LatchkeyLog", "LatchkeySecrets"],
            path: "Tests/Fuzz/VaultChecks"),
        // What every store of items keeps, whichever it is.
        .target(
            name: "ItemStoreChecks", dependencies: ["LatchkeyItems", "LatchkeyCredentials", "LatchkeySecrets"],
            path: "Tests/ItemStoreChecks"),
        .executableTarget(
            name: "fuzz-parsers", dependencies: ["LatchkeyJSON", "LatchkeyOAuth", "FuzzDriver"],
            path: "Tests/Fuzz/Parsers"),
        .executableTarget(
            name: "fuzz-vault", dependencies: ["VaultChecks", "FuzzDriver"], path: "Tests/Fuzz/Vault"),
        .testTarget(
            name: "SignInTests",
            dependencies: [
                "LatchkeySignIn", "LatchkeyTestServer", "LatchkeyInMemory", "LatchkeyLeakAudit", "LatchkeyEnvironment",
                "TestSecrets", "TestServices",
            ]),
        .testTarget(
            name: "ATProtocolTests",
            dependencies: [
                "LatchkeyATProtocol", "LatchkeyTestServer", "LatchkeyInMemory", "LatchkeyLeakAudit", "TestSecrets",
                "TestServices",
            ]),
        .testTarget(
            name: "AuthenticatingTests",
            dependencies: [
                "LatchkeyAuthenticator", "LatchkeyTestServer", "LatchkeyInMemory", "LatchkeyLeakAudit", "TestSecrets",
                "TestServices",
            ]),
        .testTarget(
            name: "FoundationBridgeTests",
            dependencies: [
                "LatchkeyFoundation", "LatchkeyTestServer", "LatchkeyInMemory", "LatchkeyLeakAudit", "TestSecrets",
                "TestServices",
            ]),
        .testTarget(
            name: "AuthorizationServerTests", dependencies: ["LatchkeyTestServer", "LatchkeyHTTP", "TestServices"]),
        // The example for adopters; Docs/Examples/AuditedLogs is a package of its own as well.
        .target(
            name: "Orders", dependencies: ["LatchkeyLog", "LatchkeySecrets"], path: "Docs/Examples/AuditedLogs/Sources"),
        .testTarget(
            name: "OrdersTests", dependencies: ["Orders", "LatchkeyLeakAudit"], path: "Docs/Examples/AuditedLogs/Tests"),
        .testTarget(
            name: "RedactionAuditTests", dependencies: ["LatchkeyLeakAudit", "LatchkeyLog", "LatchkeySecrets"]),
        .testTarget(
            name: "TerminalTests",
            dependencies: [
                "LatchkeyTerminal", "LatchkeyEnvironment", "LatchkeyLog", "LatchkeyHardening", "TestServices",
            ]),
        // A third store, in a folder and a line of its own.
        .executableTarget(
            name: "sample-store",
            dependencies: ["LatchkeyStoreCommands", "LatchkeyStoreSelection", "LatchkeyCredentials", "LatchkeyLog"],
            path: "Tests/SampleStore"),
        // A service to sign in at, in a file and a line of its own.
        .executableTarget(
            name: "sample-provider",
            dependencies: [
                "LatchkeySignInCommands", "LatchkeyStoreCommands", "LatchkeyStoreSelection", "LatchkeySignIn",
                "LatchkeyOAuth",
            ],
            path: "Tests/SampleProvider"),
        .testTarget(
            name: "CommandTests",
            dependencies: [
                "sample-store", "sample-provider",
                "TestServices", "LatchkeyTestServer", "LatchkeyLoopback", "LatchkeyLeakAudit", "LatchkeySecrets",
                "LatchkeyCommand", "LatchkeyAuthCommand", "LatchkeyStoreCommands", "LatchkeyStoreSelection",
                "LatchkeyTerminal", "vault-writer",
            ],
            exclude: ["Transcripts", "completed_names.py", "kernel_keyring.py", "mix_up.py", "private_endpoint.py"]),
        .testTarget(
            name: "HelperTests",
            dependencies: [
                "TestServices", "LatchkeyTestServer", "LatchkeyHelperCommands", "LatchkeyCommand",
                "LatchkeyAuthCommand",
            ],
            exclude: ["Fixtures"]),
        .testTarget(
            name: "IntegrationTests",
            dependencies: [
                "TestServices", "LatchkeyTestServer", "LatchkeyCredentials", "LatchkeySecretService", "LatchkeyVault",
                "LatchkeyItems", "LatchkeyLeakAudit", "LatchkeySecrets", "LatchkeyCommand", "LatchkeyAuthCommand",
                "ItemStoreChecks", "keyring-probe",
            ],
            path: "Tests/Integration", exclude: ["Fixtures"]),
        .testTarget(
            name: "KeyringProgramTests",
            dependencies: [
                "TestServices", "LatchkeyCommand", "LatchkeyAuthCommand", "LatchkeyKeyringCommand",
                "LatchkeyCredentials", "LatchkeySecrets", "LatchkeyVault",
            ], exclude: ["portal.py"]),
        // The cases import these modules; nothing here does.
        .testTarget(
            name: "DoesNotCompileTests",
            dependencies: [
                "Latchkey", "LatchkeyLog", "LatchkeyATProtocol", "LatchkeyAuthenticator", "LatchkeyFoundation",
                "LatchkeySignIn", "LatchkeyStoreCommands", "LatchkeyTerminal", "LatchkeyStoreSelection",
                "LatchkeyTestServer", "LatchkeyStoreContract", "LatchkeyLeakAudit",
            ],
            path: "Tests/DoesNotCompile", exclude: ["Cases", "taken-names.txt"]),
        .target(name: "CAllocations", path: "Tests/CAllocations"),
        .executableTarget(
            name: "latchkey-benchmarks",
            dependencies: [
                "LatchkeyTestServer", "CAllocations", "LatchkeyCredentials", "LatchkeyHTTP", "LatchkeyJSON",
                "LatchkeyLoopback",
                "LatchkeyLog", "LatchkeyOAuth", "LatchkeyLeakAudit", "LatchkeySecrets", "LatchkeySignIn",
                "TestServices", "LatchkeyVault", "LatchkeyInMemory", "LatchkeySecretService", "LatchkeySodium",
                "CLatchkeySQLite", "CLatchkeyLibsecret", "CLatchkeyLibpq", "LatchkeyCommand", "LatchkeyKeyringCommand",
            ],
            path: "Tests/Benchmarks"),
        .testTarget(
            name: "DocumentationTests",
            dependencies: [
                "TestServices", "Latchkey", "LatchkeyVault", "LatchkeyCredentials", "LatchkeyLog", "LatchkeySecrets",
                "LatchkeySignIn", "LatchkeyStoreCommands", "LatchkeyStoreSelection", "LatchkeyTerminal",
                "LatchkeyCommand", "LatchkeyAuthCommand",
            ]),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where target.type != .system {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .strictMemorySafety(),
        .treatAllWarnings(as: .error),
    ]
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
