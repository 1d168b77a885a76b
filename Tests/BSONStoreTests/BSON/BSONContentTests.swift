import BSONStore
import Testing

/// Without these, two devices could take the same content for different or lose a change.
struct BSONContentTests {
    /// The content as a tree whose fields are sorted, with types: the slow reference.
    private func canonical(_ value: BSONValue) -> String {
        switch value {
        case .double(let value): return "double\(value.bitPattern)"
        case .document(let document):
            let fields = document.map { "\($0.key.debugDescription):\(canonical($0.value))" }
            return "{" + fields.sorted().joined(separator: ",") + "}"
        case .array(let array):
            return "[" + array.map(canonical).joined(separator: ",") + "]"
        case .javascriptWithScope(let code):
            return "code\(code.code.debugDescription)" + canonical(.document(code.scope))
        default: return String(reflecting: value)
        }
    }

    /// The same content with the fields in another order at all depths.
    private func reordered(_ value: BSONValue, _ random: inout RandomBSON) -> BSONValue {
        switch value {
        case .document(let document):
            return .document(reordered(document, &random))
        case .array(let array):
            return .array(BSONArray(array.map { reordered($0, &random) }))
        case .javascriptWithScope(let code):
            let scope = reordered(code.scope, &random)
            return .javascriptWithScope(BSONJavaScriptWithScope(code: code.code, scope: scope))
        default: return value
        }
    }

    private func reordered(_ document: BSONDocument, _ random: inout RandomBSON) -> BSONDocument {
        var result = BSONDocument()
        for (key, value) in random.shuffled(Array(document)) {
            result.append(key, reordered(value, &random))
        }
        return result
    }

    @Test func `Field order does not count at any depth`() {
        var random = RandomBSON(seed: 11)
        for _ in 0..<2000 {
            let document = random.document()
            let other = reordered(document, &random)
            #expect(document.contentHash() == other.contentHash())
            #expect(document.contentEquals(other))
            #expect(BSONValue.document(document).contentEquals(.document(other)))
            #expect(BSONValue.array([.document(document)]).contentEquals([.document(other)]))
        }
    }

    @Test func `Content is equal exactly when the sorted trees are`() {
        var random = RandomBSON(seed: 12)
        var equal = 0
        for _ in 0..<30_000 {
            let (a, b) = (random.document(depth: 1), random.document(depth: 1))
            let expected = canonical(.document(a)) == canonical(.document(b))
            equal += expected ? 1 : 0
            if a.contentEquals(b) != expected { Issue.record("\(a.bytes) \(b.bytes)") }
        }
        #expect(equal > 100)
    }

    @Test(
        arguments: [
            (["a": 1], ["a": .int64(1)]), (["a": .double(0)], ["a": .double(-0.0)]),
            (["a": [1, 2]], ["a": [2, 1]]), (["a": [[1], 2]], ["a": [1, [2]]]),
            (["a": [[]]], ["a": []]), (["a": [[1, 2]]], ["a": [1, 2]]),
            (["a": [[1], [2]]], ["a": [[1, 2]]]),
            (["a": []], ["a": [:]]), (["a": 1], ["b": 1]), (["a": 1], ["a": 1, "b": 1]),
            (["a": ["b": 1], "c": 1], ["a": ["b": 1, "c": 1]]), (["a": "x"], ["a": .symbol("x")]),
            (["a": .null], [:]), (["a": .null], ["a": .undefined]),
            (["a": .string("b\0\0\0\0\0\0\0")], ["a": .string("b")]),
        ] as [(BSONDocument, BSONDocument)])
    func `Different content has different hashes`(_ left: BSONDocument, _ right: BSONDocument) {
        #expect(left.contentHash() != right.contentHash())
        #expect(!left.contentEquals(right))
    }

    @Test func `A field can be left out at the top level only`() {
        let one: BSONDocument = ["v": 1, "a": ["v": 2], "b": 3]
        let two: BSONDocument = ["b": 3, "a": ["v": 2], "v": 9]
        let three: BSONDocument = ["b": 3, "a": ["v": 9]]
        #expect(one.contentEquals(two, excluding: "v"))
        #expect(!one.contentEquals(two))
        #expect(!one.contentEquals(three, excluding: "v"))
        let without: BSONDocument = ["a": ["v": 2], "b": 3]
        #expect(one.contentHash(excluding: "v") == without.contentHash())
    }

    @Test func `Stored hashes stay what they are`() {
        let document: BSONDocument = ["a": 1, "b": ["c", 2.5, ["d": .null]], "e": "text"]
        let hash = document.contentHash()
        #expect(BSONContentHash(bytes: hash.bytes) == hash)
        #expect(BSONContentHash(bytes: [1]) == nil)
        let text = hash.bytes.map { String($0, radix: 16) }.joined(separator: " ")
        #expect(
            text == "bf 8a cc 52 95 6e e7 ec 7c 66 78 da 79 4b 4f 65")
    }
}
