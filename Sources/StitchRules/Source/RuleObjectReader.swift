internal import BSONStore

/// A reader of one JSON object in a rule file.
struct RuleObjectReader {
    let place: RuleSourceLocation
    private let document: BSONDocument

    /// Takes an object; refuses duplicate keys.
    init(_ document: BSONDocument, at place: RuleSourceLocation) throws(RuleError) {
        guard place.depth <= RuleLimits.depthMax else {
            throw place.error(.tooDeep, "Rules are nested deeper than \(RuleLimits.depthMax)")
        }
        var seen: Set<Name> = []
        for key in document.keys where !seen.insert(key).inserted {
            throw place[key].error(.unknownKey, "The key stands twice")
        }
        self.document = document
        self.place = place
    }

    /// Takes a value that must be an object.
    init(_ value: BSONValue, at place: RuleSourceLocation) throws(RuleError) {
        guard let document = value.documentValue else {
            throw place.error(.wrongType, "An object is needed, not \(Self.name(of: value))")
        }
        try self.init(document, at: place)
    }

    /// The keys with their values, in file order.
    var entries: [(key: String, value: BSONValue)] { Array(document) }

    /// Refuses keys that are not listed.
    func allow(_ keys: Set<String>) throws(RuleError) {
        for key in document.keys where !keys.contains(key) {
            let known = keys.sorted().joined(separator: ", ")
            throw place[key].error(.unknownKey, "There is no such key; known are \(known)")
        }
    }

    /// The value of a key; `nil` when missing.
    subscript(key: String) -> BSONValue? { document[key] }

    /// Returns a required string.
    func text(_ key: String) throws(RuleError) -> String {
        guard let value = document[key] else {
            throw place.error(.missingKey, "The key \(key) is missing")
        }
        return try Self.text(value, at: place[key])
    }

    /// Returns an optional string.
    func optionalText(_ key: String) throws(RuleError) -> String? {
        guard let value = document[key], value != .null else { return nil }
        return try Self.text(value, at: place[key])
    }

    /// Returns a Boolean; false when missing.
    func flag(_ key: String) throws(RuleError) -> Bool {
        guard let value = document[key], value != .null else { return false }
        guard let flag = value.boolValue else {
            throw place[key].error(
                .wrongType, "true or false is needed, not \(Self.name(of: value))")
        }
        return flag
    }

    /// Returns an optional object.
    func object(_ key: String) throws(RuleError) -> RuleObjectReader? {
        guard let value = document[key], value != .null else { return nil }
        return try RuleObjectReader(value, at: place[key])
    }

    /// Returns the elements of an array with their places; empty when missing.
    func array(_ key: String) throws(RuleError) -> [(value: BSONValue, place: RuleSourceLocation)] {
        guard let value = document[key], value != .null else { return [] }
        return try Self.elements(value, at: place[key])
    }

    /// Returns the elements of a value that must be an array, with their places.
    static func elements(
        _ value: BSONValue, at place: RuleSourceLocation
    ) throws(RuleError) -> [(value: BSONValue, place: RuleSourceLocation)] {
        guard let array = value.arrayValue else {
            throw place.error(.wrongType, "An array is needed, not \(name(of: value))")
        }
        return array.enumerated().map { ($0.element, place[$0.offset]) }
    }

    /// Returns a value that must be a string.
    static func text(_ value: BSONValue, at place: RuleSourceLocation) throws(RuleError) -> String {
        guard let text = value.stringValue else {
            throw place.error(.wrongType, "A text is needed, not \(name(of: value))")
        }
        return text
    }

    /// Returns the name of a value's type for errors.
    static func name(of value: BSONValue) -> String {
        switch value.type {
        case .double, .int32, .int64, .decimal128: "a number"
        case .string: "a text"
        case .document: "an object"
        case .array: "an array"
        case .bool: "a boolean"
        case .null: "null"
        case .binary, .undefined, .objectID, .datetime, .regularExpression, .dbPointer,
            .javascript, .symbol, .javascriptWithScope, .timestamp, .minKey, .maxKey:
            "\(value.type)"
        }
    }
}
