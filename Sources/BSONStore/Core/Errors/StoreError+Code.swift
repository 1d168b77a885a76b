extension StoreError {
    /// MongoDB's number of a kind of error.
    ///
    /// A code prints as the server prints it: by its name, or as `Location40353` where the number
    /// stands for one place in the server's source.
    public struct Code: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        /// MongoDB's number.
        public let rawValue: Int32

        /// Creates a code of any number.
        public init(rawValue: Int32) { self.rawValue = rawValue }

        private init(_ rawValue: Int32) { self.rawValue = rawValue }

        /// The server's name of the number.
        public var description: String { ErrorNames.name(of: rawValue) }
    }
}

extension StoreError.Code {
    /// A fault inside this library.
    public static let internalError = Self(1)
    /// An argument or operator is not valid.
    public static let badValue = Self(2)
    /// A required field is missing.
    public static let noSuchKey = Self(4)
    /// A view leads back to itself.
    public static let graphContainsCycle = Self(5)
    /// A filter, update or option cannot be parsed.
    public static let failedToParse = Self(9)
    /// The file is not a store, or not a database at all.
    public static let notADatabase = Self(12)
    /// The access policy forbids the operation.
    public static let unauthorized = Self(13)
    /// A value has a type that the operation does not take.
    public static let typeMismatch = Self(14)
    /// A number is out of its range, or something is nested too deeply.
    public static let overflow = Self(15)
    /// The operation is not allowed here.
    public static let illegalOperation = Self(20)
    /// Bytes are not BSON.
    public static let invalidBSON = Self(22)
    /// A transaction waited too long for the lock for writing.
    public static let lockTimeout = Self(24)
    /// The collection does not exist.
    public static let namespaceNotFound = Self(26)
    /// The index does not exist.
    public static let indexNotFound = Self(27)
    /// A path leads through a value that has no fields.
    public static let pathNotViable = Self(28)
    /// An update would pad an array with too many nulls.
    public static let cannotBackfillArray = Self(34)
    /// Reading or writing the file failed; if it was a sync of the file, the last commit may be
    /// lost.
    public static let ioError = Self(39)
    /// Two operators of an update change the same path.
    public static let conflictingUpdateOperators = Self(40)
    /// Another process locked the file for longer than the busy timeout.
    public static let busy = Self(46)
    /// The collection already exists.
    public static let namespaceExists = Self(48)
    /// The operation exceeded its time limit.
    public static let maxTimeMSExpired = Self(50)
    /// A field's name begins with a dollar where that is not allowed.
    public static let dollarPrefixedFieldName = Self(52)
    /// The `_id` has a type that an id cannot have.
    public static let invalidIDField = Self(53)
    /// An equality of an upsert's filter names a field twice.
    public static let notSingleValueField = Self(54)
    /// A path has an empty part.
    public static let emptyFieldName = Self(56)
    /// A path has a dot in a place that does not allow one.
    public static let dottedFieldName = Self(57)
    /// The `_id` of a document cannot change.
    public static let immutableField = Self(66)
    /// The index cannot be created.
    public static let cannotCreateIndex = Self(67)
    /// Options contradict each other.
    public static let invalidOptions = Self(72)
    /// A name of a database or collection is not allowed.
    public static let invalidNamespace = Self(73)
    /// The same keys have an index with another name or with other options.
    public static let indexOptionsConflict = Self(85)
    /// The index name belongs to an index with other keys.
    public static let indexKeySpecsConflict = Self(86)
    /// The store was closed.
    public static let closed = Self(91)
    /// An upsert's filter sets only a part of the `_id`.
    public static let notExactValueField = Self(111)
    /// MongoDB supports the option, this library does not.
    public static let commandNotSupported = Self(115)
    /// The document does not pass the collection's validator.
    public static let documentValidationFailure = Self(121)
    /// A script cannot be parsed, or threw an error.
    public static let scriptFailed = Self(139)
    /// SQLite or a query exceeded its memory limit.
    public static let exceededMemoryLimit = Self(146)
    /// The file was written by a program from before the first release; it was left untouched.
    public static let olderSchema = Self(157)
    /// The file was written by a newer version of this library; it was left untouched.
    public static let newerSchema = Self(158)
    /// A part of a date is out of its range.
    public static let durationOverflow = Self(159)
    /// The collation requires another version of the collation rules.
    public static let incompatibleCollationVersion = Self(161)
    /// Too many views build on one another.
    public static let viewDepthLimitExceeded = Self(165)
    /// The operation does not support views.
    public static let commandNotSupportedOnView = Self(166)
    /// Views do not support the option or stage.
    public static let optionNotSupportedOnView = Self(167)
    /// An expression has no such operator.
    public static let invalidPipelineOperator = Self(168)
    /// A document has arrays in two fields of a compound index.
    public static let cannotIndexParallelArrays = Self(171)
    /// The file cannot be opened.
    public static let cannotOpen = Self(176)
    /// Several indexes have the given keys.
    public static let ambiguousIndexKeyPattern = Self(181)
    /// The index has no such option.
    public static let invalidIndexSpecificationOption = Self(197)
    /// An operator is not allowed in this kind of filter.
    public static let queryFeatureNotAllowed = Self(224)
    /// Pipelines are nested too deeply.
    public static let maxSubPipelineDepthExceeded = Self(232)
    /// A value cannot be converted to the wanted type.
    public static let conversionFailure = Self(241)
    /// A multi-document transaction cannot run the operation.
    public static let operationNotSupportedInTransaction = Self(263)
    /// The feed no longer keeps the position in the change feed, or never had it.
    public static let changeStreamHistoryLost = Self(286)
    /// No index can answer the query in the requested way.
    public static let noQueryExecutionPlans = Self(291)
    /// A sort needs more memory than it may use.
    public static let queryExceededMemoryLimitNoDiskUseAllowed = Self(292)
    /// The file or one of its documents is damaged.
    public static let corrupt = Self(301)
    /// The index has duplicate keys and cannot become unique.
    public static let cannotConvertIndexToUnique = Self(359)
    /// The store was opened for reading only, or the file cannot be written.
    public static let readOnly = Self(371)
    /// The store keeps no change feed.
    public static let changeStreamNotEnabled = Self(376)
    /// A document is larger than 16 MiB.
    public static let documentTooLarge = Self(10334)
    /// The unique key already exists.
    public static let duplicateKey = Self(11000)
    /// The operation was interrupted because the server shuts down.
    public static let interruptedAtShutdown = Self(11600)
    /// The operation was interrupted.
    public static let interrupted = Self(11601)
    /// The disk is full; earlier data is intact.
    public static let diskFull = Self(14031)
}

