internal import BSONStore

/// An error in a rule, with its place and reason.
public struct RuleError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The class of the error.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The file is not JSON.
        case invalidJSON
        /// A required key is missing.
        case missingKey
        /// A key is unknown or duplicated.
        case unknownKey
        /// A value has a type that the key does not accept.
        case wrongType
        /// A value has the right type but is not accepted by the key.
        case invalidValue
        /// An expansion is unknown, or has no value at this place.
        case unsupportedExpansion
        /// An operator is unknown or not allowed at this place.
        case unsupportedOperator
        /// A function of the hosted product, which cannot run here.
        case functionNotSupported
        /// Two files describe the same collection.
        case duplicateCollection
        /// Rules are nested deeper than ``RuleLimits/depthMax``.
        case tooDeep
    }

    /// The class of the error.
    public let reason: Reason
    /// The file's path below the rules' folder.
    public let file: String
    /// The place in the file, such as `roles[0].document_filters.read`; empty for the whole file.
    public let path: String
    /// A description for people.
    public let message: String

    /// The file, the place and the description.
    public var description: String {
        path.isEmpty ? "\(file): \(message)" : "\(file): \(path): \(message)"
    }
}

/// A warning about a rule that is allowed but probably unintended.
public struct RuleWarning: Sendable, Hashable, CustomStringConvertible {
    /// The file's path below the rules' folder.
    public let file: String
    /// The place in the file.
    public let path: String
    /// A description for people.
    public let message: String

    /// The file, the place and the description.
    public var description: String { "\(file): \(path): \(message)" }
}

/// The limits of rules.
public enum RuleLimits {
    /// The largest nesting of expressions and field rules.
    public static let depthMax = 50
    /// The largest length of a role's name, in characters.
    public static let nameLengthMax = 100
    /// The largest size of a rule file in bytes.
    public static let fileBytesMax = 4 * 1024 * 1024
}
