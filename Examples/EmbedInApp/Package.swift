// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "EmbedInApp",
    platforms: [.macOS(.v15)],
    dependencies: [
        // Without traits: no command-line tool, no server, and no package is fetched.
        .package(name: "StitchSync", path: "../..")
    ],
    targets: [
        .executableTarget(
            name: "EmbedInApp",
            dependencies: [
                .product(name: "BSONStore", package: "StitchSync"),
                .product(name: "StitchSync", package: "StitchSync"),
            ])
    ]
)