/// Our names for numbers of MongoDB 7.0 that stand for one place in its source.
///
/// The numbers print as MongoDB prints them: `StoreError.Code.unknownStage` is `Location40324`.
extension StoreError.Code {
    // MARK: - Indexes

    /// An index has too many keys.
    package static let tooManyIndexKeys = Self(rawValue: 13103)
    /// A field of a `2dsphere` index holds no place.
    package static let geoKeysNotExtractable = Self(rawValue: 16755)
    /// A hashed index cannot be unique.
    package static let hashedIndexNotUnique = Self(rawValue: 16764)
    /// A field of a hashed index holds an array.
    package static let arrayInHashedIndex = Self(rawValue: 16766)
    /// A field of a `2d` index holds an array that is not a list of places.
    package static let malformedLocation = Self(rawValue: 16804)
    /// An index has more than one hashed key.
    package static let tooManyHashedKeys = Self(rawValue: 31303)
    /// `min` and `max` need a hint.
    package static let indexBoundsWithoutHint = Self(rawValue: 51173)
    /// `min` or `max` does not have the keys of the hinted index.
    package static let indexBoundsIncompatible = Self(rawValue: 51174)
    /// `min` does not come before `max`.
    package static let indexBoundsReversed = Self(rawValue: 51175)

    // MARK: - Commands and updates

    /// `$out` cannot replace a capped collection.
    package static let outputIsCapped = Self(rawValue: 17152)
    /// An update would make the document larger than 16 MiB.
    package static let updatedDocumentTooLarge = Self(rawValue: 17419)
    /// An upsert would insert a document larger than 16 MiB.
    package static let upsertedDocumentTooLarge = Self(rawValue: 17420)
    /// A command or stage has the same field twice; MongoDB 8 names it IDLDuplicateField.
    package static let idlDuplicateField = Self(rawValue: 40413)
    /// A required field of a command or stage is missing; MongoDB 8 names it IDLFailedToParse.
    package static let idlFailedToParse = Self(rawValue: 40414)
    /// A command or stage has no such field; MongoDB 8 names it IDLUnknownField.
    package static let idlUnknownField = Self(rawValue: 40415)

