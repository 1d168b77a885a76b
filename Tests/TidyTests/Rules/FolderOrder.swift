import Testing

/// The order of a module's folders: a file may use types of its own folder and of those before it.
///
/// `Docs/ARCHITECTURE.md` says why they stand so. Folders in one row may use each other.
struct FolderOrder: Sendable, CustomTestStringConvertible {
    /// A file that uses a type of a higher folder.
    struct WrongUse: CustomStringConvertible {
        let path: String
        let type: String

        var description: String { "\(path): \(type)" }
    }

    /// The module's folder, with `/` at its end.
    let root: String
    private let rows: [[String]]

    init(_ root: String, _ rows: [[String]]) {
        self.root = root
        self.rows = rows
    }

    var testDescription: String { root }

    /// The row of the folder that a file lies in; `nil` where no row names it.
    func rank(of path: String) -> Int? {
        let inside = path.dropFirst(root.count)
        var best: (length: Int, rank: Int)?
        for (rank, row) in rows.enumerated() {
            for folder in row {
                let isIn = folder.isEmpty ? !inside.contains("/") : inside.hasPrefix(folder + "/")
                if isIn, folder.count >= best?.length ?? 0 { best = (folder.count, rank) }
            }
        }
        return best?.rank
    }

    /// The uses of types that are declared in one file only, in a folder above the user's.
    ///
    /// A word that also names a nested type which the user may use is taken for that one.
    func wrongUses(in files: [SourceFile]) -> [WrongUse] {
        let own = files.filter { $0.isSwift && $0.path.hasPrefix(root) }
        var places: [String: [String]] = [:]
        var lowestNested: [String: Int] = [:]
        for file in own {
            let declared = Self.declaredTypes(file)
            for type in declared.outer { places[type, default: []].append(file.path) }
            guard let rank = rank(of: file.path) else { continue }
            for type in declared.nested {
                lowestNested[type] = min(lowestNested[type] ?? rank, rank)
            }
        }
        return own.flatMap { file -> [WrongUse] in
            guard let user = rank(of: file.path) else { return [] }
            return Set(Self.code(of: file).map(\.text)).sorted().compactMap { word in
                guard let declared = places[word], declared.count == 1,
                    let used = rank(of: declared[0]), used > user,
                    lowestNested[word] ?? used > user
                else { return nil }
                return WrongUse(path: file.path, type: word)
            }
        }
    }

    private static let kinds: Set = ["struct", "class", "enum", "protocol", "actor", "typealias"]

    /// The words of a file without those of imports and conditions of compilation.
    private static func code(of file: SourceFile) -> [SwiftToken] {
        let isCode = file.lines.map { line in
            let words = line.split(separator: " ").prefix { $0 != "//" }
            return !words.contains("import") && !["#if", "#elseif"].contains(words.first)
        }
        return file.tokens.filter { isCode[$0.line - 1] }
    }

    /// The types that a file declares: those outside of every brace, and those within another.
    private static func declaredTypes(
        _ file: SourceFile
    ) -> (outer: Set<String>, nested: Set<String>) {
        var depth = 0
        var types: (outer: Set<String>, nested: Set<String>) = ([], [])
        let tokens = code(of: file)
        for (token, next) in zip(tokens, tokens.dropFirst()) {
            if token.text == "{" { depth += 1 }
            if token.text == "}" { depth -= 1 }
            guard kinds.contains(token.text) else { continue }
            if depth == 0 { types.outer.insert(next.text) } else { types.nested.insert(next.text) }
        }
        return types
    }
}

extension FolderOrder {
    /// The modules that have folders, each from below to above.
    static let all: [FolderOrder] = [
        FolderOrder(
            "Sources/BSONStore/",
            rows(
                "Core/Names Core/Errors Core/Values Core/Decimal Core/Threads|Core/Checksums|Core/Keys|Core/ExtendedJSON|Core/Coding|Core/Changes"
                    + "|Query/Text|Query/Scripts|Query/Expressions|Query/Filters|Query/Pipelines|Query/Updates|Query/Typed|Script"
                    + "|Store/SQLite|Store/File|Store/Access|Store/Bounds|Store/Indexes|Store/Catalog|Store/Rows|Store/Feed"
                    + "|Store/Plans|Store/Scanning|Store/Planning|Store/Queries|Store/Explain"
                    + "|Store/Transactions/Writing|Store/Transactions|Store/Connections|Store/Attachments|Store/Verification|Store/Maintenance|Store/API"
            )),
        FolderOrder(
            "Sources/StitchSync/",
            rows(
                "Support|API/Values|Remotes|Decisions|Records|API/Policies|Tables|Settlement|Delivery|Pass|Running|Attachments|API|Users"
            )),
        FolderOrder(
            "Sources/StitchRules/",
            rows(
                "Support|Source|Users|Expressions|Decisions|Fields|Roles|Access|Enforcement|Loading"
            )),
        FolderOrder(
            "Sources/StitchServer/",
            rows(
                "Support|Failures|Operation|Security|Sessions|Rules|Calls|Users|Transactions|Cursors|Streams|Backend|Authorization|Commands|Dispatch|Gateway|Console|Network|"
            )),
        FolderOrder("Sources/StitchWire/", rows("Text|Format|Compression|Messages")),
        FolderOrder("Sources/StitchRemote/", rows("Addresses|Wire|SignIn|Servers|")),
        FolderOrder("Sources/StitchSyncTesting/", rows("Kit|Fixtures")),
        FolderOrder(
            "Sources/StitchSyncCommand/",
            rows(
                "Console|Editions|Inspect|Import Columns|Sync|Terminal|Shell|Demo|Gateway|Users Commands Documents Rules|"
            )
        ),
    ]

    private static func rows(_ text: String) -> [[String]] {
        text.split(separator: "|", omittingEmptySubsequences: false).map {
            $0.isEmpty ? [""] : $0.split(separator: " ").map(String.init)
        }
    }
}
