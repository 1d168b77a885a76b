/// A comparison of texts by a language's rules: by letters first, then marks, then case.
///
/// Letters and marks are determined by Unicode's decomposition and a built-in table of weights, so
/// results match ICU's root order for the usual scripts and the tailorings of `CollationTailoring`.
/// Strength 4 compares the characters that `shifted` ignores, strength 5 the code points. Strings
/// compare by their keys; regular expressions ignore the collation.
public struct Collation: Sendable, Hashable {
    /// The collation with all its options, as `listIndexes` shows it.
    public let document: BSONDocument
    let options: Options

    /// The options that determine the keys of texts.
    struct Options: Sendable, Hashable {
        var locale = ""
        var strength = 3
        var caseLevel = false
        var caseFirst = CaseFirst.off
        var numericOrdering = false
        var alternate = Alternate.nonIgnorable
        var maxVariable = MaxVariable.punctuation
        var normalization = false
        var backwards = false
    }

    /// The case that sorts first if texts differ in case only.
    enum CaseFirst: String, Sendable, CaseIterable {
        case upper
        case lower
        case off
    }

    /// The treatment of white space and punctuation.
    enum Alternate: String, Sendable, CaseIterable {
        case nonIgnorable = "non-ignorable"
        case shifted
    }

    /// The characters that `shifted` ignores.
    enum MaxVariable: String, Sendable, CaseIterable {
        case punctuation = "punct"
        case space
    }

    /// The version of the rules in MongoDB 7.0; other versions are refused.
    static let version = "57.1"

    /// The comparison of the bytes of texts, whatever the collation of the collection is.
    ///
    /// ```swift
    /// let exact = BulkWrite.Options(collation: .simple)
    /// ```
    public static let simple = Collation(Options(locale: "simple"), simpleDocument)

    private static let simpleDocument: BSONDocument = ["locale": "simple"]

    /// The comparison of base letters and of numbers alone: texts that any usual collation takes for
    /// the same are the same by this one.
    package static let loosest: Collation = {
        let options = Options(
            locale: "en", strength: 1, numericOrdering: true, alternate: .shifted)
        return Collation(options, document(options))
    }()

    /// Parses a collation document such as `{locale: "en", strength: 2}`; `{locale: "simple"}` is
    /// ``simple``.
    ///
    /// - Throws: `badValue` (2) for an unknown locale, 40414 and 40415 for missing and unknown
    ///   fields, and others with MongoDB's text.
    public init(_ document: BSONDocument) throws(StoreError) {
        // Each statement of a device has this one.
        let isSimple = document == Self.simpleDocument
        let options = isSimple ? Self.simple.options : try CollationParser.parse(document)
        self.init(
            options,
            options.locale == "simple" ? Self.simpleDocument : Self.document(options))
    }

    private init(_ options: Options, _ document: BSONDocument) {
        self.options = options
        self.document = document
    }

    /// Whether texts compare by their bytes.
    public var isSimple: Bool { options.locale == "simple" }

    /// The collation in the form of parsed queries, in which `nil` compares bytes.
    package var unlessSimple: Collation? { isSimple ? nil : self }

    private static func document(_ options: Options) -> BSONDocument {
        [
            "locale": .string(options.locale),
            "caseLevel": .bool(options.caseLevel),
            "caseFirst": .string(options.caseFirst.rawValue),
            "strength": .int32(Int32(options.strength)),
            "numericOrdering": .bool(options.numericOrdering),
            "alternate": .string(options.alternate.rawValue),
            "maxVariable": .string(options.maxVariable.rawValue),
            "normalization": .bool(options.normalization),
            "backwards": .bool(options.backwards),
            "version": .string(version),
        ]
    }

    /// Returns the order of two texts.
    public func compare(_ left: String, _ right: String) -> BSONOrder {
        if left.utf8.elementsEqual(right.utf8) { return .equal }
        let (a, b) = (key(left), key(right))
        return a == b ? .equal : a.lexicographicallyPrecedes(b) ? .less : .greater
    }

    /// Returns bytes, valid as UTF-8, that sort in the order of the texts.
    public func key(_ text: String) -> [UInt8] { Array(keyText(text).utf8) }

    /// Returns the value with every text replaced by its key, so that plain order is the
    /// collation's.
    public func key(_ value: BSONValue) -> BSONValue {
        switch value {
        case .string(let text): .string(keyText(text))
        case .symbol(let text): .symbol(keyText(text))
        case .document(let document): .document(key(document))
        case .array(let array): .array(BSONArray(array.map { key($0) }))
        case .double, .binary, .undefined, .objectID, .bool, .datetime, .null, .regularExpression,
            .dbPointer, .javascript, .javascriptWithScope, .int32, .timestamp, .int64,
            .decimal128, .minKey, .maxKey:
            value
        }
    }

    /// Returns the order of two values, with texts compared by this collation.
    package func compare(_ left: BSONValue, _ right: BSONValue) -> BSONOrder {
        guard Self.concerns(left), Self.concerns(right) else {
            return BSONOrder.compare(left, right)
        }
        return BSONOrder.compare(key(left), key(right))
    }

    /// Whether a value is a text or may contain one.
    package static func concerns(_ value: BSONValue) -> Bool {
        switch value {
        case .string, .symbol, .document, .array: true
        case .double, .binary, .undefined, .objectID, .bool, .datetime, .null, .regularExpression,
            .dbPointer, .javascript, .javascriptWithScope, .int32, .timestamp, .int64,
            .decimal128, .minKey, .maxKey:
            false
        }
    }

    private func key(_ document: BSONDocument) -> BSONDocument {
        var keyed = BSONDocument()
        for (name, value) in document { keyed.append(name, key(value)) }
        return keyed
    }

    private func keyText(_ text: String) -> String {
        guard !isSimple else { return text }
        var writer = CollationKey(options: options)
        return writer.key(of: text)
    }
}
