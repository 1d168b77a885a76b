import BSONStore
import Foundation
import Testing

/// One case of a fixture file: an operation with what must come of it.
struct Fixture: Sendable {
    /// The sentence that names the case in its file.
    let name: String
    /// The whole case.
    let fields: BSONDocument

    /// The value of a field of the case; `nil` when it is left out.
    subscript(key: String) -> BSONValue? { fields[key] }

    /// The document in a field of the case; `nil` when it is left out.
    func document(_ key: String) throws -> BSONDocument? {
        guard let value = fields[key] else { return nil }
        let document = try #require(
            value.documentValue, "\(name): \(key) has to be a document")
        return document
    }

    /// The values of an array in a field of the case; `nil` when it is left out.
    func values(_ key: String) throws -> [BSONValue]? {
        guard let value = fields[key] else { return nil }
        let array = try #require(value.arrayValue, "\(name): \(key) has to be an array")
        return array.values
    }

    /// The documents of an array in a field of the case; `nil` when it is left out.
    func documents(_ key: String) throws -> [BSONDocument]? {
        try values(key)?.map {
            try #require($0.documentValue, "\(name): \(key) has to hold documents")
        }
    }

    /// The number in a field of the case; 0 when it is left out.
    func number(_ key: String) throws -> Int {
        guard let value = fields[key] else { return 0 }
        return Int(try #require(value.int64Value, "\(name): \(key) has to be a number"))
    }

    /// Whether a field of the case holds true.
    func isSet(_ key: String) -> Bool { fields[key] == .bool(true) }

    /// Runs the operation and hands its outcome to a check, or expects the error of the case.
    func run<Outcome>(
        _ operation: () throws -> Outcome, _ check: (Outcome) throws -> Void
    ) throws {
        let outcome: Outcome
        do { outcome = try operation() } catch {
            return try expect(error)
        }
        if let wanted = self["error"] {
            Issue.record("\(name): expected \(wanted), but it went well with \(outcome)")
            return
        }
        try check(outcome)
    }

    /// Expects the error of the case, code and, where the case gives it, the whole text.
    func expect(_ thrown: any Error) throws {
        guard let wanted = try document("error") else {
            Issue.record("\(name): \(thrown)")
            return
        }
        let error = try #require(thrown as? StoreError, "\(name): \(thrown)")
        #expect(
            Int64(error.code.rawValue) == wanted["code"]?.int64Value, "\(name): \(thrown)")
        if let message = wanted["message"]?.stringValue {
            #expect(error.message == message, "\(name)")
        }
    }

    /// Expects these values, by representation; in any order when the case is `unordered`.
    func expect(_ actual: [BSONValue], toBe expected: [BSONValue]) {
        let areSame =
            isSet("unordered")
            ? Self.counts(actual) == Self.counts(expected) : actual == expected
        #expect(areSame, "\(name): \(Self.text(actual)) is not \(Self.text(expected))")
    }

    private static func counts(_ values: [BSONValue]) -> [BSONValue: Int] {
        values.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }

    private static func text(_ values: [BSONValue]) -> String {
        let document: BSONDocument = ["": .array(BSONArray(values))]
        return String(document.extendedJSON().dropFirst(4).dropLast())
    }
}

/// A file of cases over one operator or theme.
struct FixtureFile: Sendable {
    /// Title and address of the page of the documentation that the cases come from.
    let section: String
    /// The cases as they stand in the file.
    let cases: [Fixture]

    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "fixtures")

    /// The names of the files in a folder of `fixtures`, sorted.
    static func names(in folder: String) -> [String] {
        let found = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
        let names = found?.compactMap { $0 as? String } ?? []
        return names.filter { $0.hasSuffix(".json") && !$0.contains("/") }.sorted()
    }

    /// The text of all files in a folder of `fixtures`.
    static func text(in folder: String) throws -> String {
        try names(in: folder).map { name in
            let file = root.appending(path: folder).appending(path: name)
            return try String(contentsOf: file, encoding: .utf8)
        }.joined(separator: "\n")
    }

    /// Reads a file; a key that no case has, a name that stands twice or no outcome is an error.
    init(_ name: String, in folder: String, keys: Set<String>, outcomes: Set<String>) throws {
        let file = Self.root.appending(path: folder).appending(path: name)
        let text = try String(contentsOf: file, encoding: .utf8)
        let content = try BSONDocument(extendedJSON: text)
        section = try #require(content["section"]?.stringValue, "\(name) needs a section")
        let cases = try #require(content["cases"]?.arrayValue, "\(name) needs cases").values
        var names: Set<String> = []
        self.cases = try cases.map { value in
            let fixture = try Self.fixture(value, in: name)
            #expect(
                names.insert(fixture.name).inserted, "\(name) has two cases '\(fixture.name)'")
            let given = Set(fixture.fields.map(\.key)).subtracting(["name", "from", "unordered"])
            #expect(given.subtracting(keys).subtracting(outcomes).isEmpty, "\(fixture.name)")
            #expect(given.intersection(outcomes).count == 1, "\(fixture.name) has one outcome")
            return fixture
        }
    }

    private static func fixture(_ value: BSONValue, in file: String) throws -> Fixture {
        let fields = try #require(value.documentValue, "\(file) holds a case that is none")
        let name = try #require(fields["name"]?.stringValue, "\(fields) needs a name")
        return Fixture(name: name, fields: fields)
    }
}
