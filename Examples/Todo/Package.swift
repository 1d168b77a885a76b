// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Todo",
    platforms: [.macOS(.v15)],
    dependencies: [
        // The trait brings libmongoc, which talks to MongoDB and to `stitchsync serve`.
        .package(name: "StitchSync", path: "../..", traits: ["MongoRemote"])
    ],
    targets: [
        .executableTarget(
            name: "Todo",
            dependencies: [
                .product(name: "BSONStore", package: "StitchSync"),
                .product(name: "StitchSync", package: "StitchSync"),
                .product(name: "StitchMongo", package: "StitchSync"),
            ],
            swiftSettings: [.define("MongoRemote")])
    ]
)
