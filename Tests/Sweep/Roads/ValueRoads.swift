import BSONStore

/// Documents by themselves.
enum ValueRoads {
    private static let searched =
        "a document is bytes: each access by name reads it up to the field; build it with append"

    /// The roads.
    static var all: [Road] {
        [
            Road("BSON: validate bytes", .fields, upTo: 160_000) { n in
                let bytes = Sample.wide(n).withUnsafeBytes { Array($0) }
                return Trip { try BSONDocument(validating: bytes) }
            },
            Road("BSON: append", .fields, upTo: 160_000) { n in
                let names = Sample.names(n)
                return Trip {
                    var document = BSONDocument()
                    for name in names { document.append(name, 1) }
                }
            },
            Road("BSON: iterate", .fields, upTo: 160_000) { n in
                let document = Sample.wide(n)
                return Trip {
                    var sum = 0
                    for (name, value) in document { sum += name.utf8.count + (value.intValue ?? 0) }
                    return sum
                }
            },
            Road("BSON: set each field by name", .fields, upTo: 8_000, reason: searched) { n in
                let names = Sample.names(n)
                return Trip {
                    var document = BSONDocument()
                    for name in names { document[name] = 1 }
                }
            },
            Road("BSON: read each field by name", .fields, upTo: 8_000, reason: searched) { n in
                let (document, names) = (Sample.wide(n), Sample.names(n))
                return Trip { names.reduce(0) { $0 + (document[$1]?.intValue ?? 0) } }
            },
            Road(
                "BSON: array append", .elements, upTo: 8_000,
                reason: "append counts the elements; BSONArray of a sequence is linear"
            ) { n in
                Trip {
                    var array = BSONArray()
                    for number in 0..<n { array.append(.int(number)) }
                }
            },
            Road("BSON: array from values", .elements, upTo: 160_000) { n in
                let values = (0..<n).map { BSONValue.int($0) }
                return Trip { BSONArray(values) }
            },
            Road("BSON: contentHash", .fields, upTo: 160_000) { n in
                let document = Sample.wide(n)
                return Trip { document.contentHash() }
            },
            Road("BSON: contentEquals of fields in another order", .fields, upTo: 80_000) { n in
                let document = Sample.wide(n)
                let other = BSONDocument(document.map { ($0, $1) }.reversed())
                return Trip { document.contentEquals(other) }
            },
            Road("Extended JSON: write", .fields, upTo: 160_000) { n in
                let document = Sample.wide(n) { .double(Double($0) + 0.5) }
                return Trip { document.extendedJSON() }
            },
            Road("Extended JSON: read", .fields, upTo: 80_000) { n in
                let text = Sample.wide(n).extendedJSON()
                return Trip { try BSONDocument(extendedJSON: text) }
            },
            Road("Extended JSON: read an array", .elements, upTo: 80_000) { n in
                let text = (["a": Sample.array(n)] as BSONDocument).extendedJSON()
                return Trip { try BSONDocument(extendedJSON: text) }
            },
            Road("Extended JSON: read a text of escapes", .bytes, upTo: 640_000) { n in
                let text = "{\"a\": \"\(String(repeating: "\\n\\u00e9", count: n))\"}"
                return Trip { try BSONDocument(extendedJSON: text) }
            },
            Road("Extended JSON: read, depth", .depth, from: 10, upTo: 80) { n in
                let text = nested(n).extendedJSON()
                return Trip { try BSONDocument(extendedJSON: text) }
            },
            Road("Extended JSON: write, depth", .depth, from: 10, upTo: 80) { n in
                let document = nested(n)
                return Trip { document.extendedJSON() }
            },
            Road("BSON: contentHash, depth", .depth, from: 10, upTo: 80) { n in
                let document = nested(n)
                return Trip { document.contentHash() }
            },
            Road("Codable: encode an array", .elements, upTo: 80_000) { n in
                let value = ["a": (0..<n).map { Line(sku: "s\($0)", count: $0, note: nil) }]
                return Trip { try BSONEncoder().encode(value) }
            },
            Road("Codable: decode an array", .elements, upTo: 80_000) { n in
                let value = ["a": (0..<n).map { Line(sku: "s\($0)", count: $0, note: nil) }]
                let document = try BSONEncoder().encode(value)
                return Trip { try BSONDecoder().decode([String: [Line]].self, from: document) }
            },
            Road("Codable: encode a dictionary", .fields, upTo: 80_000) { n in
                let value = Dictionary(uniqueKeysWithValues: Sample.names(n).map { ($0, 1) })
                return Trip { try BSONEncoder().encode(value) }
            },
            Road("Codable: decode a dictionary", .fields, upTo: 80_000) { n in
                let document = Sample.fields(n)
                return Trip { try BSONDecoder().decode([String: Int].self, from: document) }
            },
            Road("Codable: decode a struct from a wide document", .fields, upTo: 80_000) { n in
                var document = Sample.fields(n)
                for (name, value) in ["sku": "s", "count": 1] as BSONDocument {
                    document.append(name, value)
                }
                let wide = document
                return Trip { try BSONDecoder().decode(Line.self, from: wide) }
            },
        ]
    }

    private struct Line: Codable {
        var sku: String
        var count: Int
        var note: String?
    }

    private static func nested(_ depth: Int) -> BSONDocument {
        (0..<depth).reduce(["a": 1]) { inner, _ in ["a": .document(inner)] }
    }
}
