internal import BSONStore
internal import StitchRules

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The rules of a server, which can be reloaded while it runs.
package final class ReloadableRules: Sendable {
    /// One version of the rules.
    struct Edition: Sendable {
        /// The number of the version, which only grows.
        var number: Int
        var rules: RuleSet
    }

    /// The folder of the rules.
    let folder: String
    private let current: Locked<Edition>

    /// Reads the rules of a folder.
    ///
    /// - Throws: `RuleError` for invalid rules, and file errors.
    package init(folder: String) throws {
        self.folder = folder
        current = Locked(Edition(number: 1, rules: try Self.read(folder)))
    }

    /// The warnings about valid but suspicious rules, and about roles that sync cannot use.
    package var notes: [String] {
        let rules = edition.rules
        let findings = rules.isSynced ? rules.syncFindings : []
        return rules.warnings.map(\.description) + findings.map { "not for sync: \($0)" }
    }

    var edition: Edition { current.withLock { $0 } }

    /// Returns the files of the folder as they are now.
    ///
    /// - Throws: file errors.
    func files() throws -> [(path: String, bytes: [UInt8])] { try Self.files(folder) }

    /// Reads the folder again; after an error the previous rules stay in force.
    ///
    /// - Returns: whether the rules changed.
    /// - Throws: the errors of ``init(folder:)``.
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
        try RuleSet(entries: files(folder))
    }

    /// Returns the files of a folder that rules can be in, in order.
    ///
    /// - Throws: file errors.
    static func files(_ folder: String) throws -> [(path: String, bytes: [UInt8])] {
        let manager = FileManager.default
        var files: [(path: String, bytes: [UInt8])] = []
        for path in try manager.subpathsOfDirectory(atPath: folder).sorted()
        where path.hasByteSuffix(".json") {
            guard let data = manager.contents(atPath: "\(folder)/\(path)") else {
                throw RuleFolderError(path: path)
            }
            files.append((path, Array(data)))
        }
        return files
    }
}

/// The error for a rule file that cannot be read.
struct RuleFolderError: Error, CustomStringConvertible {
    let path: String

    var description: String { "cannot read the rule file \(path)" }
}
