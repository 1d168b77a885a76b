// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Expenses",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "StitchSync", path: "../..", traits: ["Remote"])
    ],
    targets: [
        .executableTarget(
            name: "Expenses",
            dependencies: [
                .product(name: "BSONStore", package: "StitchSync"),
                .product(name: "StitchSync", package: "StitchSync"),
                .product(name: "StitchRemote", package: "StitchSync"),
            ],
            // The sources' `#if Remote`: a dependency's traits define nothing here.
            swiftSettings: [.define("Remote")])
    ]
)
