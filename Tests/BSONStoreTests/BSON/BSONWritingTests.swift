import BSONStore
import Testing

/// Without these, a change in place could damage the bytes around it or those of a sharer.
struct BSONWritingTests {
    /// A document as a list of pairs: the slow reference for every change.
    private struct Model {
        var pairs: [(key: String, value: BSONValue)] = []

        mutating func set(_ key: String, _ value: BSONValue?) {
            let at = pairs.firstIndex { Array($0.key.utf8) == Array(key.utf8) }
            switch (at, value) {
            case (let at?, let value?): pairs[at].value = value
            case (let at?, nil): pairs.remove(at: at)
            case (nil, let value?): pairs.append((key, value))
            case (nil, nil): break
            }
        }

        func matches(_ document: BSONDocument) -> Bool {
            let read = Array(document)
            return read.count == pairs.count
                && zip(read, pairs).allSatisfy { $0.key == $1.key && $0.value == $1.value }
        }
    }

    private func isValid(_ document: BSONDocument) -> Bool {
        do throws(BSONError) {
            _ = try BSONDocument(validating: document.bytes)
            return true
        } catch { return false }
    }

    @Test func `Setting, removing and appending do what a list of pairs does`() {
        var random = RandomBSON(seed: 21)
        for _ in 0..<300 {
            var document = BSONDocument()
            var model = Model()
            var older: [(BSONDocument, [UInt8])] = []
            for _ in 0..<30 {
                let key = random.key()
                let value: BSONValue? = random.number(0..<4) == 0 ? nil : random.value()
                if random.number(0..<3) == 0 { older.append((document, Array(document.bytes))) }
                document[key] = value
                model.set(key, value)
                #expect(document[key] == value)
                #expect(model.matches(document))
                #expect(isValid(document))
            }
            #expect(document == BSONDocument(model.pairs.map { ($0.key, $0.value) }))
            for (kept, bytes) in older { #expect(kept.bytes == bytes) }
        }
    }

    @Test func `A nested document changes alone`() {
        let parent: BSONDocument = ["a": ["b": 1, "c": "x"], "d": 2]
        let bytes = parent.bytes
        var nested = parent["a"]?.documentValue
        nested?["b"] = "longer than before"
        nested?["c"] = nil
        nested?["e"] = 3
        #expect(nested == ["b": "longer than before", "e": 3])
        #expect(parent.bytes == bytes)
        var copy = parent
        copy["d"] = copy["a"]
        #expect(copy == ["a": ["b": 1, "c": "x"], "d": ["b": 1, "c": "x"]])
        copy["a"] = .document(copy)
        #expect(copy[path: "a.a.b"] == 1)
        #expect(parent.bytes == bytes)
    }

    @Test func `Every value survives being encoded and read again`() throws {
        var random = RandomBSON(seed: 22)
        for _ in 0..<3000 {
            let value = random.value()
            let document: BSONDocument = ["k": value]
            let read = try BSONDocument(validating: document.bytes)
            #expect(read["k"] == value)
            #expect(read == document)
            #expect(BSONDocument(read.map { ($0.key, $0.value) }) == document)
            let copied = document.withCursor { $0.next().map { BSONValue(copying: $0.value) } }
            #expect(copied == value)
            #expect(Set([value, value]).count == 1)
        }
    }

    @Test func `A key that holds a NUL is refused and changes nothing`() {
        var document: BSONDocument = ["a": 1]
        #expect(throws: BSONError.self) { try document.append(validatingKey: "b\0c", 1) }
        #expect(throws: BSONError.self) { try document.set(validatingKey: "b\0c", to: 1) }
        #expect(throws: BSONError.self) { try document.set(path: "b\0c", to: 1) }
        #expect(throws: BSONError.self) { try BSONRegularExpression(validating: "a\0") }
        #expect(document == ["a": 1])
        #expect(document["a\0b"] == nil)
    }

    @Test func `A key that holds a NUL in a literal is a programmer error`() async {
        await #expect(processExitsWith: .failure) {
            var document = BSONDocument()
            document.append("a\0b", 1)
        }
    }

    @Test func `Texts that Swift takes for equal are different keys`() {
        var document: BSONDocument = ["é": 1]
        document["e\u{301}"] = 2
        #expect(document.count == 2)
        #expect(document["é"] == 1)
        #expect(BSONValue.string("é") != .string("e\u{301}"))
    }

    @Test func `A key that stands twice is read and changed at its first place`() {
        var document: BSONDocument = ["a": 1, "b": 2, "a": 3]
        #expect(document["a"] == 1)
        document["a"] = 4
        #expect(document == ["a": 4, "b": 2, "a": 3])
        document["a"] = nil
        #expect(document == ["b": 2, "a": 3])
    }
}

/// Without these, updates through dotted paths would hit the wrong field or damage lengths.
struct BSONPathTests {
    private let document: BSONDocument = [
        "a": ["b": [1, ["c": "x"], [10, 20]], "": 5], "d": 2, "e": [:],
    ]

