// swift-tools-version: 6.2
import PackageDescription

// Latchkey behind other packages' interfaces. StandIns has what the adapters use of those packages, written down from
// their documentation; Docs/HowTo/adapters.md says from which version. With the packages themselves, leave StandIns out.
let package = Package(
    name: "adapters",
    dependencies: [
        // In a package of your own: .package(url: …, from: …)
        .package(name: "latchkey", path: "../../..")
    ],
    targets: [
        .target(name: "NIOCore", path: "StandIns/NIOCore"),
        .target(name: "NIOHTTP1", path: "StandIns/NIOHTTP1"),
        .target(name: "AsyncHTTPClient", dependencies: ["NIOCore", "NIOHTTP1"], path: "StandIns/AsyncHTTPClient"),
        .target(name: "OAuthenticator", path: "StandIns/OAuthenticator"),
        .target(name: "OAuthKit", path: "StandIns/OAuthKit"),
        .target(name: "Configuration", path: "StandIns/Configuration"),
        .target(
            name: "Adapters",
            dependencies: [
                "AsyncHTTPClient", "NIOCore", "NIOHTTP1", "OAuthenticator", "OAuthKit", "Configuration",
                .product(name: "Latchkey", package: "latchkey"),
            ],
            path: "Sources"),
        .testTarget(
            name: "AdapterTests",
            dependencies: [
                "Adapters", "AsyncHTTPClient", "NIOCore", "NIOHTTP1", "OAuthenticator", "OAuthKit", "Configuration",
                .product(name: "Latchkey", package: "latchkey"),
                .product(name: "LatchkeyTestServer", package: "latchkey"),
            ],
            path: "Tests"),
    ]
)
