// swift-tools-version: 6.2
import CompilerPluginSupport
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

/// Settings of the modules below the store: what the store calls for each document is inlined and
/// specialised there, as within one module.
let inlined =
    strict + [.unsafeFlags(["-cross-module-optimization"], .when(configuration: .release))]

/// A product of a package that only the server needs.
func served(_ name: String, _ package: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: ["Server"]))
}

/// A product of a package that only the remote in Swift needs.
func remote(
    _ name: String, _ package: String, platforms: [Platform]? = nil
) -> Target.Dependency {
    .product(
        name: name, package: package,
        condition: platforms.map { .when(platforms: $0, traits: ["Remote"]) }
            ?? .when(traits: ["Remote"]))
}

/// A product of swift-syntax, which only the macros need.
func syntax(_ name: String) -> Target.Dependency {
    .product(name: name, package: "swift-syntax", condition: .when(traits: ["Macros"]))
}

let applePlatforms: [Platform] = [.macOS, .iOS, .tvOS, .watchOS, .visionOS]

/// The platforms where connections are not Network.framework's.
let otherPlatforms: [Platform] = [.linux, .android, .windows]

#if os(macOS)
    /// The privacy manifest of a target that apps embed: the system's interfaces that it uses.
    ///
    /// On other systems it would only bring a bundle, and Foundation with it.
    let privacyManifest: [Resource] = [.copy("PrivacyInfo.xcprivacy")]
    let unusedManifest: [String] = []
#else
    let privacyManifest: [Resource] = []
    let unusedManifest = ["PrivacyInfo.xcprivacy"]
#endif

