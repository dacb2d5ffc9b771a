// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "own-store",
    dependencies: [
        // In a package of your own: .package(url: …, from: …)
        .package(name: "latchkey", path: "../../..")
    ],
    targets: [
        .target(
            name: "OwnStore", dependencies: [.product(name: "Latchkey", package: "latchkey")], path: "Sources"),
        .testTarget(
            name: "OwnStoreTests",
            dependencies: [
                "OwnStore", .product(name: "Latchkey", package: "latchkey"),
                .product(name: "LatchkeyStoreContract", package: "latchkey"),
            ],
            path: "Tests"),
    ]
)
