internal import BSONStore

/// A reader of one JSON object in a fixture, whose errors name the place.
struct FixtureObject {
    let document: BSONDocument
    let path: String

    /// - Parameter keys: the allowed keys; any other is an error, since it is likely a typo.
    init(
        _ value: BSONValue?, at path: String, keys: Set<String>
    ) throws(FixtureError) {
        guard let document = value?.documentValue else {
            throw FixtureError(path, "an object is expected\(Self.found(value))")
        }
        self.init(document, at: path)
        var seen: Set<Name> = []
        for key in document.keys {
            guard keys.contains(key) else {
                throw FixtureError(
                    place(key),
                    "no such key; there are \(keys.sorted().joined(separator: ", "))")
            }
            guard seen.insert(key).inserted else {
                throw FixtureError(place(key), "it is there twice")
            }
        }
    }

    init(_ document: BSONDocument, at path: String) {
        self.document = document
        self.path = path
    }

    subscript(key: String) -> BSONValue? { document[key] }

    /// Returns the path of a key.
    func place(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    static func found(_ value: BSONValue?) -> String {
        value.map { ", not \($0.extendedJSON(.relaxed))" } ?? ""
    }

    /// Returns the value of a required key.
    func required(_ key: String) throws(FixtureError) -> BSONValue {
        guard let value = document[key] else { throw FixtureError(place(key), "it is missing") }
        return value
    }

    func string(_ key: String) throws(FixtureError) -> String {
        let value = try required(key)
        guard let string = value.stringValue else {
            throw FixtureError(place(key), "a string is expected\(Self.found(value))")
        }
        return string
    }

    /// Returns a document; `nil` for `null` or a missing key.
    func optionalDocument(_ key: String) throws(FixtureError) -> BSONDocument? {
        guard let value = document[key], value != .null else { return nil }
        guard let document = value.documentValue else {
            throw FixtureError(place(key), "a document or null is expected\(Self.found(value))")
        }
        return document
    }

    func document(_ key: String) throws(FixtureError) -> BSONDocument {
        guard let document = self[key]?.documentValue else {
            throw FixtureError(place(key), "a document is expected\(Self.found(self[key]))")
        }
        return document
    }

    /// Returns a list; empty where the key is missing.
    func list(_ key: String) throws(FixtureError) -> [(value: BSONValue, path: String)] {
        guard let value = document[key] else { return [] }
        return try Self.list(value, at: place(key))
    }

    static func list(
        _ value: BSONValue, at path: String
    ) throws(FixtureError) -> [(value: BSONValue, path: String)] {
        guard let array = value.arrayValue else {
            throw FixtureError(path, "a list is expected\(found(value))")
        }
        return array.enumerated().map { (value: $1, path: "\(path)[\($0)]") }
    }

    /// Returns a list of strings; empty where the key is missing.
    func strings(_ key: String) throws(FixtureError) -> [String] {
        var strings: [String] = []
        for (value, path) in try list(key) {
            guard let string = value.stringValue else {
                throw FixtureError(path, "a string is expected\(Self.found(value))")
            }
            strings.append(string)
        }
        return strings
    }

    /// Returns an integer of at least one.
    func count(_ key: String) throws(FixtureError) -> Int {
        try Self.count(required(key), at: place(key))
    }

    /// The maximum number of passes or commits, so that a typo does not run for hours.
    private static let countMax: Int64 = 10_000

    static func count(_ value: BSONValue, at path: String) throws(FixtureError) -> Int {
        guard let number = value.int64Value, (1...countMax).contains(number) else {
            throw FixtureError(
                path, "an integer from 1 to \(countMax) is expected\(found(value))")
        }
        return Int(number)
    }
}

/// The only key of an object, which names a kind, and its value.
struct FixtureChoice {
    let kind: String
    let value: BSONValue
    let path: String

    /// - Parameter kinds: the allowed kinds.
    init(
        _ value: BSONValue, at path: String, kinds: [String]
    ) throws(FixtureError) {
        switch value {
        case .string(let text):
            (kind, self.value, self.path) = (text, .bool(true), path)
        case .document(let document):
            guard let first = Array(document).first, document.count == 1 else {
                throw FixtureError(path, "an object with one key is expected")
            }
            (kind, self.value, self.path) = (first.key, first.value, "\(path).\(first.key)")
        default:
            throw FixtureError(
                path, "a name or an object is expected\(FixtureObject.found(value))")
        }
        guard kinds.contains(kind) else {
            throw FixtureError(
                path, "there is no \(kind); there are \(kinds.joined(separator: ", "))")
        }
    }
}
