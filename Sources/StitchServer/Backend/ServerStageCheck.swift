internal import BSONStore

/// The argument checks of the stages whose documents come from the server.
///
/// Source: MongoDB manual, "Aggregation Stages"; the server's texts.
enum ServerStageCheck {
    private static let ofCurrentOp = [
        "allUsers", "idleConnections", "idleCursors", "idleSessions", "localOps", "backtrace",
        "targetAllNodes", "truncateOps",
    ]

    /// Checks `$currentOp`.
    ///
    /// - Throws: 73 (InvalidNamespace) on another database than `admin`, 9 (FailedToParse).
    static func checkCurrentOp(_ value: BSONValue, _ call: CommandCall) throws(CommandFailure) {
        guard call.database == "admin", call.target.stringValue == nil else {
            throw CommandFailure(
                .invalidNamespace,
                "$currentOp must be run against the 'admin' database with {aggregate: 1}")
        }
        guard let options = value.documentValue else {
            throw CommandFailure(
                .failedToParse,
                "$currentOp options must be specified in an object, but found: "
                    + value.type.alias)
        }
        for (name, option) in options {
            guard ofCurrentOp.contains(name) else {
                throw CommandFailure(
                    .failedToParse, "Unrecognized option '\(name)' in $currentOp stage.")
            }
            guard option.boolValue != nil else {
                throw CommandFailure(
                    .failedToParse,
                    "The '\(name)' parameter of the $currentOp stage must be a boolean value, but "
                        + "found: \(option.type.alias)")
            }
        }
    }

    /// Checks `$indexStats`.
    ///
    /// - Throws: 28803.
    static func checkIndexStats(_ value: BSONValue) throws(CommandFailure) {
        guard value.documentValue?.isEmpty == true else {
            throw CommandFailure(
                28803, "The $indexStats stage specification must be an empty object")
        }
    }

    /// Checks `$planCacheStats`.
    ///
    /// - Throws: 9 (FailedToParse).
    static func checkPlanCacheStats(_ value: BSONValue) throws(CommandFailure) {
        guard let options = value.documentValue else {
            throw CommandFailure(
                .failedToParse,
                "$planCacheStats value must be an object. Found: \(value.type.alias)")
        }
        guard options.isEmpty else {
            throw CommandFailure(
                .failedToParse, "$planCacheStats parameters object must be empty. Found: object")
        }
    }

    /// Checks `$collStats`.
    ///
    /// - Throws: 40166, 40415 for an unknown field, 14 for a wrong type.
    static func checkCollStats(_ value: BSONValue) throws(CommandFailure) {
        guard let options = value.documentValue else {
            throw CommandFailure(
                40166,
                "$collStats must take a nested object but found: $collStats: "
                    + ShellText.text(of: value))
        }
        let parts: [String: FieldKind] = [
            "latencyStats": .document, "storageStats": .document, "count": .document,
            "queryExecStats": .document,
        ]
        try CommandSchema(fields: parts, required: []).check(options, named: "$collStats")
    }

    /// Checks the namespace of `$listSessions`.
    ///
    /// - Throws: 73 (InvalidNamespace) on another collection than `config.system.sessions`.
    static func checkListSessions(_ call: CommandCall) throws(CommandFailure) {
        guard call.database == "config", call.target.stringValue == "system.sessions" else {
            throw CommandFailure(
                .invalidNamespace, "$listSessions may only be run against config.system.sessions")
        }
    }

    /// Checks `$listLocalSessions`.
    ///
    /// - Throws: 73 (InvalidNamespace) on a collection, 40415 for an unknown option, 14 for a
    ///   wrong type.
    static func checkListLocalSessions(
        _ value: BSONValue, _ call: CommandCall
    ) throws(CommandFailure) {
        guard call.target.stringValue == nil else {
            throw CommandFailure(
                .invalidNamespace,
                "$listLocalSessions must be run against the database with {aggregate: 1}, not a "
                    + "collection")
        }
        let options = value.documentValue ?? [:]
        try CommandSchema(fields: ["allUsers": .bool, "users": .array], required: [])
            .check(options, named: "$listLocalSessions")
    }
}
