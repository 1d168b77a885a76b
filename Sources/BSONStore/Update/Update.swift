/// Says how documents change: operators such as `$set`, or a whole replacement; parsed once.
public struct Update: Sendable {
    /// The update as it was written.
    public let document: BSONDocument
    let kind: Kind
    let collation: Collation?

    /// The ways to write an update.
    enum Kind: Sendable {
        /// Takes the document's place; the `_id` stays.
        case replacement(BSONDocument)
        /// Changes parts of the document, in the order of their paths.
        case operators(UpdateTree)
    }

    /// Reads an update: with operators when the first key begins with a dollar, else a replacement.
    ///
    /// - Parameters:
    ///   - arrayFilters: which array elements `$[name]` in a path stands for.
    ///   - collation: how texts compare in `$pull`, `$addToSet`, `$min` and their like.
    /// - Throws: `failedToParse` (9), `conflictingUpdateOperators` (40) and others with MongoDB's
    ///   text.
    public init(
        _ document: BSONDocument, arrayFilters: [BSONDocument] = [], collation: Collation? = nil
    ) throws(StoreError) {
        self.document = document
        self.collation = collation
        var options = LanguageOptions()
        options.collation = collation
        let filters = try ArrayFilters(arrayFilters, options)
        var elements = document.makeIterator()
        if let first = elements.next(), first.key.hasPrefix("$") {
            kind = .operators(try UpdateParser.parse(document, filters, options))
        } else {
            kind = .replacement(document)
        }
    }

    /// Reads an update as a command holds it: a document, or an array for a pipeline.
    ///
    /// - Throws: as the other initializers, and `failedToParse` (9) for another value.
    public init(
        _ value: BSONValue, variables: BSONDocument = [:], arrayFilters: [BSONDocument] = [],
        collation: Collation? = nil
    ) throws(StoreError) {
        guard case .document(let document) = value else {
            throw StoreError(
                .failedToParse, "Update argument must be either an object or an array")
        }
        try self.init(document, arrayFilters: arrayFilters, collation: collation)
    }

    /// Whether it replaces whole documents.
    public var isReplacement: Bool {
        switch kind {
        case .replacement: true
        case .operators: false
        }
    }
}

/// The operators of an update, parsed.
struct UpdateTree: Sendable {
    let root: UpdateFields
    /// Whether a `$` in a path asks which element the filter matched.
    let isPositional: Bool
    let filters: ArrayFilters
}
