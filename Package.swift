// swift-tools-version: 6.2
import PackageDescription

// One C library has one Swift owner; see Docs/Decisions/0001-structure.md.
func system(_ name: String, pkgConfig: String? = nil, apt: String? = nil) -> Target {
    .systemLibrary(
        name: name, path: "Sources/SystemLibraries/\(name)", pkgConfig: pkgConfig,
        providers: apt.map { [.apt([$0])] })
}

let desktop: TargetDependencyCondition? = .when(traits: ["Desktop"])

let package = Package(
    name: "latchkey",
    products: [
        .library(
            name: "Latchkey",
            targets: [
                "Secrets", "RedactedLog", "LogScrubbing", "ProcessHardening", "Credentials", "InMemory", "Vault",
                "SecretService", "StoreSelection", "HTTPTransport", "OAuth", "SignIn", "Authenticating", "Surroundings",
                "ATProtocol",
            ]),
        .library(name: "FoundationBridge", targets: ["FoundationBridge"]),
        .library(name: "RedactedLog", targets: ["Secrets", "RedactedLog", "LogScrubbing"]),
        .library(name: "AuthorizationServer", targets: ["AuthorizationServer"]),
        .library(name: "StoreContract", targets: ["StoreContract"]),
        .library(name: "RedactionAudit", targets: ["RedactionAudit"]),
        .executable(name: "latchkey", targets: ["latchkey"]),
        .executable(name: "latchkey-auth", targets: ["latchkey-auth"]),
    ],
    traits: [
        .default(enabledTraits: ["Desktop"]),
        .trait(name: "Desktop", description: "The Secret Service store, through libsecret and GLib."),
        .trait(name: "Fuzzing", description: "A fuzzer of the parsers; see Tests/Fuzz."),
    ],
    targets: [
        // MARK: System libraries
        system("CLinux"),
        system("CSodium", pkgConfig: "libsodium", apt: "libsodium-dev"),
        system("CSQLite", pkgConfig: "sqlite3", apt: "libsqlite3-dev"),
        system("CLibsecret", pkgConfig: "libsecret-1", apt: "libsecret-1-dev"),
        system("CCurl", pkgConfig: "libcurl", apt: "libcurl4-openssl-dev"),
        system("CMicroHTTPD", pkgConfig: "libmicrohttpd", apt: "libmicrohttpd-dev"),
        system("CCrypto", pkgConfig: "libcrypto", apt: "libssl-dev"),
        system("CResolver"),

        // MARK: Foundations
        .target(name: "Sodium", dependencies: ["CSodium"]),
        .target(name: "Secrets", dependencies: ["Sodium"]),
        .target(name: "RedactedLog", dependencies: ["Secrets", "CLinux"]),
        .target(name: "LogScrubbing", dependencies: ["Secrets", "RedactedLog", "Sodium"]),
        .target(name: "ProcessHardening", dependencies: ["CLinux", "RedactedLog"]),
        .target(name: "Surroundings", dependencies: ["RedactedLog"]),
        // Replaces free(3) in what it is linked into: for executables, never for a library product.
        .target(name: "CProgramMemory"),

        // MARK: Stores
        .target(name: "Credentials", dependencies: ["Secrets", "RedactedLog", "Sodium"]),
        .target(
            name: "InMemory", dependencies: ["Credentials", "RedactedLog", "Secrets", "Sodium"],
            path: "Sources/Stores/InMemory"),
        .target(
            name: "Vault", dependencies: ["Credentials", "RedactedLog", "Secrets", "Sodium", "CSQLite", "CLinux"],
            path: "Sources/Stores/Vault"),
        .target(
            name: "SecretService",
            dependencies: ["Credentials", "Sodium", .target(name: "CLibsecret", condition: desktop)],
            path: "Sources/Stores/SecretService"),
        .target(name: "StoreSelection", dependencies: ["Credentials", "InMemory", "Vault", "SecretService"]),

        // MARK: What other programs keep
        .target(name: "LibCrypto", dependencies: ["CCrypto", "Secrets"]),
        .target(name: "Importing", dependencies: ["Credentials", "InMemory", "LibCrypto", "RedactedLog", "Secrets"]),

        // MARK: Sign-in
        .target(name: "HTTPTransport", dependencies: ["Secrets", "RedactedLog", "CCurl"]),
        .target(name: "LoopbackHTTP", dependencies: ["Secrets", "RedactedLog", "CMicroHTTPD", "CLinux"]),
        .target(name: "OAuth", dependencies: ["Credentials", "HTTPTransport", "LibCrypto", "Sodium"]),
        .target(
            name: "SignIn",
            dependencies: [
                "OAuth", "LogScrubbing", "LoopbackHTTP", "ProcessHardening", "Sodium", "Surroundings", "CLinux",
            ]),
        .target(
            name: "ATProtocol",
            dependencies: ["CResolver", "Credentials", "HTTPTransport", "OAuth", "RedactedLog", "Secrets", "SignIn"]),
        .target(
            name: "Authenticating",
            dependencies: ["Credentials", "HTTPTransport", "InMemory", "OAuth", "RedactedLog", "Secrets", "SignIn"]),
        // The only importer of FoundationNetworking.
        .target(
            name: "FoundationBridge",
            dependencies: [
                "Authenticating", "Credentials", "HTTPTransport", "OAuth", "RedactedLog", "Secrets", "SignIn",
            ]),

        // MARK: Products for other people's tests
        .target(
            name: "AuthorizationServer",
            dependencies: ["LibCrypto", "LoopbackHTTP", "OAuth", "Secrets", "Sodium"]),
        .target(name: "StoreContract", dependencies: ["Credentials", "RedactedLog", "Secrets"]),
        .target(name: "RedactionAudit", dependencies: ["Secrets", "RedactedLog", "Sodium"]),

        // MARK: The command line
        .target(name: "Terminal", dependencies: ["Secrets", "RedactedLog", "LogScrubbing", "ProcessHardening"]),
        .target(
            name: "StoreCommands",
            dependencies: [
                "Terminal", "StoreSelection", "LogScrubbing", "ProcessHardening", "SecretService", "Surroundings",
                "Vault", "CProgramMemory",
            ]),
        .target(
            name: "SignInCommands",
            dependencies: [
                "Terminal", "StoreCommands", "StoreSelection", "ATProtocol", "SignIn", "OAuth", "HTTPTransport",
                "AuthorizationServer", "LoopbackHTTP", "RedactionAudit", "InMemory", "Vault", "Importing",
                "SecretService", "Surroundings",
            ]),
        .executableTarget(name: "latchkey", dependencies: ["StoreCommands", "StoreSelection"]),
        .executableTarget(
            name: "latchkey-auth", dependencies: ["SignInCommands", "StoreCommands", "StoreSelection"]),

        // MARK: Tests
        .systemLibrary(name: "CTestProcess", path: "Tests/CTestProcess"),
        .target(
            name: "TestServices", dependencies: ["CTestProcess"], path: "Tests/TestServices"),
        .target(name: "TestSecrets", dependencies: ["OAuth", "Secrets"], path: "Tests/TestSecrets"),
        .testTarget(name: "TestServicesTests", dependencies: ["TestServices"]),
        .testTarget(name: "SodiumTests", dependencies: ["Sodium"]),
        .testTarget(name: "SecretsTests", dependencies: ["Secrets", "Sodium", "TestServices"]),
        .testTarget(name: "RedactedLogTests", dependencies: ["RedactedLog", "Secrets", "TestServices"]),
        .testTarget(
            name: "LogScrubbingTests", dependencies: ["LogScrubbing", "RedactedLog", "RedactionAudit", "Secrets"]),
        .testTarget(name: "CredentialsTests", dependencies: ["Credentials", "RedactedLog", "Secrets"]),
        .testTarget(name: "InMemoryTests", dependencies: ["InMemory", "StoreContract", "Secrets", "RedactedLog"]),
        .target(name: "CWatchedDisk", path: "Tests/CWatchedDisk"),
        .executableTarget(
            name: "vault-writer", dependencies: ["Vault", "Credentials", "RedactedLog", "Secrets", "CWatchedDisk"],
            path: "Tests/VaultWriter"),
        .testTarget(
            name: "VaultTests",
            dependencies: ["Vault", "StoreContract", "TestServices", "VaultChecks", "vault-writer"],
            exclude: ["Fixtures", "attack_vault.py", "read_vault.py"]),
        .executableTarget(
            name: "keyring-probe", dependencies: ["SecretService", "StoreContract"], path: "Tests/KeyringProbe"),
        .testTarget(
            name: "SecretServiceTests",
            dependencies: ["SecretService", "StoreContract", "TestServices", "keyring-probe", "latchkey"]),
        .testTarget(name: "ImportingTests", dependencies: ["Importing", "TestServices"]),
        .testTarget(name: "StoreSelectionTests", dependencies: ["StoreSelection", "TestServices"]),
        .testTarget(
            name: "HTTPTransportTests", dependencies: ["HTTPTransport", "LoopbackHTTP", "TestServices"]),
        .testTarget(name: "LoopbackHTTPTests", dependencies: ["LoopbackHTTP", "HTTPTransport"]),
        .testTarget(name: "OAuthTests", dependencies: ["OAuth", "LibCrypto", "AuthorizationServer", "TestServices"]),
        // Built with libFuzzer by hand; the tests run the vault's checks on what is in Tests/Fuzz/Corpus.
        .target(name: "FuzzDriver", path: "Tests/Fuzz/Driver"),
        .target(
            name: "VaultChecks", dependencies: ["Vault", "Credentials", "Secrets"], path: "Tests/Fuzz/VaultChecks"),
        .executableTarget(name: "fuzz-parsers", dependencies: ["OAuth", "FuzzDriver"], path: "Tests/Fuzz/Parsers"),
        .executableTarget(
            name: "fuzz-vault", dependencies: ["VaultChecks", "FuzzDriver"], path: "Tests/Fuzz/Vault"),
        .testTarget(
            name: "SignInTests",
            dependencies: [
                "SignIn", "AuthorizationServer", "InMemory", "RedactionAudit", "Surroundings", "TestSecrets",
                "TestServices",
            ]),
        .testTarget(
            name: "ATProtocolTests",
            dependencies: [
                "ATProtocol", "AuthorizationServer", "InMemory", "RedactionAudit", "TestSecrets", "TestServices",
            ]),
        .testTarget(
            name: "AuthenticatingTests",
            dependencies: [
                "Authenticating", "AuthorizationServer", "InMemory", "RedactionAudit", "TestSecrets", "TestServices",
            ]),
        .testTarget(
            name: "FoundationBridgeTests",
            dependencies: [
                "FoundationBridge", "AuthorizationServer", "InMemory", "RedactionAudit", "TestSecrets", "TestServices",
            ]),
        .testTarget(
            name: "AuthorizationServerTests", dependencies: ["AuthorizationServer", "HTTPTransport", "TestServices"]),
        // The example for adopters; Docs/Examples/AuditedLogs is a package of its own as well.
        .target(name: "Orders", dependencies: ["RedactedLog", "Secrets"], path: "Docs/Examples/AuditedLogs/Sources"),
        .testTarget(
            name: "OrdersTests", dependencies: ["Orders", "RedactionAudit"], path: "Docs/Examples/AuditedLogs/Tests"),
        .testTarget(name: "RedactionAuditTests", dependencies: ["RedactionAudit", "RedactedLog", "Secrets"]),
        .testTarget(
            name: "TerminalTests", dependencies: ["Terminal", "LogScrubbing", "ProcessHardening", "TestServices"]),
        .testTarget(
            name: "CommandTests",
            dependencies: [
                "TestServices", "AuthorizationServer", "LoopbackHTTP", "RedactionAudit", "Secrets", "latchkey",
                "latchkey-auth", "vault-writer",
            ],
            exclude: ["Transcripts", "kernel_keyring.py", "mix_up.py", "private_endpoint.py"]),
        .testTarget(
            name: "IntegrationTests",
            dependencies: [
                "TestServices", "AuthorizationServer", "Credentials", "SecretService", "Vault", "RedactionAudit",
                "Secrets", "latchkey", "latchkey-auth", "keyring-probe",
            ],
            path: "Tests/Integration", exclude: ["Fixtures"]),
        // The cases import these modules; nothing here does.
        .testTarget(
            name: "DoesNotCompileTests",
            dependencies: [
                "LogScrubbing", "ATProtocol", "Authenticating", "FoundationBridge", "SignIn", "Terminal",
                "StoreSelection", "AuthorizationServer",
                "StoreContract",
                "RedactionAudit",
            ],
            path: "Tests/DoesNotCompile", exclude: ["Cases"]),
        .target(name: "CAllocations", path: "Tests/CAllocations"),
        .executableTarget(
            name: "latchkey-benchmarks",
            dependencies: [
                "AuthorizationServer", "CAllocations", "Credentials", "HTTPTransport", "LoopbackHTTP", "LogScrubbing",
                "OAuth", "RedactedLog", "RedactionAudit", "Secrets", "SignIn", "TestServices", "Vault", "InMemory",
                "SecretService", "Sodium", "CSQLite",
                .target(name: "CLibsecret", condition: desktop), "latchkey",
            ],
            path: "Tests/Benchmarks"),
        .testTarget(
            name: "DocumentationTests",
            dependencies: [
                "TestServices", "Vault", "Credentials", "RedactedLog", "Secrets", "latchkey", "latchkey-auth",
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
    package.products = []
}
