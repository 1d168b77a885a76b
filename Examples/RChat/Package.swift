// swift-tools-version: 6.2
import PackageDescription

// An app of its own that embeds the library by path. The repository's package builds the same sources
// once more as `RChatExample`, for the test that runs them.
let package = Package(
    name: "RChat",
    platforms: [.macOS(.v15)],
    dependencies: [
        // The traits: `stitchsync serve`, which `run` starts, and sync with it through libmongoc.
        .package(
            name: "StitchSync", path: "../..", traits: ["Tool", "MongoRemote"])
    ],
    targets: [
        .executableTarget(
            name: "RChat",
            dependencies: [
                .product(name: "BSONStore", package: "StitchSync"),
                .product(name: "StitchSync", package: "StitchSync"),
                .product(name: "StitchMongo", package: "StitchSync"),
            ],
            swiftSettings: [.define("MongoRemote"), .treatAllWarnings(as: .error)])
    ]
)
