internal import BSONStore
internal import StitchSync

/// The conditions of a write in MongoDB's query language (rules R1 and R6); pure.
///
/// MongoDB's equality is wider than ours: a number equals that of another type, a value equals an
/// array that contains it, null equals a missing field. Each condition therefore also tests the
/// type.
enum MongoWriteFilter {
    /// Returns the filter of a conditional write.
    static func filter(_ write: RemoteWrite) -> BSONDocument {
        var filter: BSONDocument = ["_id": write.documentID]
        append(write.condition.version, to: &filter)
        for (path, value) in write.condition.values {
            filter.append(path, .document(exactly(value)))
        }
        for path in write.condition.missing {
            filter.append(path, ["$exists": false])
        }
        if let content = write.condition.content {
            var whole = content
            if let version = write.condition.version.value {
                whole.append(DocumentVersion.fieldName, version)
            }
            filter.append("$expr", .document(isWholly(whole)))
        }
        return filter
    }

    /// Returns the filter of a write on a document that was just read and found to be as expected.
    static func filter(_ write: RemoteWrite, asRead document: BSONDocument) -> BSONDocument {
        ["_id": write.documentID, "$expr": .document(isWholly(document))]
    }

    /// Returns the filter of a write whose expected document is too large for the command.
    static func versionFilter(_ write: RemoteWrite) -> BSONDocument {
        var filter: BSONDocument = ["_id": write.documentID]
        append(write.condition.version, to: &filter)
        return filter
    }

    /// Returns the condition that the document is exactly this one, with its fields in this order.
    private static func isWholly(_ document: BSONDocument) -> BSONDocument {
        ["$eq": ["$$ROOT", ["$literal": .document(document)]]]
    }

    private static func append(_ version: VersionField, to filter: inout BSONDocument) {
        let field = DocumentVersion.fieldName
        switch version {
        case .absent: filter.append(field, ["$exists": false])
        case .foreign(let value): filter.append(field, .document(exactly(value)))
        case .version(let version):
            filter.append("\(field).id", ["$eq": .string(version.lineage), "$type": "string"])
            filter.append("\(field).v", ["$eq": .int64(version.counter)])
            if let operation = version.operation {
                filter.append("\(field).op", .document(exactly(operation)))
            } else {
                filter.append("\(field).op", ["$exists": false])
            }
        }
    }

    /// Returns the condition that a value equals this one, has its type and is not inside an array.
    static func exactly(_ value: BSONValue) -> BSONDocument {
        switch value {
        case .undefined: ["$type": 6, "$not": ["$type": 4]]
        case .null: ["$type": 10, "$not": ["$type": 4]]
        case .array(let elements): ["$eq": value, "$size": .int32(Int32(clamping: elements.count))]
        default:
            ["$eq": value, "$type": .int32(typeAlias(value)), "$not": ["$type": 4]]
        }
    }

    /// Returns a type's number for `$type`.
    ///
    /// Source: MongoDB's manual, "$type".
    private static func typeAlias(_ value: BSONValue) -> Int32 {
        switch value {
        case .minKey: -1
        default: Int32(value.type.rawValue)
        }
    }
}
