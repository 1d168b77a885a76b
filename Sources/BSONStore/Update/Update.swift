/// Says how documents change: operators such as `$set`, or a whole replacement; parsed once.
public struct Update: Sendable {
    /// The update as it was written.
    public let document: BSONDocument
    let kind: Kind

    /// The two ways to write an update.
    enum Kind: Sendable {
        /// Takes the document's place; the `_id` stays.
        case replacement(BSONDocument)
        /// Changes parts of the document, in the order of their paths.
        case operators([UpdateModifier], arrayFilters: [String: Filter])
    }

    /// Reads an update: with operators when the first key begins with a dollar, else a replacement.
    ///
    /// - Parameter arrayFilters: which array elements `$[name]` in a path stands for.
    /// - Throws: `failedToParse` (9), `conflictingUpdateOperators` (40) and others with MongoDB's
    ///   text.
    public init(
        _ document: BSONDocument, arrayFilters: [BSONDocument] = []
    ) throws(StoreError) {
        self.document = document
        var elements = document.makeIterator()
        if let first = elements.next(), first.key.hasPrefix("$") {
            kind = try UpdateParser.parse(document, arrayFilters)
        } else {
            kind = .replacement(try Self.checked(document))
        }
    }

    /// Whether it replaces whole documents.
    public var isReplacement: Bool {
        switch kind {
        case .replacement: true
        case .operators: false
        }
    }

    private static func checked(_ document: BSONDocument) throws(StoreError) -> BSONDocument {
        for (key, _) in document where key.hasPrefix("$") {
            throw StoreError(
                .dollarPrefixedFieldName,
                "The dollar ($) prefixed field '\(key)' in '\(key)' is not allowed in the context of "
                    + "an update's replacement document. Consider using an aggregation pipeline "
                    + "with $replaceWith.")
        }
        return document
    }
}

/// One operator on one path.
struct UpdateModifier: Sendable {
    let path: UpdatePath
    let operation: UpdateOperation
}

/// What an operator does with the value at its path.
enum UpdateOperation: Sendable {
    case set(BSONValue)
    case setOnInsert(BSONValue)
    case unset
    case increment(BSONValue)
    case multiply(BSONValue)
    case least(BSONValue)
    case greatest(BSONValue)
    case currentDate(asTimestamp: Bool)
    /// Takes the value that another path has in the document before the update.
    case rename(from: FieldPath)
    case push(Push)
    case addToSet([BSONValue])
    case pull(PullCondition)
    case pullAll([BSONValue])
    case pop(isFirst: Bool)
    case bit([BitStep])

    /// What `$push` appends, where, and what it keeps.
    struct Push: Sendable {
        var values: [BSONValue]
        var position: Int?
        var slice: Int?
        var sort: SortOrder?
    }

    /// Which elements `$pull` removes.
    enum PullCondition: Sendable {
        /// Those that pass operators or match an expression.
        case passing(Filter)
        /// Documents that match a filter.
        case documents(Filter)
        /// Those that equal a value.
        case equal(BSONValue)
    }

    /// One step of `$bit`.
    struct BitStep: Sendable {
        enum Operator: String, Sendable {
            case and
            case or
            case xor
        }

        let `operator`: Operator
        let operand: BSONValue
    }

    /// The operator's name, for errors.
    var name: String {
        switch self {
        case .set: "$set"
        case .setOnInsert: "$setOnInsert"
        case .unset: "$unset"
        case .increment: "$inc"
        case .multiply: "$mul"
        case .least: "$min"
        case .greatest: "$max"
        case .currentDate: "$currentDate"
        case .rename: "$rename"
        case .push: "$push"
        case .addToSet: "$addToSet"
        case .pull: "$pull"
        case .pullAll: "$pullAll"
        case .pop: "$pop"
        case .bit: "$bit"
        }
    }

    /// Whether it makes fields that are missing.
    var creates: Bool {
        switch self {
        case .set, .setOnInsert, .increment, .multiply, .least, .greatest, .currentDate, .rename,
            .push, .addToSet, .bit:
            true
        case .unset, .pull, .pullAll, .pop: false
        }
    }
}
