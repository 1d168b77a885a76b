// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that neither `swift build` nor an embedding app pays for it.
let package = Package(
    name: "StitchSyncBenchmarks",
    platforms: [.macOS(.v15)],
    traits: [
        .trait(name: "MongoRemote", description: "RemoteBenchmarks, which needs libmongoc."),
        .trait(
            name: "Remote",
            description: "DeviceBenchmarks, FileBenchmarks and WireBenchmarks, over `ServerRemote`."
        ),
    ],
    dependencies: [
        // Without traits, so that what is built here is what an app embeds.
        .package(
            name: "StitchSync", path: "..",
            traits: [
                .trait(name: "MongoRemote", condition: .when(traits: ["MongoRemote"])),
                .trait(name: "Remote", condition: .when(traits: ["Remote"])),
            ])
    ],
    targets: [
        .systemLibrary(
            name: "BenchmarkCBSON", pkgConfig: "libbson-1.0",
            providers: [.apt(["libbson-dev"]), .brew(["mongo-c-driver"])]),
        .target(
            name: "BenchmarkBaseline", dependencies: ["BenchmarkCBSON"],
            cSettings: [.unsafeFlags(["-O2"])], linkerSettings: [.linkedLibrary("sqlite3")]),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "BenchmarkBaseline", .product(name: "BSONStore", package: "StitchSync"),
                .product(name: "StitchRules", package: "StitchSync"),
                .product(name: "StitchSync", package: "StitchSync"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
        .systemLibrary(
            name: "BenchmarkCMongoC", pkgConfig: "libmongoc-1.0",
            providers: [.apt(["libmongoc-dev"]), .brew(["mongo-c-driver"])]),
        .target(
            name: "BenchmarkDriver", dependencies: ["BenchmarkCMongoC"],
            linkerSettings: [.linkedLibrary("mongoc-1.0"), .linkedLibrary("bson-1.0")]),
        .executableTarget(
            name: "ServerBenchmarks",
            dependencies: [
                "BenchmarkDriver", .product(name: "BSONStore", package: "StitchSync"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
        .target(
            name: "BenchmarkRemotes",
            dependencies: [
                .product(name: "BSONStore", package: "StitchSync"),
                .product(name: "StitchSync", package: "StitchSync"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
        .executableTarget(
            name: "SyncBenchmarks",
            dependencies: [
                "BenchmarkRemotes",
                .product(name: "BSONStore", package: "StitchSync"),
                .product(name: "StitchSync", package: "StitchSync"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
        .executableTarget(
            name: "RemoteBenchmarks",
            dependencies: [
                "BenchmarkRemotes",
                .product(name: "BSONStore", package: "StitchSync"),
                .product(name: "StitchSync", package: "StitchSync"),
                .product(name: "StitchMongo", package: "StitchSync"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
        .target(
            name: "BenchmarkUsage",
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
        .executableTarget(
            name: "DeviceBenchmarks",
            dependencies: [
                "BenchmarkUsage",
                .product(name: "BSONStore", package: "StitchSync"),
                .product(name: "StitchSync", package: "StitchSync"),
                .product(name: "StitchRemote", package: "StitchSync"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
        .executableTarget(
            name: "FileBenchmarks",
            dependencies: [
                .product(name: "BSONStore", package: "StitchSync"),
                .product(name: "StitchSync", package: "StitchSync"),
                .product(name: "StitchRemote", package: "StitchSync"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
        .executableTarget(
            name: "WireBenchmarks",
            dependencies: [
                "BenchmarkUsage",
                .product(name: "BSONStore", package: "StitchSync"),
                .product(name: "StitchSync", package: "StitchSync"),
                .product(name: "StitchRemote", package: "StitchSync"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
    ]
)