let package = Package(
    name: "StitchSync",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "BSONStore", targets: ["BSONStore"]),
        .library(name: "StitchSync", targets: ["StitchSync"]),
        .library(name: "StitchRules", targets: ["StitchRules"]),
        .library(name: "StitchSyncTesting", targets: ["StitchSyncTesting"]),
        .library(name: "StitchRemote", targets: ["StitchRemote"]),
        .library(name: "StitchServer", targets: ["StitchServer"]),
        .library(name: "StitchMongo", targets: ["StitchMongo"]),
        .executable(name: "stitchsync", targets: ["StitchSyncCommand"]),
    ],
    traits: [
        // None: an app names what it needs, and without traits it fetches no package.
        .default(enabledTraits: []),
        .trait(
            name: "Tool", description: "The `stitchsync` tool with its server.",
            enabledTraits: ["CommandLine", "Server", "Remote"]),
        .trait(
            name: "Scripts",
            description: "The JavaScript of `$where`, `$function`, `$accumulator` and `mapReduce`."),
        .trait(
            name: "CommandLine",
            description: "The `stitchsync` tool; apps that embed the library leave it out.",
            enabledTraits: ["Scripts"]),
        .trait(
            name: "Server",
            description:
                "`stitchsync serve` and what it needs, SwiftNIO above all; apps leave it out, too.",
            enabledTraits: ["Scripts"]),
        .trait(
            name: "Remote",
            description:
                "`ServerRemote`: sync with `stitchsync serve` or MongoDB, without libmongoc."),
        .trait(
            name: "MongoRemote",
            description: "Sync with MongoDB through libmongoc, which must be installed."),
        .trait(
            name: "Macros",
            description: "The macro `@Document`; only apps that use it compile swift-syntax."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-nio-transport-services", from: "1.28.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        // A range, since apps bring other macros with one version of swift-syntax.
        .package(url: "https://github.com/swiftlang/swift-syntax", "600.0.1"..<"604.0.0"),
    ],
    targets: [
        .systemLibrary(
            name: "BSONStoreCSQLite", path: "Sources/BSONStoreCSQLite",
            providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "BSONCoreC"),
        .target(
            name: "BSONCore", dependencies: ["BSONCoreC"],
            path: "Sources/BSONStore/Core", swiftSettings: inlined),
        // Without the trait the plugin is an empty program, which needs no package.
        .macro(
            name: "BSONMacros",
            dependencies: [
                syntax("SwiftCompilerPlugin"), syntax("SwiftDiagnostics"), syntax("SwiftParser"),
                syntax("SwiftSyntax"), syntax("SwiftSyntaxBuilder"), syntax("SwiftSyntaxMacros"),
            ],
            swiftSettings: strict),
        .target(
            name: "BSONQuery",
            dependencies: [
                "BSONCore", .target(name: "BSONMacros", condition: .when(traits: ["Macros"])),
            ],
            path: "Sources/BSONStore/Query", swiftSettings: inlined),
        .target(
            name: "BSONScript", dependencies: ["BSONCore", "BSONQuery"],
            path: "Sources/BSONStore/Script", swiftSettings: strict),
        .target(
            name: "BSONStore",
            dependencies: [
                "BSONCore", "BSONQuery", "BSONStoreCSQLite",
                .target(name: "BSONScript", condition: .when(traits: ["Scripts"])),
            ],
            path: "Sources/BSONStore", exclude: ["Core", "Query", "Script"] + unusedManifest,
            resources: privacyManifest, swiftSettings: strict),
        .target(name: "StitchRules", dependencies: ["BSONStore"], swiftSettings: strict),
        .target(
            name: "StitchSync", dependencies: ["BSONStore", "StitchRules"],
            exclude: unusedManifest, resources: privacyManifest, swiftSettings: strict),
        .target(
            name: "StitchSyncTesting", dependencies: ["BSONStore", "StitchSync"],
            swiftSettings: strict),
        // What sync asks of a server by MongoDB's commands, over whatever carries them.
        .target(
            name: "StitchCommands", dependencies: ["BSONStore", "StitchSync"],
            swiftSettings: strict),
        .target(
            name: "StitchRemote",
            dependencies: [
                "BSONStore", "StitchSync", "StitchCommands", "StitchWire",
                remote("NIOCore", "swift-nio"), remote("NIOPosix", "swift-nio"),
                remote("NIOSSL", "swift-nio-ssl", platforms: otherPlatforms),
                remote(
                    "NIOTransportServices", "swift-nio-transport-services",
                    platforms: applePlatforms),
            ],
            swiftSettings: strict),
        .systemLibrary(
            name: "StitchMongoC", path: "Sources/StitchMongoC", pkgConfig: "libmongoc-1.0",
            providers: [.apt(["libmongoc-dev"]), .brew(["mongo-c-driver"])]),
        .target(
            name: "StitchMongo",
            dependencies: [
                "BSONStore", "StitchSync", "StitchCommands",
                .target(name: "StitchMongoC", condition: .when(traits: ["MongoRemote"])),
            ],
            swiftSettings: strict),
        .systemLibrary(
            name: "StitchCryptoC", path: "Sources/StitchCryptoC", pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
        .systemLibrary(
            name: "StitchZlibC", path: "Sources/StitchZlibC", pkgConfig: "zlib",
            providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
        // macOS has it; so has Debian, with headers in libedit-dev.
        .systemLibrary(
            name: "StitchEditC", path: "Sources/StitchEditC", providers: [.apt(["libedit-dev"])]),
        // The pages of the server's console.
        .target(name: "StitchConsoleC", exclude: ["Pages"]),
        // The part of the tool's shell that is written in JavaScript.
        .target(name: "StitchShellC", exclude: ["Scripts"]),
        .target(
            name: "StitchWire",
            dependencies: [
                "BSONStore", .target(name: "StitchZlibC", condition: .when(traits: ["Server"])),
            ],
            swiftSettings: strict),
        .target(
            name: "StitchServer",
            dependencies: [
                "BSONStore", "StitchRules", "StitchWire", "StitchConsoleC",
                served("NIOCore", "swift-nio"),
                served("NIOPosix", "swift-nio"), served("NIOHTTP1", "swift-nio"),
                served("NIOSSL", "swift-nio-ssl"),
                .target(name: "StitchCryptoC", condition: .when(traits: ["Server"])),
            ],
            swiftSettings: strict),
        // The commit that `stitchsync --version` names; Scripts/package gives it.
        .target(
            name: "StitchVersionC",
            cSettings: Context.environment["STITCHSYNC_COMMIT"].map {
                [.define("STITCHSYNC_COMMIT", to: $0)]
            } ?? []),
        .executableTarget(
            name: "StitchSyncCommand",
            dependencies: [
                "BSONStore", "StitchSync", "StitchSyncTesting", "StitchCommands", "StitchMongo",
                "StitchRemote", "StitchVersionC",
                .target(name: "BSONScript", condition: .when(traits: ["CommandLine"])),
                .target(name: "StitchEditC", condition: .when(traits: ["CommandLine"])),
                .target(name: "StitchShellC", condition: .when(traits: ["CommandLine"])),
                .target(name: "StitchServer", condition: .when(traits: ["Server"])),
                served("Logging", "swift-log"),
                .product(
                    name: "ArgumentParser", package: "swift-argument-parser",
                    condition: .when(traits: ["CommandLine"])),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "BSONStoreTests",
            dependencies: [
                "BSONCore", "BSONQuery", "BSONScript", "BSONStore", "BSONStoreCSQLite",
                "LibBSON", "TestProcesses",
            ],
            swiftSettings: strict),
        // MongoDB's own library, with which tests compare our BSON; nothing that apps build uses it.
        .systemLibrary(
            name: "LibBSONC", path: "Tests/LibBSONC", pkgConfig: "libbson-1.0",
            providers: [.apt(["libbson-dev"]), .brew(["mongo-c-driver"])]),
        .target(
            name: "LibBSON", dependencies: ["BSONCore", "LibBSONC"], path: "Tests/LibBSON",
            swiftSettings: strict),
        .target(
            name: "SyncSimulation", dependencies: ["StitchSync", "StitchRules", "BSONStore"],
            path: "Tests/SyncSimulation", swiftSettings: strict),
        .executableTarget(
            name: "SyncSimulator", dependencies: ["SyncSimulation", "StitchSync"],
            path: "Tests/SyncSimulator", swiftSettings: strict),
        .executableTarget(
            name: "Attacker",
            dependencies: [
                "SyncSimulation", "StitchSync", "BSONStore", "StitchWire", "TestProcesses",
            ],
            path: "Tests/Attacker", swiftSettings: strict),
        .executableTarget(
            name: "Sweep",
            dependencies: [
                "BSONStore", "StitchRules", "StitchSync", "StitchRemote", "TestProcesses",
            ],
            path: "Tests/Sweep", swiftSettings: strict),
        // The example's sources once more, so that a test runs them without building their package.
        .executableTarget(
            name: "RChatExample",
            dependencies: ["StitchSync", "StitchMongo", "StitchRemote", "BSONStore"],
            path: "Examples/RChat/Sources/RChat", swiftSettings: strict),
        .target(
            name: "TestProcesses", dependencies: ["BSONStore", "StitchWire"],
            path: "Tests/TestProcesses",
            swiftSettings: strict),
        .testTarget(
            name: "StitchRemoteTests",
            dependencies: [
                "StitchRemote", "StitchCommands", "StitchSync", "StitchWire", "BSONStore",
                "StitchSyncCommand", "TestProcesses", remote("NIOSSL", "swift-nio-ssl"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "StitchCommandsTests",
            dependencies: ["StitchCommands", "StitchSync", "BSONStore"],
            swiftSettings: strict),
        .testTarget(
            name: "StitchMongoTests",
            dependencies: [
                "StitchMongo", "StitchCommands", "StitchSync", "BSONStore", "StitchSyncCommand",
                "TestProcesses",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "StitchSyncTests",
            dependencies: [
                "StitchSync", "StitchRules", "BSONStore", "SyncSimulation", "StitchMongo",
                "StitchRemote", "StitchCommands",
                "StitchSyncTesting", "TestProcesses", "StitchSyncCommand", "Attacker",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "StitchSyncCommandTests",
            dependencies: [
                "StitchSyncCommand", "BSONStore", "StitchSync", "StitchSyncTesting",
                "TestProcesses",
                "StitchMongo", "StitchRules", "Todo", "Notes", "Expenses", "RChatExample",
                .product(
                    name: "ArgumentParser", package: "swift-argument-parser",
                    condition: .when(traits: ["CommandLine"])),
            ],
            swiftSettings: strict),
        // The examples are packages of their own; here they are built with what is built already.
        .executableTarget(
            name: "Todo",
            dependencies: ["BSONStore", "StitchSync", "StitchMongo", "StitchRemote"],
            path: "Examples/Todo/Sources/Todo"),
        .executableTarget(
            name: "Expenses", dependencies: ["BSONStore", "StitchSync", "StitchRemote"],
            path: "Examples/Expenses/Sources/Expenses"),
        .executableTarget(
            name: "Notes", dependencies: ["BSONStore", "StitchSync"],
            path: "Examples/Notes/Sources/Notes"),
        .testTarget(
            name: "NotesTests", dependencies: ["Notes", "StitchSyncTesting"],
            path: "Examples/Notes/Tests/NotesTests", exclude: ["Conflicts"]),
        .testTarget(
            name: "StitchRulesTests",
            dependencies: ["StitchRules", "BSONStore", "TestProcesses"],
            swiftSettings: strict),
        .testTarget(
            name: "StitchServerTests",
            dependencies: [
                "BSONStore", "StitchWire", "StitchServer", "StitchSyncCommand", "TestProcesses",
                "SyncSimulation", "StitchSync", "StitchRemote", served("NIOCore", "swift-nio"),
                served("NIOPosix", "swift-nio"), served("NIOHTTP1", "swift-nio"),
                served("NIOSSL", "swift-nio-ssl"),
            ],
            exclude: ["C", "Python"],
            swiftSettings: strict),
        .testTarget(
            name: "StitchSyncTestingTests",
            dependencies: ["StitchSyncTesting", "StitchSync", "BSONStore"],
            swiftSettings: strict),
        .testTarget(
            name: "TypedDocumentTests",
            dependencies: ["BSONStore", "StitchSync", "SyncSimulation"],
            swiftSettings: strict),
        .testTarget(name: "TidyTests", swiftSettings: strict),
    ]
)

// Scripts/simulate-wrong simulates a copy of the engine in which rules can be left out.
if let patchedEngine = Context.environment["PATCHED_ENGINE"] {
    package.targets.append(
        .target(
            name: "PatchedSync", dependencies: ["BSONStore", "StitchRules"], path: patchedEngine,
            swiftSettings: strict))
    let aliased = strict + [.unsafeFlags(["-module-alias", "StitchSync=PatchedSync"])]
    for target in package.targets {
        switch target.name {
        case "SyncSimulation": target.dependencies = ["PatchedSync", "BSONStore"]
        case "SyncSimulator": target.dependencies = ["SyncSimulation", "PatchedSync"]
        default: continue
        }
        target.swiftSettings = aliased
    }
}
