extension TidyRule {
    /// Two spellings of one text are two names, which a `String` as key takes for one.
    static let nameKeys = TidyRule(
        name: "names are keys as `Name`, not as `String`",
        broken: [
            SourceFile("Sources/BSONStore/Store/A.swift", "var a: [String: Int] = [:]\n"),
            SourceFile("Sources/StitchRules/A.swift", "var seen: Set<String> = []\n"),
            SourceFile("Sources/StitchServer/A.swift", "func f() -> [String?: Int] { [:] }\n"),
        ],
        kept: [
            SourceFile("Sources/BSONStore/Store/A.swift", "var a: [Name: Int] = [:]\n"),
            SourceFile("Sources/BSONStore/Store/A.swift", "// not [String: Int]\n"),
            SourceFile("Sources/StitchServer/A.swift", "static let a: Set<String> = [\"a\"]\n"),
            SourceFile("Sources/StitchServer/A.swift", "var names: [String] = []\n"),
            SourceFile("Tests/BSONStoreTests/A.swift", "var a: [String: Int] = [:]\n"),
        ]
    ) { file, _ in
        guard file.isIn(foldersOfNames), !file.isIn(fixedKeys) else { return [] }
        let lines = keyForms.flatMap { occurrences(of: $0, in: file.tokens) }
        // What is written down once, in the source, is ASCII.
        return lines.sorted().filter { !file.lines[$0 - 1].contains("static ") }.map {
            Finding(
                line: $0,
                message: "a `String` as key takes two names for one; use `Name`, or say in the "
                    + "rule why the keys are no names")
        }
    }

    /// Swift's own functions look for characters: "$" with an accent behind it is another one.
    static let byteFunctions = TidyRule(
        name: "names begin and end by their bytes",
        broken: [
            SourceFile("Sources/BSONStore/Store/A.swift", "if key.hasPrefix(\"$\") {}\n"),
            SourceFile("Sources/StitchRules/A.swift", "if path.hasSuffix(other) {}\n"),
        ],
        kept: [
            SourceFile("Sources/BSONStore/Store/A.swift", "if key.hasBytePrefix(\"$\") {}\n"),
            SourceFile("Sources/StitchServer/A.swift", "// key.hasPrefix\n"),
            SourceFile("Sources/StitchSyncCommand/A.swift", "if path.hasSuffix(\".json\") {}\n"),
        ]
    ) { file, _ in
        guard file.isIn(foldersOfNames) else { return [] }
        return byteForms.flatMap { occurrences(of: $0, in: file.tokens) }.sorted().map {
            Finding(line: $0, message: "use hasBytePrefix or hasByteSuffix")
        }
    }

    private static let byteForms = [". hasPrefix (", ". hasSuffix ("]
        .map { SwiftToken.tokens(of: $0) }

    private static let keyForms = ["[ String :", "[ String ? :", "Set < String >"]
        .map { SwiftToken.tokens(of: $0) }

    private static let foldersOfNames = [
        "Sources/BSONStore/", "Sources/StitchRules/", "Sources/StitchServer/",
        "Sources/StitchSync/", "Sources/StitchCommands/", "Sources/StitchMongo/",
        "Sources/StitchSyncTesting/",
    ]

    /// Files whose keys are not names that somebody gives, each with what they are.
    private static let fixedKeys = [
        // The text of a statement, which the store itself writes.
        "Sources/BSONStore/Store/SQLite/SQLiteConnection.swift",
        // Arguments of stages and accumulators, of which the source lists all.
        "Sources/BSONStore/Query/Pipelines/StageArguments.swift",
        "Sources/BSONStore/Query/Pipelines/Accumulators/Accumulator+Scripts.swift",
        "Sources/BSONStore/Query/Pipelines/Stages/LookupStage.swift",
        // The type of a property of the app.
        "Sources/BSONStore/Query/Typed/Field.swift",
        // Stages of the server, of which the source lists all.
        "Sources/BSONStore/Query/Pipelines/PipelineOptions.swift",
        "Sources/BSONStore/Query/Pipelines/PipelineParser.swift",
        "Sources/StitchServer/Backend/ServerSources.swift",
        // Functions of the script language, of which the source lists all.
        "Sources/BSONStore/Script/Interpreter/ScriptGlobal.swift",
        // Kinds of metadata.
        "Sources/BSONStore/Query/Pipelines/PipelineMetadata.swift",
        "Sources/BSONStore/Query/Pipelines/AggregationSource.swift",
        "Sources/BSONStore/Query/Filters/Projections/Projection.swift",
        "Sources/BSONStore/Store/Queries/StoredPlacement.swift",
        "Sources/BSONStore/Query/Expressions/Operators/RequestedMetadata.swift",
        "Sources/BSONStore/Query/Pipelines/PipelineRun.swift",
        "Sources/BSONStore/Query/Expressions/ExpressionFrame.swift",
        "Sources/BSONStore/Query/Expressions/SortOrder.swift",
        "Sources/BSONStore/Query/Expressions/SortOrder+Values.swift",
        "Sources/BSONStore/Query/Filters/Filter+Metadata.swift",
        "Sources/BSONStore/Query/Filters/Projections/DocumentSorter.swift",
        "Sources/StitchServer/Cursors/QueryOptionsCheck.swift",
        // Words of texts, which are found whatever their spelling.
        "Sources/BSONStore/Query/Filters/Tests/TextSearch.swift",
        "Sources/BSONStore/Query/Text/Words/FrenchStemmer.swift",
        // Names of types.
        "Sources/BSONStore/Query/Filters/Parsing/PredicateParser+Arguments.swift",
        "Sources/BSONStore/Query/Filters/Schemas/JSONSchemaParser.swift",
        // Says what was asked for in an error.
        "Sources/BSONStore/Core/Coding/Decoding/BSONDecodingNode.swift",
        // Takes paths of files from an app; the tool gives them as pairs.
        "Sources/StitchRules/Loading/RuleSetLoader.swift",
        // Keys of a file of rules, of which the source lists all.
        "Sources/StitchRules/Source/RuleObjectReader.swift",
        // Commands, their arguments, fail points and parameters, of which the source lists all.
        "Sources/StitchServer/Calls/ServerMetrics.swift",
        "Sources/StitchServer/Dispatch/",
        "Sources/StitchServer/Calls/",
        "Sources/StitchServer/Backend/CommandDefinition.swift",
        "Sources/StitchServer/Backend/ServerStageCheck.swift",
        "Sources/StitchServer/Streams/ChangeStreamStage.swift",
        "Sources/StitchServer/Commands/Diagnostics/GetParameterCommand.swift",
        // Collections of the server's own.
        "Sources/StitchServer/Commands/Documents/WriteBatch.swift",
        // Counters of a reply.
        "Sources/StitchServer/Commands/Documents/BulkWriteCommand.swift",
        // The app's own set; a path is compared with it by bytes.
        "Sources/StitchSync/Decisions/ThreeWayMerge.swift",
        "Sources/StitchSyncTesting/Fixtures/ConflictFixture.swift",
        // Labels of errors.
        "Sources/StitchCommands/MongoFailure.swift",
        "Sources/StitchCommands/MongoErrorClass.swift",
        // Keys of a fixture, of which the source lists all.
        "Sources/StitchSyncTesting/Fixtures/FixtureStep+Reading.swift",
        "Sources/StitchSyncTesting/Fixtures/FixtureObject.swift",
    ]
}
