// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "report",
    dependencies: [
        // In a package of your own: .package(url: …, from: …, traits: ["SwiftLog"])
        .package(name: "latchkey", path: "../../..", traits: ["SwiftLog"]),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.14.0"),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.3.0"),
    ],
    targets: [
        .target(
            name: "ReportKit",
            dependencies: [
                .product(name: "Latchkey", package: "latchkey"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]),
        .executableTarget(
            name: "report",
            dependencies: [
                "ReportKit", .product(name: "Latchkey", package: "latchkey"),
                .product(name: "LatchkeySwiftLog", package: "latchkey"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        .testTarget(
            name: "ReportTests",
            dependencies: [
                "ReportKit", .product(name: "Latchkey", package: "latchkey"),
                .product(name: "LatchkeyTestServer", package: "latchkey"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            path: "Tests"),
    ]
)
