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