    // MARK: - Filters and sorts

    /// The direction of a sort key is not a number.
    package static let sortDirectionNotNumber = Self(rawValue: 15974)
    /// The direction of a sort key is neither 1 nor -1.
    package static let sortDirectionUnknown = Self(rawValue: 15975)
    /// The direction of a sort key is an expression other than `$meta`.
    package static let sortExpressionNotMeta = Self(rawValue: 17312)
    /// A sort asks for metadata that has no order.
    package static let sortMetadataUnknown = Self(rawValue: 31138)
    /// A regular expression cannot be parsed.
    package static let invalidRegularExpression = Self(rawValue: 51091)
    /// A key of `patternProperties` is an invalid regular expression.
    package static let invalidPatternProperty = Self(rawValue: 51092)
    /// A regular expression has no such option.
    package static let unknownRegularExpressionOption = Self(rawValue: 51108)
    /// `$near` is not allowed at this place of a filter.
    package static let nearNotAllowed = Self(rawValue: 5_626_500)

    // MARK: - Projections

    /// A projection names a path below one that it already names.
    package static let pathCollisionBelow = Self(rawValue: 31249)
    /// A projection names a path twice, or one above another.
    package static let pathCollision = Self(rawValue: 31250)
    /// The positional operator finds no matching element.
    package static let positionalElementNotFound = Self(rawValue: 51246)
    /// The positional operator points past the end of the array.
    package static let positionalElementMismatch = Self(rawValue: 51247)
    /// A projection names no field.
    package static let emptyProjection = Self(rawValue: 51272)

    // MARK: - Pipelines

    /// `$match` with `$text` is not the first stage.
    package static let textMatchNotFirst = Self(rawValue: 17313)
    /// A stage is not allowed in the pipeline of `$unionWith`.
    package static let stageNotAllowedInUnion = Self(rawValue: 31441)
    /// A stage does not have exactly one field.
    package static let stageNotSingleField = Self(rawValue: 40323)
    /// A pipeline has no such stage.
    package static let unknownStage = Self(rawValue: 40324)
    /// A stage is not allowed in `$facet`.
    package static let stageNotAllowedInFacet = Self(rawValue: 40600)
    /// A stage that must end the pipeline is not its last.
    package static let stageNotLast = Self(rawValue: 40601)
    /// A stage that must begin the pipeline is not its first.
    package static let stageNotFirst = Self(rawValue: 40602)
    /// `$geoNear` is not the first stage.
    package static let geoNearNotFirst = Self(rawValue: 40603)
    /// A stage is not allowed in the pipeline of `$lookup`.
    package static let stageNotAllowedInLookup = Self(rawValue: 51047)

    // MARK: - Expressions

    /// An expression has other fields in addition to its operator.
    package static let expressionNotSingleField = Self(rawValue: 15983)
    /// An operator does not have the one number of arguments that it takes.
    package static let argumentCountMismatch = Self(rawValue: 16020)
    /// A literal document has the same field twice.
    package static let duplicateLiteralField = Self(rawValue: 16406)
    /// An argument of `$mod` is not a number.
    package static let moduloOfNonNumber = Self(rawValue: 16611)
    /// A single dollar is not a path.
    package static let emptyFieldPath = Self(rawValue: 16872)
    /// An expression uses an undefined variable.
    package static let undefinedVariable = Self(rawValue: 17276)
    /// An operator has too few or too many arguments.
    package static let argumentCountOutOfRange = Self(rawValue: 28667)
    /// `$$CLUSTER_TIME` has no value here.
    package static let variableUnavailable = Self(rawValue: 51144)
    /// A variable of a command reads a field.
    package static let variableReadsField = Self(rawValue: 4_890_500)
    /// A path has too many parts.
    package static let fieldPathTooLong = Self(rawValue: 5_729_100)
}
