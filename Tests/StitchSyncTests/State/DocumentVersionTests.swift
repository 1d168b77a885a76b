import BSONStore
import Testing

@testable import StitchSync

/// A version that is read wrongly overwrites a foreign edit, or traps on a counter's end.
struct DocumentVersionTests {
    static let operation = OperationID(instance: 0xFFEE_DDCC_BBAA_9988, sequence: 7)

    @Test("a version document is read back as it was written")
    func roundTrip() {
        let version = DocumentVersion.first(operation: Self.operation)
        #expect(DocumentVersion(.document(version.document)) == version)
        #expect(version.document.keys == ["spv", "id", "v", "op"])
        #expect(version.lineage == "ffeeddcc-bbaa-8988-8000-000000000007")
        #expect(OperationID(version.operation ?? .null) == Self.operation)
    }

    @Test("a next version raises the counter, keeps foreign keys, and begins anew at the end")
    func next() throws {
        let stitch: BSONDocument = [
            "spv": 1, "id": "lineage", "v": .int64(4), "extra": "kept",
        ]
        let version = try #require(DocumentVersion(.document(stitch)))
        #expect(version.operation == nil)
        let next = version.next(operation: Self.operation)
        #expect(next.lineage == "lineage" && next.counter == 5)
        #expect(next.document["extra"] == "kept")
        let last = try #require(
            DocumentVersion(["spv": 1, "id": "lineage", "v": .int64(.max)]))
        let fresh = last.next(operation: Self.operation)
        #expect(fresh.counter == 0 && fresh.lineage == Self.operation.lineage)
        let negative = try #require(DocumentVersion(["spv": 1, "id": "", "v": .int64(.min)]))
        #expect(negative.next(operation: Self.operation).counter == .min + 1)
    }

    static let ours = DocumentVersion.first(operation: operation).document

    /// Versions as we write them, and others that differ in one respect.
    static let versions: [BSONDocument] = [
        ours, ["v": .int64(7), "op": operation.value, "id": "x", "spv": 1],
        ["spv": 1, "id": "x", "v": .int64(7), "op": operation.value, "extra": ["v": 1, "op": 2]],
        ["spv": .int64(1), "id": "x", "v": .int64(7), "op": operation.value],
        ["spv": 1, "id": "x", "v": 7, "op": operation.value],
        ["spv": 1, "id": "x", "v": .int64(7), "op": "text"],
        ["spv": 1, "id": "x", "v": .int64(7), "op": .binary(BSONBinary([1, 2]))],
        [
            "spv": 1, "id": "x", "v": .int64(7),
            "op": .binary(BSONBinary([UInt8](repeating: 1, count: 16), subtype: 4)),
        ],
        ["spv": 1, "id": "x", "v": .int64(7), "op": operation.value, "v": .int64(9)],
    ]

    @Test("a next version differs in counter and operation only", arguments: versions)
    func nextOf(document: BSONDocument) throws {
        let operation = OperationID(instance: 1, sequence: .max)
        let version = try #require(DocumentVersion(.document(document)))
        let next = version.next(operation: operation)
        var expected = document
        expected.set("spv", to: 1)
        expected.set("v", to: .int64(version.counter + 1))
        expected.set("op", to: operation.value)
        #expect(next.document == expected)
        #expect(version.document == document)
    }

    static let foreignValues: [BSONValue] = [
        nil, "1", [], [:], ["spv": 2, "id": "x", "v": 1], ["spv": "1", "id": "x", "v": 1],
        ["spv": 0, "id": "x", "v": 1], ["id": "x", "v": 1], ["spv": 1, "v": 1],
        ["spv": 1, "id": 5, "v": 1], ["spv": 1, "id": "x"], ["spv": 1, "id": "x", "v": "1"],
        ["spv": 1, "id": "x", "v": 3.5], ["spv": 1, "id": "x", "v": .double(.nan)],
        ["spv": 1, "id": "x", "v": .double(.infinity)], ["spv": 1, "id": "x", "v": nil],
        ["spv": 1, "id": "x", "v": .double(9.3e18)],
        ["spv": 1, "id": "x", "v": .decimal128(BSONDecimal128(high: 0, low: 1))],
    ]

    @Test("what is no version is foreign, not absent", arguments: foreignValues)
    func foreign(value: BSONValue) {
        let document: BSONDocument = ["_id": 1, DocumentVersion.fieldName: value]
        #expect(VersionField(of: document) == .foreign(value))
    }

    static let accepted: [(BSONValue, Int64)] = [
        (1, 1), (.int64(7), 7), (3.0, 3), (.int64(-5), -5), (.int64(.max), .max), (0, 0),
    ]

    @Test("a counter may be any whole number of any width", arguments: accepted)
    func counters(value: BSONValue, counter: Int64) {
        let document: BSONDocument = [
            "_id": 1, DocumentVersion.fieldName: ["spv": .int64(1), "id": "x", "v": value],
        ]
        #expect(VersionField(of: document).version?.counter == counter)
    }

    @Test("versions are equal by lineage, counter and operation, and by nothing else")
    func equality() {
        func version(_ lineage: String, _ counter: Int64, _ sequence: UInt64 = 1) -> VersionField {
            let operation = OperationID(instance: 1, sequence: sequence)
            return VersionField(of: [
                DocumentVersion.fieldName: [
                    "spv": 1, "id": .string(lineage), "v": .int64(counter),
                    "op": operation.value,
                ]
            ])
        }
        let equal = VersionField(of: [
            DocumentVersion.fieldName: [
                "v": 1.0, "op": OperationID(instance: 1, sequence: 1).value, "id": "x",
                "spv": .int64(1), "extra": true,
            ]
        ])
        #expect(version("x", 1) == equal)
        let others: [VersionField] = [
            .absent, .foreign("?"), version("x", 2), version("X", 1), version("x", 1, 2),
        ]
        #expect(others.allSatisfy { $0 != equal })
    }
}
