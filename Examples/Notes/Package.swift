// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Notes",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "StitchSync", path: "../..")],
    targets: [
        .executableTarget(
            name: "Notes",
            dependencies: [
                .product(name: "BSONStore", package: "StitchSync"),
                .product(name: "StitchSync", package: "StitchSync"),
            ]),
        .testTarget(
            name: "NotesTests",
            dependencies: [
                "Notes", .product(name: "StitchSyncTesting", package: "StitchSync"),
            ],
            exclude: ["Conflicts"]),
    ]
)
