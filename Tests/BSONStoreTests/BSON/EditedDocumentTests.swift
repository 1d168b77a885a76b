import BSONStore
import Testing

/// Without these many edits of a document would leave other bytes than the same edits one by one.
@Suite struct EditedDocumentTests {
    @Test(arguments: 0..<400 as Range<UInt64>)
    func `edits leave what the same calls on a document leave`(_ seed: UInt64) {
        var random = RandomBSON(seed: seed)
        // Some are large enough to be indexed, some have the same key twice.
        var model = Self.document(&random)
        var edited = EditedDocument(model)
        for _ in 0..<random.number(1..<60) {
            let key = Self.key(&random)
            let path = Self.path(&random)
            let value = Self.value(&random)
            switch random.number(0..<7) {
            case 0:
                let found = edited.value(of: key)
                #expect(found == model[key])
            case 1, 2:
                edited.set(key, to: value)
                model.set(key, to: value)
            case 3:
                edited.set(key, to: nil)
                model.set(key, to: nil)
            case 4:
                let ours = Self.error { () throws(BSONError) in
                    try edited.set(path: path, to: value)
                }
                let theirs = Self.error { () throws(BSONError) in
                    try model.set(path: path, to: value)
                }
                #expect(ours == theirs)
            case 5:
                edited.removeValue(atPath: path)
                model.removeValue(atPath: path)
            default:
                let found = edited.value(atPath: path)
                #expect(found == model[path: path])
            }
            #expect(edited.byteCount == model.byteCount)
            #expect(edited.finished() == model, "seed \(seed)")
        }
    }

    private static func error(_ body: () throws(BSONError) -> Void) -> String? {
        do throws(BSONError) {
            try body()
            return nil
        } catch {
            return error.message
        }
    }

    private static func key(_ random: inout RandomBSON) -> String {
        let number = random.number(0..<12)
        return random.pick(["a", "b", "é", "e\u{301}", "", "0", "key \(number)"])
    }

    private static func path(_ random: inout RandomBSON) -> String {
        var parts: [String] = []
        for _ in 0..<random.number(1..<4) {
            let isPosition = random.number(0..<3) == 0
            parts.append(isPosition ? String(random.number(0..<5)) : key(&random))
        }
        return parts.joined(separator: ".")
    }

    private static func value(_ random: inout RandomBSON) -> BSONValue {
        switch random.number(0..<5) {
        case 0: .int32(Int32(random.number(0..<5)))
        case 1: .string("a text of some length \(random.number(0..<9))")
        case 2: .array([1, ["a": 2], [3, ["b": 4]]])
        case 3: .document(["a": ["b": 1, "0": [1, 2]], "0": 5])
        default: .null
        }
    }

    private static func document(_ random: inout RandomBSON) -> BSONDocument {
        var document = BSONDocument()
        for _ in 0..<random.number(0..<40) {
            let key = key(&random)
            document.append(key, value(&random))
        }
        return document
    }

    @Test(.timeLimit(.minutes(10)))
    func `an array takes many values behind its end`() throws {
        let text = BSONValue.string(String(repeating: "x", count: 300))
        var edited = EditedDocument(["list": [], "text": text])
        for index in 0..<20_000 {
            try edited.set(path: "list.\(index)", to: .int32(Int32(index)))
        }
        let values = edited.finished()["list"]?.arrayValue?.values
        #expect(values == (0..<20_000).map { .int32($0) })
    }

    @Test func `an index reads what the document holds`() {
        for seed in 0..<50 as Range<UInt64> {
            var random = RandomBSON(seed: seed)
            let document = Self.document(&random)
            let index = IndexedDocument(document)
            for _ in 0..<30 {
                let (key, path) = (Self.key(&random), Self.path(&random))
                #expect(index[key] == document[key])
                #expect(index.value(atPath: path) == document[path: path])
                if let nested = index.nested(key) {
                    #expect(nested.document == document[key]?.documentValue)
                }
            }
        }
    }
}
