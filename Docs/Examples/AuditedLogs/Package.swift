// swift-tools-version: 6.2
import PackageDescription

// A program that logs with Latchkey and proves in its own tests that no token gets out: `swift test` in this folder.
let package = Package(
    name: "audited-logs",
    dependencies: [
        // In a package of your own: .package(url: …, from: …)
        .package(name: "latchkey", path: "../../..")
    ],
    targets: [
        .target(
            name: "Orders", dependencies: [.product(name: "LatchkeyLog", package: "latchkey")], path: "Sources"),
        .testTarget(
            name: "OrdersTests",
            dependencies: ["Orders", .product(name: "LatchkeyLeakAudit", package: "latchkey")], path: "Tests"),
    ]
)
