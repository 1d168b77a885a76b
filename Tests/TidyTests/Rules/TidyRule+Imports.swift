extension TidyRule {
    /// Who may import what.
    static let imports: [TidyRule] = [
        imports(
            of: "libbson", matching: { $0 == "LibBSONC" }, only: ["Tests/LibBSON/"],
            sample: "LibBSONC"),
        imports(
            of: "SQLite", matching: { $0 == "BSONStoreCSQLite" },
            only: [
                "Sources/BSONStore/Store/SQLite/",
                "Tests/BSONStoreTests/Store/Files/FailingFileSystem.swift",
                "Tests/BSONStoreTests/Store/Files/FailingMemory.swift",
            ], sample: "BSONStoreCSQLite"),
        imports(
            of: "SwiftNIO", matching: { $0.hasPrefix("NIO") || $0.hasPrefix("_NIO") },
            only: [
                "Sources/StitchServer/", "Tests/StitchServerTests/", "Sources/StitchRemote/Wire/",
            ], sample: "NIOCore"),
        imports(
            of: "libmongoc", matching: { $0 == "StitchMongoC" },
            only: ["Sources/StitchMongo/"], sample: "StitchMongoC"),
        imports(
            of: "zlib", matching: { $0 == "StitchZlibC" },
            only: ["Sources/StitchWire/Compression/Zlib.swift"], sample: "StitchZlibC"),
        imports(
            of: "libedit", matching: { $0 == "StitchEditC" },
            only: ["Sources/StitchSyncCommand/Terminal/LineEditor.swift"], sample: "StitchEditC"),
        imports(
            of: "OpenSSL", matching: { $0 == "StitchCryptoC" },
            only: ["Sources/StitchServer/Security/"], sample: "StitchCryptoC"),
        imports(
            of: "ArgumentParser", matching: { $0 == "ArgumentParser" },
            only: ["Sources/StitchSyncCommand/", "Tests/StitchSyncCommandTests/"],
            sample: "ArgumentParser"),
        smallFoundation, commandsAlone,
    ]

    /// The commands are carried by libmongoc and by connections of our own, so they know neither.
    private static let commandsAlone = TidyRule(
        name: "StitchCommands imports BSONStore and StitchSync only",
        broken: [
            SourceFile("Sources/StitchCommands/A.swift", "internal import StitchWire\n"),
            SourceFile("Sources/StitchCommands/A.swift", "import struct Foundation.Date\n"),
        ],
        kept: [
            SourceFile(
                "Sources/StitchCommands/A.swift",
                "package import BSONStore\ninternal import StitchSync\n"),
            SourceFile("Sources/StitchMongo/A.swift", "internal import StitchMongoC\n"),
        ]
    ) { file, _ in
        guard file.isIn(["Sources/StitchCommands/"]) else { return [] }
        return importedModules(file).filter { !["BSONStore", "StitchSync"].contains($0.module) }
            .map { Finding(line: $0.line, message: "\($0.module): belongs behind MongoServer") }
    }

    /// The modules that a file imports, with their lines.
    static func importedModules(_ file: SourceFile) -> [(module: String, line: Int)] {
        let kinds: Set = ["struct", "class", "enum", "func", "var", "let", "protocol", "typealias"]
        return file.tokens.indices.compactMap { index in
            guard file.tokens[index].text == "import", index + 1 < file.tokens.count else {
                return nil
            }
            var name = file.tokens[index + 1]
            if kinds.contains(name.text), index + 2 < file.tokens.count {
                name = file.tokens[index + 2]
            }
            return (name.text, name.line)
        }
    }

    private static func imports(
        of library: String, matching isMeant: @escaping @Sendable (String) -> Bool,
        only places: [String], sample: String
    ) -> TidyRule {
        TidyRule(
            name: "\(library) is imported by \(places.joined(separator: ", ")) only",
            broken: [
                SourceFile("Sources/StitchSync/A.swift", "internal import \(sample)\n"),
                SourceFile("Sources/StitchSync/A.swift", "@preconcurrency import \(sample).b\n"),
                SourceFile("Sources/StitchSync/A.swift", "import struct \(sample).B\n"),
            ],
            kept: [
                SourceFile("Sources/StitchSync/A.swift", "// import \(sample)\nimport Foo\n"),
                SourceFile((places.first ?? "") + "A.swift", "import Foo\n"),
            ]
        ) { file, _ in
            guard !file.isIn(places) else { return [] }
            return importedModules(file).filter { isMeant($0.module) }.map {
                Finding(line: $0.line, message: "\($0.module): go through \(places)")
            }
        }
    }

    /// Foundation proper brings ICU into every app on Linux; Essentials has what the libraries need.
    private static let smallFoundation = TidyRule(
        name: "the libraries import Foundation only where FoundationEssentials is not",
        broken: [SourceFile("Sources/BSONStore/A.swift", "internal import Foundation\n")],
        kept: [
            SourceFile(
                "Sources/BSONStore/A.swift",
                """
                #if canImport(FoundationEssentials)
                    internal import FoundationEssentials
                #else
                    internal import Foundation
                #endif
                """),
            SourceFile("Sources/StitchSyncCommand/A.swift", "import Foundation\n"),
        ]
    ) { file, _ in
        guard file.isIn(["Sources/BSONStore/", "Sources/StitchSync/"]) else { return [] }
        let modules = importedModules(file)
        guard !modules.contains(where: { $0.module == "FoundationEssentials" }) else { return [] }
        return modules.filter { $0.module == "Foundation" }.map {
            Finding(line: $0.line, message: "import FoundationEssentials where it can be imported")
        }
    }
}
