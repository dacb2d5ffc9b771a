// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "inbox",
    dependencies: [
        // In a package of your own: .package(url: …, from: …)
        .package(name: "latchkey", path: "../../..")
    ],
    targets: [
        .target(
            name: "Inbox", dependencies: [.product(name: "Latchkey", package: "latchkey")], path: "Sources"),
        .testTarget(
            name: "InboxTests",
            dependencies: [
                "Inbox", .product(name: "Latchkey", package: "latchkey"),
                .product(name: "LatchkeyTestServer", package: "latchkey"),
                .product(name: "LatchkeyLeakAudit", package: "latchkey"),
            ],
            path: "Tests"),
    ]
)
