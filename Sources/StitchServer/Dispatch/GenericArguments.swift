internal import BSONStore

/// The arguments that every command accepts.
struct GenericArguments {
    /// The time by which the command must finish; `nil` without a limit.
    let deadline: ContinuousClock.Instant?
    /// The logical session of the command.
    let session: BSONDocument?
    /// The transaction or retryable write that the command is part of.
    let transaction: TransactionRequest?

    /// Reads and checks the arguments.
    ///
    /// - Throws: 2, 9, 14, 72 and others with MongoDB's texts.
    init(_ body: BSONDocument, _ definition: CommandDefinition) throws(CommandFailure) {
        // In a getMore, `maxTimeMS` is how long to wait for data, not a time limit.
        deadline =
            definition.cursor == .continues ? nil : try Self.deadline(body["maxTimeMS"])
        session = try Self.session(body["lsid"])
        transaction = try TransactionRequest(body, definition.signature, hasSession: session != nil)
        try WriteConcernCheck.fields(body["writeConcern"], definition)
        try Self.checkReadConcern(body["readConcern"], definition, isAlone: transaction == nil)
        if let transaction, transaction.isTransaction {
            try Self.checkConcerns(body, definition, of: transaction)
        }
        try Self.checkReadPreference(body["$readPreference"])
        try StableAPI.check(body, definition)
    }

    private static func deadline(
        _ value: BSONValue?
    ) throws(CommandFailure) -> ContinuousClock.Instant? {
        guard let value, value.type != .null else { return nil }
        try FieldKind.number.check(value, named: "maxTimeMS")
        guard isWhole(value), let milliseconds = value.wholeNumber else {
            throw CommandFailure(.failedToParse, "maxTimeMS has non-integral value")
        }
        guard (0...Int(Int32.max)).contains(milliseconds) else {
            throw CommandFailure(
                .badValue,
                "\(milliseconds) value for maxTimeMS is out of range [0, 2147483647]")
        }
        return milliseconds == 0 ? nil : .now + .milliseconds(milliseconds)
    }

    /// Whether a number is finite and has no fraction.
    private static func isWhole(_ value: BSONValue) -> Bool {
        switch value {
        case .double(let number): number.isFinite && number == number.rounded()
        case .decimal128(let number):
            number.doubleValue.isFinite && number.doubleValue == number.doubleValue.rounded()
        default: true
        }
    }

    private static func session(_ value: BSONValue?) throws(CommandFailure) -> BSONDocument? {
        guard let value, value.type != .null else { return nil }
        guard let session = value.documentValue else {
            throw CommandFailure(
                .typeMismatch,
                "BSON field 'OperationSessionInfo.lsid' is the wrong type "
                    + "'\(value.type.alias)', expected type 'object'")
        }
        guard SessionTable.hasID(session) else {
            guard session["id"] != nil else {
                throw CommandFailure(
                    40414,
                    "BSON field 'OperationSessionInfo.lsid.id' is missing but a required field")
            }
            throw CommandFailure(
                .typeMismatch,
                "BSON field 'OperationSessionInfo.lsid.id' is the wrong binData type, expected "
                    + "type 'UUID'")
        }
        return session
    }

    /// Checks that in a transaction only the first command and the commit carry concerns.
    ///
    /// Source: the server's `transaction_validation.cpp` and `service_entry_point_common.cpp`.
    private static func checkConcerns(
        _ body: BSONDocument, _ definition: CommandDefinition, of transaction: TransactionRequest
    ) throws(CommandFailure) {
        guard !definition.traits.contains(.endsTransaction) else { return }
        guard body["writeConcern"]?.documentValue?.isEmpty ?? true else {
            throw CommandFailure(
                .invalidOptions, "writeConcern is not allowed within a multi-statement transaction")
        }
        guard let concern = body["readConcern"]?.documentValue, !concern.isEmpty else { return }
        guard transaction.starts else {
            throw CommandFailure(
                .invalidOptions,
                "Only the first command in a transaction may specify a readConcern")
        }
        let level = concern["level"]?.stringValue ?? "local"
        guard ["local", "majority", "snapshot"].contains(level) else {
            throw CommandFailure(
                .invalidOptions,
                "The readConcern level must be either 'local' (default), 'majority' or 'snapshot' "
                    + "in order to run in a transaction")
        }
    }

    private static func checkReadConcern(
        _ value: BSONValue?, _ definition: CommandDefinition, isAlone: Bool
    ) throws(CommandFailure) {
        guard let value, value.type != .null else { return }
        guard let concern = value.documentValue else {
            throw CommandFailure(
                .typeMismatch,
                "\"readConcern\" had the wrong type. Expected object, found "
                    + "\(value.type.alias)")
        }
        for (key, value) in concern {
            switch key {
            case "level": try checkLevel(value, definition, isAlone: isAlone)
            case "afterClusterTime", "atClusterTime": try checkTime(value, key)
            case "afterOpTime", "provenance", "allowTransactionTableSnapshot",
                "waitLastStableRecoveryTimestamp":
                break
            default:
                throw CommandFailure(
                    40415, "BSON field 'readConcern.\(key)' is an unknown field.")
            }
        }
    }

    private static func checkTime(
        _ value: BSONValue, _ field: String
    ) throws(CommandFailure) {
        // Unlike other arguments, a null is not a missing time.
        guard value.type != .null else {
            throw CommandFailure(
                .typeMismatch,
                "BSON field 'readConcern.\(field)' is the wrong type 'null', expected type "
                    + "'timestamp'")
        }
        try FieldKind.timestamp.check(value, named: "readConcern.\(field)")
        guard case .timestamp(let time) = value, time.seconds == 0, time.increment == 0 else {
            return
        }
        throw CommandFailure(.invalidOptions, "\(field) cannot be a null timestamp")
    }

    private static func checkLevel(
        _ value: BSONValue, _ definition: CommandDefinition, isAlone: Bool
    ) throws(CommandFailure) {
        if value.type == .null { return }
        guard let level = value.stringValue else {
            throw CommandFailure(
                .typeMismatch,
                "BSON field 'readConcern.level' is the wrong type '\(value.type.alias)', "
                    + "expected type 'string'")
        }
        guard ["local", "majority", "linearizable", "available", "snapshot"].contains(level)
        else {
            throw CommandFailure(
                .badValue,
                "Enumeration value '\(level)' for field 'readConcern.level' is not a valid value.")
        }
        // In a transaction, the level is that of all its commands. A getMore may name any level; it
        // reads with that of its cursor.
        guard
            !isAlone || level == "local" || definition.cursor == .continues
                || definition.traits.contains(.takesReadConcern)
        else {
            throw CommandFailure(
                .invalidOptions,
                "Command \(definition.name) does not support { readConcern: { level: \"\(level)\" } } :: "
                    + "caused by :: read concern not supported")
        }
    }

    private static func checkReadPreference(_ value: BSONValue?) throws(CommandFailure) {
        guard let value, value.type != .null else { return }
        guard let mode = value.documentValue?["mode"] else { return }
        let modes = [
            "primary", "primaryPreferred", "secondary", "secondaryPreferred", "nearest",
        ]
        guard let text = mode.stringValue, modes.contains(text) else {
            throw CommandFailure(
                .failedToParse,
                "Could not parse $readPreference mode '\(mode.stringValue ?? "")'. Only the modes "
                    + "'primary', 'primaryPreferred', 'secondary', 'secondaryPreferred', and "
                    + "'nearest' are supported.")
        }
    }
}
