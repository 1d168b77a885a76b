import BSONStore
import StitchSync
import Testing

@testable import StitchCommands

/// If MongoDB's wider equality leaked into a condition, somebody else's edit could be overwritten.
struct MongoWriteFilterTests {
    private static let operation = OperationID(instance: 7, sequence: 9)
    private static let version = DocumentVersion.first(operation: operation)

    /// Values that MongoDB's equality takes for each other, and some that it does not.
    private static let values: [BSONValue] = [
        1, .int64(1), 1.0, .decimal128(BSONDecimal128(1 as Int64)), 0, "", "a", .null, .undefined,
        true,
        false,
        [], [1], [[1]], [1, 2], [[1, 2], 1], ["a"], [.null], [:], ["x": 1], [["x": 1]],
        ["x": .int64(1)],
        .minKey, .maxKey, .datetime(BSONDatetime(milliseconds: 1)),
        .timestamp(BSONTimestamp(seconds: 0, increment: 1)), .double(.nan), -0.0,
        .binary(BSONBinary([1])), .regularExpression(BSONRegularExpression("a")),
    ]

    @Test("a condition on a value holds for that value of that type alone")
    func valuesAreExact() throws {
        for expected in Self.values {
            let test = BSONDocument.build { MongoWriteFilter.exactly(expected, &$0) }
            let filter = try Filter(["a": .document(test)])
            for found in Self.values {
                let document: BSONDocument = ["_id": 1, "a": found]
                let isSame = BSONDocument([("v", found)]) == BSONDocument([("v", expected)])
                // Inside of documents and arrays MongoDB compares numbers by value: the write is
                // decided by what is read again, which is exact.
                guard isSame || !Self.isContainer(expected) else { continue }
                if case (.double(let left), .double(let right)) = (expected, found),
                    left == right
                {
                    continue
                }
                #expect(filter.matches(document) == isSame, "\(expected) against \(found)")
            }
            #expect(!filter.matches(["_id": 1]), "\(expected) against a missing field")
        }
    }

    private static func isContainer(_ value: BSONValue) -> Bool {
        switch value {
        case .document, .array: true
        default: false
        }
    }

    @Test("a condition on the version asks for lineage, counter and operation, each by itself")
    func versionParts() throws {
        func write(_ version: VersionField) -> RemoteWrite {
            RemoteWrite(
                documentID: 1, operation: Self.operation, action: .delete,
                condition: .init(version: version))
        }
        let next = Self.version.next(operation: OperationID(instance: 7, sequence: 10))
        let editions: [VersionField] = [
            .absent, .version(Self.version), .version(next), .foreign("text"), .foreign(["v": 1]),
        ]
        for expected in editions {
            let filter = try Filter(MongoWriteFilter.filter(write(expected)))
            for found in editions {
                var document: BSONDocument = ["_id": 1]
                if let value = found.value { document.append(DocumentVersion.fieldName, value) }
                #expect(filter.matches(document) == (expected == found), "\(expected) \(found)")
            }
        }
    }

    @Test("a condition on the whole content sees every difference but the order of fields")
    func wholeContent() throws {
        var remote: BSONDocument = ["_id": 1, "a": 1, "b": ["c": 2]]
        let write = RemoteWrite(
            documentID: 1, operation: Self.operation, action: .delete,
            condition: .init(version: .version(Self.version), content: remote))
        remote.append(DocumentVersion.fieldName, .document(Self.version.document))
        let filter = try Filter(MongoWriteFilter.filter(write))
        #expect(filter.matches(remote))
        for (key, value) in [("a", BSONValue.int32(2)), ("b", ["c": 3]), ("d", 1)] {
            var other = remote
            other[key] = value
            #expect(!filter.matches(other), "\(key)")
        }
        var moved: BSONDocument = ["_id": 1, "b": ["c": 2], "a": 1]
        moved.append(DocumentVersion.fieldName, .document(Self.version.document))
        #expect(!filter.matches(moved))
        #expect(write.condition.holds(for: moved))
        #expect(try Filter(MongoWriteFilter.filter(write, asRead: moved)).matches(moved))
    }
}
