// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Todo",
    platforms: [.macOS(.v15)],
    dependencies: [
        // The trait brings `ServerRemote`, which talks to `stitchsync serve` and to MongoDB.
        .package(name: "StitchSync", path: "../..", traits: ["Remote"])
    ],
    targets: [
        .executableTarget(
            name: "Todo",
            dependencies: [
                .product(name: "BSONStore", package: "StitchSync"),
                .product(name: "StitchSync", package: "StitchSync"),
                .product(name: "StitchRemote", package: "StitchSync"),
            ],
            // The sources' `#if Remote`: a dependency's traits define nothing here.
            swiftSettings: [.define("Remote")])
    ]
)
