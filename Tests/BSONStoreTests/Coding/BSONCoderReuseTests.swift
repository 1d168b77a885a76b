import BSONStore
import Foundation
import Testing

/// Without these, coders that serve again would mix values up, or read memory that is gone.
@Suite struct BSONCoderReuseTests {
    /// Keeps its decoder, as code does that chooses a type later.
    struct Extractor: Decodable {
        let decoder: any Decoder
        init(from decoder: any Decoder) throws { self.decoder = decoder }
    }

    enum Key: CodingKey { case name, inner, list }

    /// Keeps its container.
    struct Keeper: Decodable {
        let container: KeyedDecodingContainer<Key>
        init(from decoder: any Decoder) throws {
            container = try decoder.container(keyedBy: Key.self)
        }
    }

    private func document(_ name: String) -> BSONDocument {
        [
            "name": .string(name), "inner": ["name": .string(name + " inner")],
            "list": [["name": .string(name + " 0")], ["name": .string(name + " 1")]],
        ]
    }

    @Test("a decoder that was kept reads its own document later")
    func keptDecoders() throws {
        var kept: [any Decoder] = []
        for index in 0..<4 {
            let one = try BSONDecoder().decode(Extractor.self, from: document("\(index)"))
            kept.append(one.decoder)
        }
        for (index, decoder) in kept.enumerated() {
            let container = try decoder.container(keyedBy: Key.self)
            let other = try Keeper(from: decoder).container
            #expect(try container.decode(String.self, forKey: .name) == "\(index)")
            #expect(try other.decode(String.self, forKey: .name) == "\(index)")
            let inner = try container.decode(Extractor.self, forKey: .inner).decoder
            #expect(inner.codingPath.map(\.stringValue) == ["inner"])
            let list = try container.decode([Extractor].self, forKey: .list)
            #expect(
                list.map { $0.decoder.codingPath.map(\.stringValue) } == [
                    ["list", "Index 0"], ["list", "Index 1"],
                ])
            let names = try list.map {
                try $0.decoder.container(keyedBy: Key.self).decode(String.self, forKey: .name)
            }
            #expect(names == ["\(index) 0", "\(index) 1"])
        }
    }

    @Test("a container that was kept reads its own document later")
    func keptContainers() throws {
        let kept = try (0..<4).map {
            try BSONDecoder().decode(Keeper.self, from: document("\($0)")).container
        }
        // Another document of the same type, whose container is not kept.
        _ = try BSONDecoder().decode([String: BSONValue].self, from: document("other"))
        for (index, container) in kept.enumerated() {
            #expect(try container.decode(String.self, forKey: .name) == "\(index)")
            let inner = try container.decode(Keeper.self, forKey: .inner).container
            #expect(inner.codingPath.map(\.stringValue) == ["inner"])
            #expect(try inner.decode(String.self, forKey: .name) == "\(index) inner")
            let list = try container.decode([Keeper].self, forKey: .list)
            let names = try list.map { try $0.container.decode(String.self, forKey: .name) }
            #expect(names == ["\(index) 0", "\(index) 1"])
        }
    }

    struct Tree: Codable, Equatable {
        var name: String
        var children: [Tree] = []
        var only: [Tree]?
    }

    @Test("a type inside of itself keeps its levels apart")
    func recursion() throws {
        var tree = Tree(name: "leaf")
        for level in 0..<40 {
            tree = Tree(
                name: "level \(level)", children: [tree, Tree(name: "sibling")],
                only: level.isMultiple(of: 7) ? [] : nil)
        }
        for _ in 0..<2 {
            let document = try BSONEncoder().encode(tree)
            #expect(try BSONDecoder().decode(Tree.self, from: document) == tree)
        }
    }

    struct Outer: Codable, Equatable {
        var payload: Tree

        init(payload: Tree) { self.payload = payload }

        init(from decoder: any Decoder) throws {
            let bytes = try decoder.singleValueContainer().decode(BSONBinary.self).bytes
            let document = try BSONDocument(validating: bytes)
            payload = try BSONDecoder().decode(Tree.self, from: document)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(BSONBinary(BSONEncoder().encode(payload).bytes))
        }
    }

    @Test("coding inside of coding works")
    func reentrance() throws {
        let value = ["a": Outer(payload: Tree(name: "x")), "b": Outer(payload: Tree(name: "y"))]
        let document = try BSONEncoder().encode(value)
        #expect(try BSONDecoder().decode([String: Outer].self, from: document) == value)
    }

    @Test("after a failure the next value of the type is coded as ever")
    func failures() throws {
        let good: BSONDocument = ["name": "a", "children": [["name": "b", "children": []]]]
        let bad: BSONDocument = ["name": "a", "children": [["name": 1, "children": []]]]
        for _ in 0..<3 {
            #expect(throws: DecodingError.self) { try BSONDecoder().decode(Tree.self, from: bad) }
            let tree = try BSONDecoder().decode(Tree.self, from: good)
            #expect(tree == Tree(name: "a", children: [Tree(name: "b")]))
            #expect(throws: EncodingError.self) {
                try BSONEncoder().encode(["a": ["b": UInt64.max]])
            }
            #expect(try BSONEncoder().encode(["a": ["b": UInt64(1)]]) == ["a": ["b": .int64(1)]])
        }
    }

    @Test("many tasks code at once")
    func concurrency() async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for task in 0..<16 {
                group.addTask {
                    try (0..<200).allSatisfy { index in
                        let tree = Tree(
                            name: "\(task)", children: [Tree(name: "\(index)"), Tree(name: "")])
                        let document = try BSONEncoder().encode(tree)
                        return try BSONDecoder().decode(Tree.self, from: document) == tree
                    }
                }
            }
            for try await isEqual in group { #expect(isEqual) }
        }
    }

    /// Uses two kinds of keys on one decoder, and one decoder under two types.
    struct Mixed: Codable, Equatable {
        enum Other: CodingKey { case second }
        struct Part: Codable, Equatable { var first: Int }
        var part: Part
        var second: Int

        init(first: Int, second: Int) {
            part = Part(first: first)
            self.second = second
        }

        init(from decoder: any Decoder) throws {
            part = try Part(from: decoder)
            let container = try decoder.container(keyedBy: Other.self)
            second = try container.decode(Int.self, forKey: .second)
        }

        func encode(to encoder: any Encoder) throws {
            try part.encode(to: encoder)
            var container = encoder.container(keyedBy: Other.self)
            try container.encode(second, forKey: .second)
        }
    }

    @Test("several containers of one value see the same document")
    func severalContainers() throws {
        let values = [Mixed(first: 1, second: 2), Mixed(first: 3, second: 4)]
        let document = try BSONEncoder().encode(["a": values])
        #expect(
            document == [
                "a": [
                    ["first": .int64(1), "second": .int64(2)],
                    ["first": .int64(3), "second": .int64(4)],
                ]
            ])
        #expect(try BSONDecoder().decode([String: [Mixed]].self, from: document) == ["a": values])
    }

    /// Leaves its container to others, who write to it when it is too late.
    final class Leaking: Encodable {
        nonisolated(unsafe) static var left: [KeyedEncodingContainer<Key>] = []
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode("in time", forKey: .name)
            Self.left.append(container)
        }
    }

    @Test("an encoding container that was kept changes no other document")
    func keptEncoders() throws {
        for _ in 0..<3 {
            #expect(
                try BSONEncoder().encode(["a": Leaking()]) == ["a": ["name": "in time"]])
        }
        for index in Leaking.left.indices {
            try Leaking.left[index].encode("too late", forKey: .name)
        }
        Leaking.left = []
        #expect(try BSONEncoder().encode(["a": Leaking()]) == ["a": ["name": "in time"]])
        Leaking.left = []
    }

    /// Opens a container under a key that comes from a user.
    struct Opening: Encodable {
        struct AnyKey: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        func encode(to encoder: any Encoder) throws {
            var outer = encoder.container(keyedBy: AnyKey.self)
            var inner = outer.nestedContainer(
                keyedBy: AnyKey.self, forKey: AnyKey(stringValue: "in"))
            var list = inner.nestedUnkeyedContainer(forKey: AnyKey(stringValue: "a\0b"))
            try list.encode(1)
        }
    }

    @Test("a container under a key that holds NUL fails the encoding")
    func nulInKey() {
        do {
            _ = try BSONEncoder().encode(["a": Opening()])
            Issue.record("It was encoded")
        } catch EncodingError.invalidValue(_, let context) {
            #expect(context.codingPath.map(\.stringValue) == ["a", "in", "a\0b"])
        } catch {
            Issue.record("\(error)")
        }
        #expect(throws: Never.self) { try BSONEncoder().encode(["a": 1]) }
    }
}
