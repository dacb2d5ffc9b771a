// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "sky",
    dependencies: [
        // In a package of your own: .package(url: …, from: …)
        .package(name: "latchkey", path: "../../..")
    ],
    targets: [
        .target(
            name: "Sky",
            dependencies: [
                .product(name: "Latchkey", package: "latchkey"),
                .product(name: "LatchkeyATProtocol", package: "latchkey"),
            ],
            path: "Sources"),
        .testTarget(
            name: "SkyTests",
            dependencies: [
                "Sky", .product(name: "Latchkey", package: "latchkey"),
                .product(name: "LatchkeyATProtocol", package: "latchkey"),
                .product(name: "LatchkeyTestServer", package: "latchkey"),
            ],
            path: "Tests"),
    ]
)
