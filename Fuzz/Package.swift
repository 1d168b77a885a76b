// swift-tools-version: 6.2
import PackageDescription

// A package of its own: its executables have no main and link only with `--sanitize=fuzzer`.
let strict: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]

let package = Package(
    name: "StitchSyncFuzz",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "StitchSync", path: "..", traits: ["Server"])],
    targets: [
        .systemLibrary(
            name: "FuzzCBSON", pkgConfig: "libbson-1.0",
            providers: [.apt(["libbson-dev"]), .brew(["mongo-c-driver"])]),
        .target(name: "FuzzOracle", dependencies: ["FuzzCBSON"]),
        .executableTarget(
            name: "bson",
            dependencies: ["FuzzOracle", .product(name: "BSONStore", package: "StitchSync")],
            swiftSettings: strict),
        .executableTarget(
            name: "commands",
            dependencies: [
                .product(name: "BSONStore", package: "StitchSync"),
                .product(name: "StitchServer", package: "StitchSync"),
            ], swiftSettings: strict),
        .executableTarget(
            name: "extjson", dependencies: [.product(name: "BSONStore", package: "StitchSync")],
            swiftSettings: strict),
        .executableTarget(
            name: "filter", dependencies: [.product(name: "BSONStore", package: "StitchSync")],
            swiftSettings: strict),
        .executableTarget(
            name: "pipeline", dependencies: [.product(name: "BSONStore", package: "StitchSync")],
            swiftSettings: strict),
        .executableTarget(
            name: "update", dependencies: [.product(name: "BSONStore", package: "StitchSync")],
            swiftSettings: strict),
        .executableTarget(
            name: "wire",
            dependencies: [
                .product(name: "BSONStore", package: "StitchSync"),
                .product(name: "StitchServer", package: "StitchSync"),
            ], swiftSettings: strict),
    ]
)
