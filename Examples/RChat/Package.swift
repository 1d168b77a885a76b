// swift-tools-version: 6.2
import PackageDescription

// An app of its own that embeds the library by path. The repository's package builds the same sources
// once more as `RChatExample`, for the test that runs them.
let package = Package(
    name: "RChat",
    platforms: [.macOS(.v15)],
    dependencies: [
        // The trait brings `stitchsync serve`, which `run` starts, and `ServerRemote`.
        .package(name: "StitchSync", path: "../..", traits: ["Tool"])
    ],
    targets: [
        .executableTarget(
            name: "RChat",
            dependencies: [
                .product(name: "BSONStore", package: "StitchSync"),
                .product(name: "StitchSync", package: "StitchSync"),
                .product(name: "StitchRemote", package: "StitchSync"),
            ],
            // The sources' `#if Remote`: a dependency's traits define nothing here.
            swiftSettings: [.define("Remote"), .treatAllWarnings(as: .error)])
    ]
)
