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
        .build(reservingBytes: 512) { filter in
            filter.append("_id", write.documentID)
            append(write.condition.version, to: &filter)
            for (path, value) in write.condition.values {
                filter.appendDocument(path) { exactly(value, &$0) }
            }
            for path in write.condition.missing { filter.appendDocument(path, isMissing) }
            guard let content = write.condition.content else { return }
            var whole = content
            if let version = write.condition.version.value {
                whole.append(DocumentVersion.fieldName, version)
            }
            filter.append("$expr", document: isWholly(whole))
        }
    }

    /// Returns the filter of a write on a document that was just read and found to be as expected.
    static func filter(_ write: RemoteWrite, asRead document: BSONDocument) -> BSONDocument {
        ["_id": write.documentID, "$expr": .document(isWholly(document))]
    }

    /// Returns the filter of a write whose expected document is too large for the command.
    static func versionFilter(_ write: RemoteWrite) -> BSONDocument {
        .build(reservingBytes: 512) { filter in
            filter.append("_id", write.documentID)
            append(write.condition.version, to: &filter)
        }
    }

    /// Returns the condition that the document is exactly this one, with its fields in this order.
    private static func isWholly(_ document: BSONDocument) -> BSONDocument {
        ["$eq": ["$$ROOT", ["$literal": .document(document)]]]
    }

    private static func append(_ version: VersionField, to filter: inout BSONDocumentBuilder) {
        switch version {
        case .absent: filter.appendDocument(DocumentVersion.fieldName, isMissing)
        case .foreign(let value):
            filter.appendDocument(DocumentVersion.fieldName) { exactly(value, &$0) }
        case .version(let version):
            filter.appendDocument(Self.lineage) { test in
                test.append("$eq", string: version.lineage)
                test.append("$type", string: "string")
            }
            filter.appendDocument(Self.counter) { $0.append("$eq", int64: version.counter) }
            if let operation = version.operation {
                filter.appendDocument(Self.operation) { exactly(operation, &$0) }
            } else {
                filter.appendDocument(Self.operation, isMissing)
            }
        }
    }

    private static let lineage = "\(DocumentVersion.fieldName).id"
    private static let counter = "\(DocumentVersion.fieldName).v"
    private static let operation = "\(DocumentVersion.fieldName).op"

    private static func isMissing(_ test: inout BSONDocumentBuilder) {
        test.append("$exists", bool: false)
    }

    /// Writes the condition that a value equals this one, has its type and is not inside an array.
    static func exactly(_ value: BSONValue, _ test: inout BSONDocumentBuilder) {
        func isNoArray(_ test: inout BSONDocumentBuilder) { test.append("$type", int32: 4) }
        switch value {
        case .undefined:
            test.append("$type", int32: 6)
            test.appendDocument("$not", isNoArray)
        case .null:
            test.append("$type", int32: 10)
            test.appendDocument("$not", isNoArray)
        case .array(let elements):
            test.append("$eq", value)
            test.append("$size", int32: Int32(clamping: elements.count))
        default:
            test.append("$eq", value)
            test.append("$type", int32: typeAlias(value))
            test.appendDocument("$not", isNoArray)
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
