// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "profile",
    dependencies: [
        // In a package of your own: .package(url: …, from: …)
        .package(name: "latchkey", path: "../../..")
    ],
    targets: [
        .target(name: "ProfileKit", dependencies: [.product(name: "Latchkey", package: "latchkey")]),
        .executableTarget(
            name: "profile", dependencies: ["ProfileKit", .product(name: "Latchkey", package: "latchkey")]),
        .testTarget(
            name: "ProfileTests",
            dependencies: [
                "ProfileKit", .product(name: "Latchkey", package: "latchkey"),
                .product(name: "LatchkeyTestServer", package: "latchkey"),
            ],
            path: "Tests"),
    ]
)
