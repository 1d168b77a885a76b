#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Chooses how `BSONEncoder` and `BSONDecoder` represent values that BSON has more than one form for.
///
/// Give the same strategies to both, or what one writes the other will not read.
public struct BSONCodingStrategies: Sendable {
    /// Represents a moment.
    public enum Dates: Sendable {
        /// As a BSON datetime, in milliseconds; finer parts are rounded.
        case bsonDatetime
        /// As a double of seconds since 1970.
        case secondsSince1970
        /// As a double of milliseconds since 1970.
        case millisecondsSince1970
        /// As RFC 3339 text in UTC, with milliseconds where there are any.
        case iso8601
        /// As the app says.
        case custom(
            encode: @Sendable (Date) throws -> BSONValue,
            decode: @Sendable (BSONValue) throws -> Date)
    }

    /// Represents a UUID.
    public enum UUIDs: Sendable {
        /// As a binary of subtype 4.
        case binary
        /// As its text.
        case string
    }

    /// Represents `Data`.
    public enum DataBytes: Sendable {
        /// As a binary of subtype 0; any subtype is read.
        case binary
        /// As base64 text.
        case base64
    }

    /// Relates coding keys to the keys of documents.
    ///
    /// The keys of dictionaries are data and stay as they are.
    public enum Keys: Sendable {
        /// The coding key's text is the document's key.
        case useDefault
        /// `firstName` is `first_name` in documents; leading underscores stay.
        case snakeCase
        /// As the app says, from the coding key's text to the document's key.
        case custom(@Sendable (String) -> String)
    }

    /// Represents an absent optional.
    public enum Nils: Sendable {
        /// The document has no such key.
        case omit
        /// The document has the key with null.
        case encodeNull
    }

    /// How moments are represented.
    public var dates: Dates
    /// How UUIDs are represented.
    public var uuids: UUIDs
    /// How `Data` is represented.
    public var data: DataBytes
    /// How coding keys become keys.
    public var keys: Keys
    /// How absent optionals are represented; both are always read.
    public var nils: Nils

    /// Takes BSON's own form of everything unless told otherwise.
    public init(
        dates: Dates = .bsonDatetime, uuids: UUIDs = .binary, data: DataBytes = .binary,
        keys: Keys = .useDefault, nils: Nils = .omit
    ) {
        self.dates = dates
        self.uuids = uuids
        self.data = data
        self.keys = keys
        self.nils = nils
    }
}

extension BSONCodingStrategies {
    /// Whether all are the forms that are taken unless told otherwise.
    var isPlain: Bool {
        if case .bsonDatetime = dates, case .binary = uuids, case .binary = data,
            case .useDefault = keys, case .omit = nils
        {
            true
        } else {
            false
        }
    }
}

extension BSONCodingStrategies.Keys {
    /// Whether keys are the coding keys as they are.
    var isDefault: Bool {
        switch self {
        case .useDefault: true
        case .snakeCase, .custom: false
        }
    }

    /// The document's key for a coding key.
    func documentKey(_ key: String) -> String {
        switch self {
        case .useDefault: key
        case .snakeCase: Self.snakeCased(key)
        case .custom(let convert): convert(key)
        }
    }

    /// Puts an underscore before each word that begins with a capital letter: `myURLPath` becomes
    /// `my_url_path`.
    private static func snakeCased(_ key: String) -> String {
        let letters = Array(key)
        var result = ""
        for (index, letter) in letters.enumerated() {
            if letter.isUppercase, index > 0, letters[index - 1] != "_" {
                let followsLower = !letters[index - 1].isUppercase
                let precedesLower = index + 1 < letters.count && letters[index + 1].isLowercase
                if followsLower || precedesLower { result += "_" }
            }
            result += letter.lowercased()
        }
        return result
    }
}
