/// A parsed change of documents: operators such as `$set`, a whole replacement, or a pipeline.
public struct Update: Sendable {
    /// The document from which the update was parsed; `pipeline` holds the stages of a pipeline.
    public let document: BSONDocument
    let kind: Kind
    /// The facts that the change feed records with the update's changes.
    package let remarks: BSONDocument?
    let collation: Collation?
    /// Whether a collection's own collation applies if the update has none.
    let inheritsCollation: Bool
    private let arrayFilters: [BSONDocument]
    private let variables: BSONDocument
    /// Whether a replacement's empty timestamps stay unchanged: `bypassEmptyTsReplacement`.
    package var keepsEmptyTimestamps = false
    /// Whether a replacement without `_id` is written even if it equals the document.
    package var writesEqualReplacement = false

    /// The form of an update.
    enum Kind: Sendable {
        /// Replaces the document; the `_id` stays.
        case replacement(BSONDocument)
        /// Changes parts of the document, in the order of their paths.
        case operators(UpdateTree)
        /// Computes a new document from the old one.
        case pipeline(UpdatePipeline)
    }

    /// Parses an update: operators if the first key begins with a dollar, else a replacement.
    ///
    /// - Parameters:
    ///   - arrayFilters: the filters for `$[name]` in a path.
    ///   - collation: the collation of texts in `$pull`, `$addToSet`, `$min` and similar operators;
    ///     `nil` for the collection's own.
    /// - Throws: `failedToParse` (9), `conflictingUpdateOperators` (40) and others with MongoDB's
    ///   text.
    public init(
        _ document: BSONDocument, arrayFilters: [BSONDocument] = [], collation: Collation? = nil
    ) throws(StoreError) {
        self.document = document
        self.collation = collation?.unlessSimple
        inheritsCollation = collation?.isSimple != true
        self.arrayFilters = arrayFilters
        variables = [:]
        var options = EvaluationOptions()
        options.collation = self.collation
        let filters = try ArrayFilters(arrayFilters, options)
        var elements = document.makeIterator()
        if let first = elements.next(), first.key.hasBytePrefix("$") {
            kind = .operators(try UpdateParser.parse(document, filters, options))
        } else {
            kind = .replacement(document)
        }
        remarks = Self.remarks(kind)
    }

    /// Parses a pipeline of `$set`, `$unset`, `$project`, `$replaceWith` and their aliases.
    ///
    /// - Parameters:
    ///   - variables: values that the stages may name as `$$name`; the `let` of a command.
    ///   - collation: the collation of texts in the stages; `nil` for the collection's own.
    /// - Throws: an error with MongoDB's code and text for an invalid pipeline.
    public init(
        pipeline: [BSONDocument], variables: BSONDocument = [:], arrayFilters: [BSONDocument] = [],
        collation: Collation? = nil
    ) throws(StoreError) {
        document = ["pipeline": .array(BSONArray(pipeline.map { .document($0) }))]
        self.collation = collation?.unlessSimple
        inheritsCollation = collation?.isSimple != true
        self.arrayFilters = arrayFilters
        self.variables = variables
        guard arrayFilters.isEmpty else {
            throw StoreError(
                .failedToParse, "arrayFilters may not be specified for pipeline-style updates")
        }
        kind = .pipeline(try UpdatePipeline(pipeline, variables, self.collation))
        remarks = Self.remarks(kind)
    }

    /// Parses an update in the form of a command: a document, or an array for a pipeline.
    ///
    /// - Throws: as the other initializers, and `failedToParse` (9) for another value.
    public init(
        _ value: BSONValue, variables: BSONDocument = [:], arrayFilters: [BSONDocument] = [],
        collation: Collation? = nil
    ) throws(StoreError) {
        switch value {
        case .document(let document):
            try self.init(document, arrayFilters: arrayFilters, collation: collation)
        case .array(let array):
            var stages: [BSONDocument] = []
            for stage in array {
                guard let stage = stage.documentValue else {
                    throw StoreError(
                        .typeMismatch, "Each element of the 'pipeline' array must be an object")
                }
                stages.append(stage)
            }
            try self.init(
                pipeline: stages, variables: variables, arrayFilters: arrayFilters,
                collation: collation)
        default:
            throw StoreError(
                .failedToParse, "Update argument must be either an object or an array")
        }
    }

    /// Returns the update for a collection: with the collection's collation unless it has its own.
    ///
    /// Source: MongoDB manual, "Collation": operations use the collection's default collation.
    ///
    /// - Throws: the errors of parsing it.
    package func adapted(to collation: Collation?) throws(StoreError) -> Update {
        guard let collation, self.collation == nil, inheritsCollation else { return self }
        var update: Update
        switch kind {
        case .replacement: return self
        case .operators:
            update = try Update(document, arrayFilters: arrayFilters, collation: collation)
        case .pipeline:
            update = try Update(
                document["pipeline"] ?? .null, variables: variables, collation: collation)
        }
        update.keepsEmptyTimestamps = keepsEmptyTimestamps
        update.writesEqualReplacement = writesEqualReplacement
        return update
    }

    /// Whether the update replaces whole documents.
    public var isReplacement: Bool {
        switch kind {
        case .replacement: true
        case .operators, .pipeline: false
        }
    }
}

/// The operators of an update, parsed.
struct UpdateTree: Sendable {
    let root: UpdateFields
    /// Whether a `$` in a path needs the element that the filter matched.
    let isPositional: Bool
    let filters: ArrayFilters
}
