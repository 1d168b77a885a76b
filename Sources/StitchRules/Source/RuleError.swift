/// Says which rule is wrong, where it stands and why.
public struct RuleError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Classifies what was wrong.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The file is not JSON.
        case invalidJSON
        /// A key that must be there is missing.
        case missingKey
        /// A key that nothing is known of, or that stands twice.
        case unknownKey
        /// A value of another type than the key takes.
        case wrongType
        /// A value of the right type that the key does not take.
        case invalidValue
        /// An expansion that is none, or that has no value at this place.
        case unsupportedExpansion
        /// An operator that is none, or that cannot stand at this place.
        case unsupportedOperator
        /// A function of the hosted product; there is nothing that could run it.
        case functionNotSupported
        /// Two files describe the same collection.
        case duplicateCollection
        /// Rules are nested deeper than ``RuleLimits/depthMax``.
        case tooDeep
    }

    /// What was wrong.
    public let reason: Reason
    /// The file's path below the rules' folder.
    public let file: String
    /// Where in the file, for example `roles[0].document_filters.read`; empty for the whole file.
    public let path: String
    /// A sentence for people.
    public let message: String

    /// File, place and sentence.
    public var description: String {
        path.isEmpty ? "\(file): \(message)" : "\(file): \(path): \(message)"
    }
}

/// Says what is allowed, but probably not meant.
public struct RuleWarning: Sendable, Hashable, CustomStringConvertible {
    /// The file's path below the rules' folder.
    public let file: String
    /// Where in the file.
    public let path: String
    /// A sentence for people.
    public let message: String

    /// File, place and sentence.
    public var description: String { "\(file): \(path): \(message)" }
}

/// Bounds what rules may hold.
public enum RuleLimits {
    /// How deep expressions and field rules may be nested.
    public static let depthMax = 50
    /// How many characters the name of a role has at most.
    public static let nameLengthMax = 100
    /// How many bytes one file of rules has at most.
    public static let fileBytesMax = 4 * 1024 * 1024
}
