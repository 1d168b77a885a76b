internal import BSONStore

/// Checks the arguments of stages whose documents come from the server.
///
/// Source: MongoDB manual, "Aggregation Stages"; the server's texts.
enum ServerStage {
    private static let ofCurrentOp = [
        "allUsers", "idleConnections", "idleCursors", "idleSessions", "localOps", "backtrace",
        "targetAllNodes", "truncateOps",
    ]

    /// Checks `$currentOp`.
    ///
    /// - Throws: 73 (InvalidNamespace) on another database than `admin`, 9 (FailedToParse).
    static func checkCurrentOp(_ value: BSONValue, _ call: CommandCall) throws(CommandFault) {
        guard call.database == "admin", call.target.stringValue == nil else {
            throw CommandFault(
                .invalidNamespace,
                "$currentOp must be run against the 'admin' database with {aggregate: 1}")
        }
        guard let options = value.documentValue else {
            throw CommandFault(
                .failedToParse,
                "$currentOp options must be specified in an object, but found: "
                    + value.type.serverName)
        }
        for (name, option) in options {
            guard ofCurrentOp.contains(name) else {
                throw CommandFault(
                    .failedToParse, "Unrecognized option '\(name)' in $currentOp stage.")
            }
            guard option.boolValue != nil else {
                throw CommandFault(
                    .failedToParse,
                    "The '\(name)' parameter of the $currentOp stage must be a boolean value, but "
                        + "found: \(option.type.serverName)")
            }
        }
    }

    /// Checks `$indexStats`.
    ///
    /// - Throws: 28803.
    static func checkIndexStats(_ value: BSONValue) throws(CommandFault) {
        guard value.documentValue?.isEmpty == true else {
            throw CommandFault(
                28803, "The $indexStats stage specification must be an empty object")
        }
    }

    /// Checks `$planCacheStats`.
    ///
    /// - Throws: 9 (FailedToParse).
    static func checkPlanCacheStats(_ value: BSONValue) throws(CommandFault) {
        guard let options = value.documentValue else {
            throw CommandFault(
                .failedToParse,
                "$planCacheStats value must be an object. Found: \(value.type.serverName)")
        }
        guard options.isEmpty else {
            throw CommandFault(
                .failedToParse, "$planCacheStats parameters object must be empty. Found: object")
        }
    }

    /// Checks `$collStats`.
    ///
    /// - Throws: 40166, 40415 for an unknown part, 14 for one of another type.
    static func checkCollStats(_ value: BSONValue) throws(CommandFault) {
        guard let options = value.documentValue else {
            throw CommandFault(
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

    /// Checks `$listLocalSessions`.
    ///
    /// - Throws: 73 (InvalidNamespace) on a collection, 40415 for an unknown option, 14 for one of
    ///   another type.
    static func checkListLocalSessions(
        _ value: BSONValue, _ call: CommandCall
    ) throws(CommandFault) {
        guard call.target.stringValue == nil else {
            throw CommandFault(
                .invalidNamespace,
                "$listLocalSessions must be run against the database with {aggregate: 1}, not a "
                    + "collection")
        }
        let options = value.documentValue ?? [:]
        try CommandSchema(fields: ["allUsers": .bool, "users": .array], required: [])
            .check(options, named: "$listLocalSessions")
    }
}