    @Test(
        arguments: [
            ("d", 2), ("a.b.0", 1), ("a.b.1.c", "x"), ("a.b.2.1", 20), ("a.", 5), ("e", [:]),
            ("a.b.3", nil), ("a.b.01", nil), ("a.b.c", nil), ("a.b.-1", nil), ("d.x", nil),
            ("", nil),
            ("a..b", nil), ("x.y", nil), ("a.b.", nil),
        ] as [(String, BSONValue?)])
    func `Reading follows documents and positions`(_ path: String, _ value: BSONValue?) {
        #expect(document[path: path] == value)
    }

    @Test(
        arguments: [
            ("d", ["a": ["b": [1, ["c": "x"], [10, 20]], "": 5], "d": 9, "e": [:]]),
            ("a.b.0", ["a": ["b": [9, ["c": "x"], [10, 20]], "": 5], "d": 2, "e": [:]]),
            ("a.b.1.c", ["a": ["b": [1, ["c": 9], [10, 20]], "": 5], "d": 2, "e": [:]]),
            (
                "a.b.1.n.m",
                ["a": ["b": [1, ["c": "x", "n": ["m": 9]], [10, 20]], "": 5], "d": 2, "e": [:]]
            ),
            (
                "a.b.2.4",
                ["a": ["b": [1, ["c": "x"], [10, 20, nil, nil, 9]], "": 5], "d": 2, "e": [:]]
            ),
            (
                "a.b.3.z",
                ["a": ["b": [1, ["c": "x"], [10, 20], ["z": 9]], "": 5], "d": 2, "e": [:]]
            ),
            (
                "e.f.0",
                ["a": ["b": [1, ["c": "x"], [10, 20]], "": 5], "d": 2, "e": ["f": ["0": 9]]]
            ),
            (
                "x.y",
                ["a": ["b": [1, ["c": "x"], [10, 20]], "": 5], "d": 2, "e": [:], "x": ["y": 9]]
            ),
        ] as [(String, BSONDocument)])
    func `Setting changes one value and the lengths around it`(
        _ path: String, _ expected: BSONDocument
    ) throws {
        var changed = document
        try changed.set(path: path, to: 9)
        #expect(changed == expected)
        #expect(try BSONDocument(validating: changed.bytes) == expected)
        var nested = BSONDocument([("outer", .document(document))])
        nested[path: "outer." + path] = 9
        #expect(nested == ["outer": .document(expected)])
    }

    @Test(arguments: ["d.x", "a.b.c", "a.b.0.x", "a.b.999999999"])
    func `Setting through a value without fields is refused`(_ path: String) {
        var changed = document
        #expect {
            try changed.set(path: path, to: 1)
        } throws: { ($0 as? BSONError)?.code == .pathNotViable }
        #expect(changed == document)
    }

    @Test(
        arguments: [
            ("d", 2, ["a": ["b": [1, ["c": "x"], [10, 20]], "": 5], "e": [:]]),
            ("a.b.1.c", "x", ["a": ["b": [1, [:], [10, 20]], "": 5], "d": 2, "e": [:]]),
            ("a.b.2.0", 10, ["a": ["b": [1, ["c": "x"], [nil, 20]], "": 5], "d": 2, "e": [:]]),
            ("a.b", [1, ["c": "x"], [10, 20]], ["a": ["": 5], "d": 2, "e": [:]]),
            ("a.x", nil, ["a": ["b": [1, ["c": "x"], [10, 20]], "": 5], "d": 2, "e": [:]]),
        ] as [(String, BSONValue?, BSONDocument)])
    func `Removing keeps array positions`(
        _ path: String, _ removed: BSONValue?, _ expected: BSONDocument
    ) throws {
        var changed = document
        #expect(changed.removeValue(atPath: path) == removed)
        #expect(changed == expected)
        #expect(try BSONDocument(validating: changed.bytes) == expected)
    }

    @Test func `Foreign array keys do not matter to positions`() throws {
        let bytes: [UInt8] = [
            26, 0, 0, 0, 4, 97, 0, 18, 0, 0, 0, 16, 0, 7, 0, 0, 0, 16, 53, 0, 8, 0, 0, 0, 0, 0,
        ]
        var document = try BSONDocument(validating: bytes)
        #expect(document[path: "a.1"] == 8)
        document[path: "a.1"] = 9
        #expect(document["a"]?.arrayValue?.values == [7, 9])
        #expect(document["a"]?.arrayValue?.contentEquals([7, 9]) == true)
    }

    @Test(
        arguments: [
            [:], ["a": 1], ["v": 1], ["a": 1, "v": ["x": 2]], ["v": 1, "a": 2],
            ["a": 1, "v": 2, "b": 3],
            ["v": 1, "a": 2, "v": 3], ["vv": 1, "a": ["v": 1]],
            ["a": 1, "v": "x", "v": 2, "v": nil],
        ] as [BSONDocument])
    func `a key parts from its document with all its values`(_ document: BSONDocument) {
        let nested: BSONDocument = ["in": .document(document), "v": 5]
        for document in [document, nested["in"]?.documentValue ?? [:]] {
            let (rest, first) = document.parted(from: "v")
            let others = document.filter { $0.key != "v" }
            #expect(rest == BSONDocument(others.map { ($0.key, $0.value) }))
            #expect(first == document["v"])
        }
    }
}
