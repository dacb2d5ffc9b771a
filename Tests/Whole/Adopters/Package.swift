// swift-tools-version: 6.2
import PackageDescription

// A stranger's package: it uses Latchkey beside swift-log and swift-http-types, and its own targets have the names that
// ours once had. `Tests/adopters` builds and tests it.
let package = Package(
    name: "adopter",
    dependencies: [
        .package(name: "latchkey", path: "../../..", traits: ["SwiftLog"]),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.14.0"),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.3.0"),
    ],
    targets: [
        .target(name: "Vault"), .target(name: "OAuth"), .target(name: "Terminal"), .target(name: "Credentials"),
        .target(
            name: "Adopter",
            dependencies: [
                "Vault", "OAuth", "Terminal", "Credentials", .product(name: "Latchkey", package: "latchkey"),
                .product(name: "LatchkeySwiftLog", package: "latchkey"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]),
        .testTarget(
            name: "AdopterTests",
            dependencies: [
                "Adopter", .product(name: "Latchkey", package: "latchkey"),
                .product(name: "LatchkeyTestServer", package: "latchkey"),
                .product(name: "LatchkeyStoreContract", package: "latchkey"),
                .product(name: "LatchkeyLeakAudit", package: "latchkey"),
            ]),
        .testTarget(
            name: "SwiftLogTests",
            dependencies: [
                .product(name: "LatchkeyLog", package: "latchkey"),
                .product(name: "LatchkeySwiftLog", package: "latchkey"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "InMemoryLogging", package: "swift-log"),
            ]),
        .executableTarget(
            name: "swift-log-benchmark",
            dependencies: [
                .product(name: "LatchkeyLog", package: "latchkey"),
                .product(name: "LatchkeySwiftLog", package: "latchkey"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Benchmark"),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .treatAllWarnings(as: .error),
    ]
}
