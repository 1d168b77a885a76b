import BSONStore
import BenchmarkBaseline
import Foundation

/// The rows of Codable, against Foundation's JSON coders for the equal document.
enum CodableRows {
    private static let text = String(repeating: "lorem ipsum dolor sit ", count: 4)

    private static let flat = BSONDocument(
        (0..<144).map { index -> (String, BSONValue) in
            let number = String(index)
            let key = "value" + String(repeating: "0", count: 3 - number.count) + number
            switch index % 6 {
            case 1: return (key, .int32(Int32(index)))
            case 2: return (key, .int64(Int64(index) << 33))
            case 4: return (key, .double(Double(index) * 1.5))
            case 5: return (key, .bool(index % 12 == 5))
            default: return (key, .string(text))
            }
        })

    private static let small: BSONDocument = [
        "id": "5f43a1b2c3d4e5f6a7b8c9d0", "name": "Ada Lovelace", "email": "ada@example.com",
        "age": 36, "score": 99.5, "active": true, "created": .int64(1_600_000_000_000),
        "updated": .int64(1_700_000_000_000), "city": "London", "zip": "W1J 7NT",
        "tags": ["first", "programmer", "analytical"], "visits": 12,
        "notes": "wrote the first program for a machine",
    ]

    static func rows() -> [Row] {
        rows(FlatRecord.self, "flat", flat) + rows(SmallRecord.self, "small", small)
            + rows(NestedRecord.self, "nested", NestedRecord.document)
            + rows(ListRecord.self, "list", ListRecord.document)
    }

    /// The counts allow for the strings and arrays that the decoded value itself consists of.
    static func allocations() -> [AllocationRow] {
        allocations(FlatRecord.self, "flat", flat, parts: 48)
            + allocations(SmallRecord.self, "small", small, parts: 3)
    }

    private static func rows<T: Codable>(
        _ type: T.Type, _ name: String, _ document: BSONDocument
    ) -> [Row] {
        let record = decoded(type, document)
        let (jsonEncoder, jsonDecoder) = (JSONEncoder(), JSONDecoder())
        let json = trying { try jsonEncoder.encode(record) }
        let (encoder, decoder) = (BSONEncoder(), BSONDecoder())
        return [
            Row(
                name: "decode Codable, \(name), to JSONDecoder", gate: 1.0 / 6, goal: 0.1,
                baseline: { count in
                    for _ in 0..<count {
                        withExtendedLifetime(trying { try jsonDecoder.decode(type, from: json) }) {}
                    }
                },
                ours: { count in
                    for _ in 0..<count {
                        withExtendedLifetime(trying { try decoder.decode(type, from: document) }) {}
                    }
                }),
            Row(
                name: "encode Codable, \(name), to JSONEncoder", gate: 0.2, goal: 0.1,
                baseline: { count in
                    for _ in 0..<count {
                        baseline_keep(UInt64(trying { try jsonEncoder.encode(record) }.count))
                    }
                },
                ours: { count in
                    for _ in 0..<count {
                        CoreRows.keep(trying { try encoder.encode(record) })
                    }
                }),
        ]
    }

    private static func allocations<T: Codable>(
        _ type: T.Type, _ name: String, _ document: BSONDocument, parts: Int
    ) -> [AllocationRow] {
        let record = decoded(type, document)
        let (encoder, decoder) = (BSONEncoder(), BSONDecoder())
        return [
            AllocationRow(name: "decode Codable, \(name)", gate: 8 + parts, goal: 4 + parts) {
                for _ in 0..<$0 {
                    withExtendedLifetime(trying { try decoder.decode(type, from: document) }) {}
                }
            },
            AllocationRow(name: "encode Codable, \(name)", gate: 8, goal: 4) {
                for _ in 0..<$0 { CoreRows.keep(trying { try encoder.encode(record) }) }
            },
        ]
    }

    private static func decoded<T: Codable>(_ type: T.Type, _ document: BSONDocument) -> T {
        trying { try BSONDecoder().decode(type, from: document) }
    }

    private static func trying<R>(_ body: () throws -> R) -> R {
        do { return try body() } catch { preconditionFailure("\(error)") }
    }
}
