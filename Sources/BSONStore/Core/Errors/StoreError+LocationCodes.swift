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
    /// A number in a command is out of its bounds.
    package static let valueOutOfBounds = Self(rawValue: 51024)

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
    package static let clusterTimeUnavailable = Self(rawValue: 51144)
    /// A variable of a command reads a field.
    package static let variableReadsField = Self(rawValue: 4_890_500)
    /// A path has too many parts.
    package static let fieldPathTooLong = Self(rawValue: 5_729_100)
}

extension StoreError {
    /// Returns an error with a number that has no name.
    ///
    /// - Parameters:
    ///   - code: the number of a place in the server's source.
    ///   - message: the server's text at that place.
    package static func location(_ code: Int32, _ message: String) -> StoreError {
        StoreError(Code(rawValue: code), message)
    }
}
