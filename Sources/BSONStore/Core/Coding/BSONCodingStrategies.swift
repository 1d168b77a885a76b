#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The forms in which `BSONEncoder` and `BSONDecoder` represent values that BSON has several forms
/// for.
///
/// Use the same strategies for both; otherwise the decoder cannot read what the encoder wrote.
public struct BSONCodingStrategies: Sendable {
    /// The form of a `Date`.
    public enum Dates: Sendable {
        /// As a BSON datetime, in milliseconds; finer parts are rounded.
        case bsonDatetime
        /// As a double of seconds since 1970.
        case secondsSince1970
        /// As a double of milliseconds since 1970.
        case millisecondsSince1970
        /// As RFC 3339 text in UTC, always with milliseconds, so that texts sort as their times do.
        ///
        /// Years from 0 to 9999. Texts with other fractions and offsets are read, too.
        case iso8601
        /// As the app's closures define.
        case custom(
            encode: @Sendable (Date) throws -> BSONValue,
            decode: @Sendable (BSONValue) throws -> Date)
    }

    /// The form of a `UUID`.
    public enum UUIDs: Sendable {
        /// As a binary of subtype 4.
        case binary
        /// As its text in lower case; either case is read.
        case string
    }

    /// The form of `Data`.
    public enum DataBytes: Sendable {
        /// As a binary of subtype 0; any subtype is read.
        case binary
        /// As base64 text.
        case base64
    }

    /// The relation between coding keys and the keys of documents.
    ///
    /// The keys of dictionaries are data and stay as they are.
    public enum Keys: Sendable {
        /// The coding key's text is the document's key.
        case useDefault
        /// `firstName` is `first_name` in documents; leading underscores stay.
        case snakeCase
        /// As the app's closure maps the coding key's text to the document's key.
        case custom(@Sendable (String) -> String)
    }

    /// The form of an absent optional.
    public enum Nils: Sendable {
        /// The document has no such key.
        case omit
        /// The document has the key with null.
        case encodeNull
    }

    /// The form of dates.
    public var dates: Dates
    /// The form of UUIDs.
    public var uuids: UUIDs
    /// The form of `Data`.
    public var data: DataBytes
    /// The mapping from coding keys to document keys.
    public var keys: Keys
    /// The form of absent optionals; the decoder accepts both.
    public var nils: Nils

    /// Creates strategies; the default is BSON's own form of everything.
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
    /// Whether all strategies are the defaults.
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
    /// Whether documents use the coding keys unchanged.
    var isDefault: Bool {
        switch self {
        case .useDefault: true
        case .snakeCase, .custom: false
        }
    }

    /// Returns the document's key for a coding key.
    package func documentKey(_ key: String) -> String {
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
