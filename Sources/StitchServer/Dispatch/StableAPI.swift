internal import BSONStore

/// The check that commands of strict clients (`apiStrict`) stay within version 1 of the Stable API.
///
/// Source: MongoDB manual, "Stable API"; `stability` in the server's IDL files.
enum StableAPI {
    /// Checks the arguments that request the Stable API, and what they forbid.
    ///
    /// - Throws: 14 for a wrong type, 322 for another version, 323 for features outside the
    ///   version, 324 for deprecated ones, 4886600 without a version.
    static func check(_ body: BSONDocument, _ definition: CommandDefinition) throws(CommandFailure)
    {
        let kinds = [
            ("apiVersion", FieldKind.string), ("apiStrict", .bool), ("apiDeprecationErrors", .bool),
        ]
        for (field, kind) in kinds {
            guard let value = body[field] else { continue }
            try kind.check(value, named: "APIParametersFromClient.\(field)")
        }
        guard let version = body["apiVersion"] else {
            for field in ["apiStrict", "apiDeprecationErrors"] where body[field] != nil {
                throw CommandFailure(
                    4_886_600, "Provided \(field) without passing apiVersion")
            }
            return
        }
        guard version.stringValue == "1" else {
            throw CommandFailure(322, "API version must be \"1\"")
        }
        if body["apiStrict"]?.isTrue == true { try checkStrictly(body, definition) }
        guard body["apiDeprecationErrors"]?.isTrue != true || definition.name != "testDeprecation"
        else {
            throw CommandFailure(
                324,
                "Provided apiDeprecationErrors:true, but the command testDeprecation is deprecated "
                    + "in API Version 1")
        }
    }

    private static func checkStrictly(
        _ body: BSONDocument, _ definition: CommandDefinition
    ) throws(CommandFailure) {
        guard definition.traits.contains(.stable) else {
            throw refusal(
                "Provided apiStrict:true, but the command \(definition.name) is not in API Version 1. "
                    + "Information on supported commands and migrations in API Version 1 can be "
                    + "found at https://dochub.mongodb.org/core/manual-versioned-api")
        }
        try checkArguments(of: definition.name, body)
        guard definition.name == "explain", let inner = body["explain"]?.documentValue else {
            return
        }
        try checkArguments(of: inner.keys.first ?? "", inner)
    }

    private static func checkArguments(
        of command: String, _ body: BSONDocument
    ) throws(CommandFailure) {
        if body[command]?.stringValue == "system.js", writes.contains(command) {
            throw refusal(
                "Provided apiStrict:true, but the command \(command) attempts to write to "
                    + "system.js")
        }
        try checkFields(body, unstableArguments[command] ?? [], of: command)
        switch command {
        case "createIndexes": try checkIndexes(body["indexes"])
        case "collMod":
            guard let index = body["index"]?.documentValue else { break }
            try checkFields(index, ["prepareUnique"], of: "collMod.index")
        default: break
        }
        if ["aggregate", "create", "collMod"].contains(command) {
            try checkStages(body["pipeline"])
        }
    }

    private static let writes: Set<String> = ["insert", "update", "delete", "findAndModify"]

    private static let unstableArguments: [String: Set<String>] = [
        "aggregate": [
            "explain", "runtimeConstants", "isMapReduceCommand", "collectionUUID",
            "encryptionInformation", "$queryOptions", "$_requestReshardingResumeToken",
            "$_requestResumeToken", "$_resumeAfter",
        ],
        "collMod": ["dryRun"],
        "create": [
            "autoIndexId", "capped", "indexOptionDefaults", "max", "size", "storageEngine",
        ],
        "createIndexes": ["ignoreUnknownIndexOptions", "returnOnStart", "collectionUUID"],
        "delete": ["collectionUUID", "encryptionInformation"],
        "find": [
            "allowSpeculativeMajorityRead", "awaitData", "collectionUUID", "max", "min",
            "noCursorTimeout", "ntoreturn", "oplogReplay", "options", "readOnce", "returnKey",
            "runtimeConstants", "showRecordId", "tailable", "term", "$queryOptions",
            "$_requestResumeToken", "$_resumeAfter",
        ],
        "insert": ["collectionUUID", "encryptionInformation"],
        "update": ["collectionUUID", "encryptionInformation"],
    ]

    private static func checkFields(
        _ document: BSONDocument, _ unstable: Set<String>, of name: String
    ) throws(CommandFailure) {
        for key in document.keys where unstable.contains(key) {
            throw refusal("BSON field '\(name).\(key)' is not allowed with apiStrict:true.")
        }
    }

    private static func checkIndexes(_ indexes: BSONValue?) throws(CommandFailure) {
        for index in indexes?.arrayValue ?? [] {
            guard let index = index.documentValue else { continue }
            try checkFields(
                index,
                [
                    "background", "bucketSize", "dropDups", "originalSpec", "prepareUnique",
                    "sparse", "storageEngine",
                ], of: "createIndexes")
            let keys = index["key"]?.documentValue ?? BSONDocument()
            guard !keys.contains(where: { $0.value.stringValue == "text" }) else {
                throw refusal("text indexes cannot be created with apiStrict: true")
            }
        }
    }

    private static let unstableStages: Set<String> = [
        "$currentOp", "$indexStats", "$listLocalSessions", "$listSessions", "$planCacheStats",
        "$listSearchIndexes",
    ]

    private static func checkStages(_ pipeline: BSONValue?) throws(CommandFailure) {
        for (name, argument) in NestedStages.list(pipeline?.arrayValue ?? []) {
            guard !unstableStages.contains(name) else {
                throw refusal(
                    "stage \(name) is not allowed with 'apiStrict: true' in API Version 1")
            }
            guard
                name != "$collStats"
                    || argument.documentValue?.keys.allSatisfy({ $0 == "count" }) ?? true
            else {
                throw refusal("only the 'count' option to $collStats is supported in API Version 1")
            }
        }
    }

    private static func refusal(_ message: String) -> CommandFailure {
        CommandFailure(323, message)
    }
}
