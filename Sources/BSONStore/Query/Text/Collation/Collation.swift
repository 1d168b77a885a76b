/// Compares texts as the readers of a language do, by letters first, then marks, then case.
///
/// Letters and marks come from Unicode's decomposition and an own table of weights, so results agree
/// with ICU's root order for the usual scripts and with the tailorings of `CollationTailoring`.
/// Strength 4 compares what `shifted` leaves out, strength 5 the code points. Strings compare by their keys, regular expressions never do.
public struct Collation: Sendable, Hashable {
    /// The collation with all its options, as `listIndexes` shows it.
    public let document: BSONDocument
    let options: Options

    /// What the keys of texts depend on.
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

    /// Which of two cases comes first where only case differs.
    enum CaseFirst: String, Sendable, CaseIterable {
        case upper
        case lower
        case off
    }

    /// Whether white space and punctuation count.
    enum Alternate: String, Sendable, CaseIterable {
        case nonIgnorable = "non-ignorable"
        case shifted
    }

    /// What `shifted` leaves out.
    enum MaxVariable: String, Sendable, CaseIterable {
        case punctuation = "punct"
        case space
    }

    /// The version of the rules that MongoDB 7.0 names; other versions are refused.
    static let version = "57.1"

    /// Reads a collation document such as `{locale: "en", strength: 2}`; `nil` for "simple".
    ///
    /// - Throws: `badValue` (2) for an unknown locale, 40414 and 40415 for missing and unknown
    ///   fields, and others with MongoDB's text.
    public init?(_ document: BSONDocument) throws(StoreError) {
        let options = try CollationParser.parse(document)
        guard options.locale != "simple" else { return nil }
        self.options = options
        self.document = Self.document(options)
    }

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

    /// Tells how two texts stand to each other.
    public func compare(_ left: String, _ right: String) -> BSONOrder {
        if left.utf8.elementsEqual(right.utf8) { return .equal }
        let (a, b) = (key(left), key(right))
        return a == b ? .equal : a.lexicographicallyPrecedes(b) ? .less : .greater
    }

    /// Bytes, themselves UTF-8, whose order is that of the texts.
    public func key(_ text: String) -> [UInt8] { Array(keyText(text).utf8) }

    /// The value with every text in it replaced by its key, so that plain order is the collation's.
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

    /// Tells how two values stand to each other, their texts by this collation.
    func compare(_ left: BSONValue, _ right: BSONValue) -> BSONOrder {
        guard Self.concerns(left), Self.concerns(right) else {
            return BSONOrder.compare(left, right)
        }
        return BSONOrder.compare(key(left), key(right))
    }

    /// Whether a value is a text or may hold one.
    static func concerns(_ value: BSONValue) -> Bool {
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
        var writer = CollationKey(options: options)
        return writer.key(of: text)
    }
}
