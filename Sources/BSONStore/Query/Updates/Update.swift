/// Says how documents change: operators such as `$set`, a whole replacement, or a pipeline; parsed
/// once.
public struct Update: Sendable {
    /// The update as it was written; `pipeline` holds the stages of a pipeline.
    public let document: BSONDocument
    let kind: Kind
    /// What the change feed is told of its changes beside the documents.
    let remarks: BSONDocument?
    let collation: Collation?
    /// Whether a collection's own collation holds where the update has none.
    package var inheritsCollation = true
    private let arrayFilters: [BSONDocument]
    private let variables: BSONDocument
    /// Whether a replacement's empty timestamps stay as they are: `bypassEmptyTsReplacement`.
    package var keepsEmptyTimestamps = false

    /// The ways to write an update.
    enum Kind: Sendable {
        /// Takes the document's place; the `_id` stays.
        case replacement(BSONDocument)
        /// Changes parts of the document, in the order of their paths.
        case operators(UpdateTree)
        /// Makes the document anew from the one before.
        case pipeline(UpdatePipeline)
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
        self.arrayFilters = arrayFilters
        variables = [:]
        var options = EvaluationOptions()
        options.collation = collation
        let filters = try ArrayFilters(arrayFilters, options)
        var elements = document.makeIterator()
        if let first = elements.next(), first.key.hasPrefix("$") {
            kind = .operators(try UpdateParser.parse(document, filters, options))
        } else {
            kind = .replacement(document)
        }
        remarks = Self.remarks(kind)
    }

    /// Reads a pipeline of `$set`, `$unset`, `$project`, `$replaceWith` and their other names.
    ///
    /// - Parameters:
    ///   - variables: values that the stages may name as `$$name`; the `let` of a command.
    ///   - collation: how texts compare in the stages.
    /// - Throws: with MongoDB's code and text for what is no such pipeline.
    public init(
        pipeline: [BSONDocument], variables: BSONDocument = [:], arrayFilters: [BSONDocument] = [],
        collation: Collation? = nil
    ) throws(StoreError) {
        document = ["pipeline": .array(BSONArray(pipeline.map { .document($0) }))]
        self.collation = collation
        self.arrayFilters = arrayFilters
        self.variables = variables
        guard arrayFilters.isEmpty else {
            throw StoreError(
                .failedToParse, "arrayFilters may not be specified for pipeline-style updates")
        }
        kind = .pipeline(try UpdatePipeline(pipeline, variables, collation))
        remarks = Self.remarks(kind)
    }

    /// Reads an update as a command holds it: a document, or an array for a pipeline.
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

    /// The update as a collection understands it, whose collation it has unless it names one.
    ///
    /// Source: MongoDB manual, "Collation": operations use the collection's default collation.
    ///
    /// - Throws: what reading it throws.
    func adapted(to collation: Collation?) throws(StoreError) -> Update {
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
        return update
    }

    /// Whether it replaces whole documents.
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
    /// Whether a `$` in a path asks which element the filter matched.
    let isPositional: Bool
    let filters: ArrayFilters
}
