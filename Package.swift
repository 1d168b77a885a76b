// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "StitchSync",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11)],
    products: [
        .library(name: "BSONStore", targets: ["BSONStore"]),
        .library(name: "StitchSync", targets: ["StitchSync"]),
        .executable(name: "stitchsync", targets: ["StitchSyncCommand"]),
    ],
    traits: [
        .default(enabledTraits: ["CommandLine"]),
        .trait(
            name: "CommandLine",
            description: "The `stitchsync` tool; apps that embed the library leave it out."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2")
    ],
    targets: [
        .systemLibrary(
            name: "BSONStoreCBSON", path: "Sources/BSONStoreCBSON", pkgConfig: "libbson-1.0",
            providers: [.apt(["libbson-dev"]), .brew(["mongo-c-driver"])]),
        .systemLibrary(
            name: "BSONStoreCSQLite", path: "Sources/BSONStoreCSQLite", pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
        .target(
            name: "BSONStore", dependencies: ["BSONStoreCBSON", "BSONStoreCSQLite"],
            swiftSettings: strict),
        .target(name: "StitchSync", dependencies: ["BSONStore"], swiftSettings: strict),
        .executableTarget(
            name: "StitchSyncCommand",
            dependencies: [
                "BSONStore", "StitchSync",
                .product(
                    name: "ArgumentParser", package: "swift-argument-parser",
                    condition: .when(traits: ["CommandLine"])),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "BSONStoreTests", dependencies: ["BSONStore", "BSONStoreCSQLite"],
            swiftSettings: strict),
        .testTarget(
            name: "StitchSyncTests", dependencies: ["StitchSync", "BSONStore"],
            swiftSettings: strict),
        .testTarget(
            name: "StitchSyncCommandTests",
            dependencies: ["StitchSyncCommand", "BSONStore", "StitchSync"],
            swiftSettings: strict),
        .testTarget(name: "TidyTests", swiftSettings: strict),
    ]
)
