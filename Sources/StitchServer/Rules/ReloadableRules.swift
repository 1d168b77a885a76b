internal import BSONStore
internal import StitchRules

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Holds the rules that a server keeps to, which can be read anew while it runs.
package final class ReloadableRules: Sendable {
    /// One edition of the rules.
    struct Edition: Sendable {
        /// Grows with each edition.
        var number: Int
        var rules: RuleSet
    }

    private let folder: String
    private let current: Locked<Edition>

    /// Reads the rules of a folder.
    ///
    /// - Throws: `RuleError` for what is wrong with them, and when the folder cannot be read.
    package init(folder: String) throws {
        self.folder = folder
        current = Locked(Edition(number: 1, rules: try Self.read(folder)))
    }

    /// What is allowed, but probably not meant, and which roles sync cannot use.
    package var notes: [String] {
        let rules = edition.rules
        let findings = rules.isSynced ? rules.syncFindings : []
        return rules.warnings.map(\.description) + findings.map { "not for sync: \($0)" }
    }

    var edition: Edition { current.withLock { $0 } }

    /// Reads the folder again; those that are in force stay when something is wrong.
    ///
    /// - Returns: whether the rules are others now.
    /// - Throws: as ``init(folder:)`` does.
    @discardableResult
    package func reload() throws -> Bool {
        let rules = try Self.read(folder)
        return current.withLock { edition in
            guard edition.rules != rules else { return false }
            edition = Edition(number: edition.number + 1, rules: rules)
            return true
        }
    }

    private static func read(_ folder: String) throws -> RuleSet {
        let manager = FileManager.default
        var files: [(path: String, bytes: [UInt8])] = []
        for path in try manager.subpathsOfDirectory(atPath: folder).sorted()
        where path.hasSuffix(".json") {
            guard let data = manager.contents(atPath: "\(folder)/\(path)") else {
                throw RuleFolderError(path: path)
            }
            files.append((path, Array(data)))
        }
        return try RuleSet(entries: files)
    }
}

/// Names a file of rules that cannot be read.
struct RuleFolderError: Error, CustomStringConvertible {
    let path: String

    var description: String { "\(path): the file cannot be read" }
}
