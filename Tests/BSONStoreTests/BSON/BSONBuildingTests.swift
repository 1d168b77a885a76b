import BSONStore
import Testing

/// Without these, the fast way to make documents could differ from the plain one.
struct BSONBuildingTests {
    @Test func `A builder writes what literals write`() throws {
        let id = try #require(BSONObjectID(bytes: Array(1...12)))
        let built = BSONDocument.build(reservingBytes: 0) { builder in
            builder.append("i", int32: 1)
            builder.append("l", int64: 2)
            builder.append("d", double: 2.5)
            builder.append("b", bool: true)
            builder.appendNull("n")
            builder.append("s", string: "text é")
            builder.append("o", objectID: id)
            builder.append("t", datetime: BSONDatetime(milliseconds: -1))
            builder.append("v", [1, 2])
            builder.append(String("dynamic"), "x")
            builder.append("e", document: ["a": 1])
            builder.append("r", array: ["a"])
            builder.appendDocument("nested") { nested in
                nested.append("x", 1)
                nested.appendArray("list") { list in
                    for index in 0..<12 { list.append(at: index, .int32(Int32(index))) }
                }
            }
            builder.append("last", .maxKey)
        }
        let expected: BSONDocument = [
            "i": 1, "l": .int64(2), "d": 2.5, "b": true, "n": nil, "s": "text é",
            "o": .objectID(id), "t": .datetime(BSONDatetime(milliseconds: -1)), "v": [1, 2],
            "dynamic": "x", "e": ["a": 1], "r": ["a"],
            "nested": ["x": 1, "list": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]], "last": .maxKey,
        ]
        #expect(built == expected)
        #expect(try BSONDocument(validating: built.bytes) == expected)
    }

    @Test func `A builder starts anew after it has finished`() {
        var builder = BSONDocumentBuilder()
        builder.append("a", 1)
        #expect(builder.finish() == ["a": 1])
        #expect(builder.finish() == [:])
        builder.append("b", 2)
        #expect(builder.finish(lending: { Array($0) }) == (["b": 2] as BSONDocument).bytes)
        #expect(builder.finish() == [:])
    }

    @Test func `A builder copies elements in place`() {
        var random = RandomBSON(seed: 31)
        for _ in 0..<500 {
            let document = random.document()
            var builder = BSONDocumentBuilder(reservingBytes: 0)
            document.withCursor { cursor in
                while let element = cursor.next() { builder.append(element) }
            }
            #expect(builder.finish() == document)
        }
    }

    @Test func `An array keeps its keys right under changes`() {
        var array = BSONArray()
        var model: [BSONValue] = []
        var random = RandomBSON(seed: 32)
        for _ in 0..<400 {
            let value = random.value(depth: 1)
            switch model.isEmpty ? 0 : random.number(0..<5) {
            case 0, 1, 2:
                array.append(value)
                model.append(value)
            case 3:
                let index = random.number(0..<model.count)
                array.replace(at: index, by: value)
                model[index] = value
            default:
                let index = random.number(0..<model.count)
                array.remove(at: index)
                model.remove(at: index)
            }
            #expect(array == BSONArray(model))
        }
        #expect(array.values == model)
        #expect(array.count == model.count)
        #expect(array.document.keys == model.indices.map(String.init))
        #expect(array[model.count] == nil)
        #expect(array[-1] == nil)
        #expect(array[model.count - 1] == model.last)
    }
}
