internal import BSONStore

/// The checks of a write concern: its fields, and whether the only member can satisfy it.
enum WriteConcernCheck {
    private static let membersMax = 50

    /// Checks the fields of a command's `writeConcern`; null and undefined ones count as missing.
    ///
    /// - Throws: 9, 14, 72 and 40415 with MongoDB's texts.
    ///
    /// Source: the server's `write_concern_options.cpp` and `write_concern.idl`.
    static func fields(
        _ value: BSONValue?, _ definition: CommandDefinition
    ) throws(CommandFailure) {
        guard let value, value.type != .null else { return }
        guard let concern = value.documentValue else {
            throw CommandFailure(
                .typeMismatch,
                "\"writeConcern\" had the wrong type. Expected object, found "
                    + "\(value.type.alias)")
        }
        guard definition.traits.contains(.takesWriteConcern) else {
            throw CommandFailure(
                .invalidOptions, "Command does not support writeConcern: \(definition.name)")
        }
        for (key, value) in concern {
            switch key {
            case "w": try members(value)
            case "j", "fsync": try FieldKind.flag.check(value, named: "writeConcern.\(key)")
            case "wtimeout": try time(value)
            case "provenance", "getLastError", "source": break
            default:
                throw CommandFailure(
                    40415, "BSON field 'writeConcern.\(key)' is an unknown field.")
            }
        }
        guard ["j", "fsync"].allSatisfy({ concern[$0]?.isTrue == true }) else { return }
        throw CommandFailure(.failedToParse, "fsync and j options cannot be used together")
    }

    private static func members(_ value: BSONValue) throws(CommandFailure) {
        switch value {
        case .string, .null, .undefined: return
        case .document(let tags): try self.tags(tags)
        case .int32, .int64, .double, .decimal128:
            guard let members = value.wholeNumber, (0...membersMax).contains(members), !value.isNaN
            else {
                throw CommandFailure(
                    .failedToParse,
                    "w has to be a non-negative number and not greater than \(membersMax)")
            }
        default:
            throw CommandFailure(
                .failedToParse,
                "w has to be a number, string, or object; found: \(value.type.alias)")
        }
    }

    private static func tags(_ tags: BSONDocument) throws(CommandFailure) {
        guard !tags.isEmpty else {
            throw CommandFailure(
                .failedToParse, "tagged write concern requires tags to be specified")
        }
        for (key, value) in tags where FieldKind.number.types.allSatisfy({ $0 != value.type.alias })
        {
            throw CommandFailure(
                .failedToParse,
                "tags must be a single level document with only number values; found: "
                    + "\(value.type.alias) for \(key)")
        }
    }

    private static func time(_ value: BSONValue) throws(CommandFailure) {
        guard value.wholeNumber ?? 0 <= Int(Int32.max) else {
            throw CommandFailure(
                .failedToParse, "wtimeout must be less than or equal to \(Int32.max)")
        }
    }

    /// Returns the `writeConcernError` for a command that asks for more members than there are; the
    /// command still runs.
    ///
    /// Source: the server's `replication_coordinator_impl.cpp`.
    static func error(_ call: CommandCall, _ definition: CommandDefinition) -> BSONValue? {
        guard definition.traits.contains(.takesWriteConcern),
            let wanted = call.document("writeConcern")?["w"]
        else { return nil }
        if let name = wanted.type == .null ? "" : wanted.stringValue {
            guard name != "majority" else { return nil }
            return text(
                79, "UnknownReplWriteConcern",
                "No write concern mode named '\(name)' found in replica set configuration", wanted)
        }
        guard let members = wanted.wholeNumber, members > 1 else { return nil }
        return text(
            100, "UnsatisfiableWriteConcern", "Not enough data-bearing nodes", wanted)
    }

    private static func text(
        _ code: Int32, _ name: String, _ message: String, _ wanted: BSONValue
    ) -> BSONValue {
        [
            "code": .int32(code), "codeName": .string(name), "errmsg": .string(message),
            "errInfo": [
                "writeConcern": ["w": wanted, "wtimeout": 0, "provenance": "clientSupplied"]
            ],
        ]
    }
}
