import BSONStore
import Foundation
import Testing

/// Without these, types that write their own `encode(to:)` would not work.
@Suite struct BSONCoderContainerTests {
    class Animal: Codable {
        var name: String
        init(name: String) { self.name = name }
    }

    final class Dog: Animal {
        var tricks: Int
        private enum CodingKeys: CodingKey { case tricks }

        init(name: String, tricks: Int) {
            self.tricks = tricks
            super.init(name: name)
        }

        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            tricks = try container.decode(Int.self, forKey: .tricks)
            try super.init(from: container.superDecoder())
        }

        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try super.encode(to: container.superEncoder())
            try container.encode(tricks, forKey: .tricks)
        }
    }

    final class Cat: Animal {
        var lives: Int
        private enum CodingKeys: CodingKey { case lives, name }

        init(name: String, lives: Int) {
            self.lives = lives
            super.init(name: name)
        }

        required init(from decoder: any Decoder) throws {
            lives = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .lives)
            try super.init(from: decoder)
        }

        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode("overwritten", forKey: .name)
            try container.encode(lives, forKey: .lives)
            try super.encode(to: encoder)
        }
    }

    @Test("a subclass keeps its superclass under `super`, in the place where it was asked for")
    func inheritance() throws {
        let document = try BSONEncoder().encode(Dog(name: "Rex", tricks: 3))
        #expect(document == ["super": ["name": "Rex"], "tricks": .int64(3)])
        let dog = try BSONDecoder().decode(Dog.self, from: document)
        #expect(dog.name == "Rex")
        #expect(dog.tricks == 3)
    }

    @Test("a subclass may share its superclass's document; the last of equal keys stays")
    func sharedInheritance() throws {
        let document = try BSONEncoder().encode(Cat(name: "Tom", lives: 9))
        #expect(document == ["lives": .int64(9), "name": "Tom"])
        #expect(try BSONDecoder().decode(Cat.self, from: document).name == "Tom")
    }

    /// Writes to several open containers in turn.
    struct Interleaved: Encodable {
        enum Keys: CodingKey { case a, b, c, d, e }

        func encode(to encoder: any Encoder) throws {
            var outer = encoder.container(keyedBy: Keys.self)
            var a = outer.nestedContainer(keyedBy: Keys.self, forKey: .a)
            var b = outer.nestedUnkeyedContainer(forKey: .b)
            try outer.encode(1, forKey: .c)
            try a.encode(2, forKey: .a)
            try b.encode("x")
            var inner = a.nestedContainer(keyedBy: Keys.self, forKey: .b)
            try outer.encode("after", forKey: .d)
            try inner.encode(3, forKey: .c)
            var deep = b.nestedUnkeyedContainer()
            try b.encodeNil()
            try deep.encode(true)
            var keyed = b.nestedContainer(keyedBy: Keys.self)
            try keyed.encode(4, forKey: .e)
            try 5.encode(to: outer.superEncoder(forKey: .e))
            try "up".encode(to: b.superEncoder())
            _ = outer.superEncoder()
        }
    }

    @Test("containers that are written in turn end up where they were opened")
    func interleaved() throws {
        let document = try BSONEncoder().encode(["x": Interleaved()])
        #expect(
            document == [
                "x": [
                    "a": ["a": .int64(2), "b": ["c": .int64(3)]],
                    "b": ["x", [true], nil, ["e": .int64(4)], "up"],
                    "c": .int64(1), "d": "after", "e": .int64(5), "super": [:],
                ]
            ])
        #expect(throws: Never.self) { try BSONDocument(validating: document.bytes) }
    }

    /// Reads the same through nested containers.
    struct Nested: Decodable, Equatable {
        enum Keys: CodingKey { case a, b, c, missing }
        var seen: [String] = []

        init(from decoder: any Decoder) throws {
            let outer = try decoder.container(keyedBy: Keys.self)
            let a = try outer.nestedContainer(keyedBy: Keys.self, forKey: .a)
            seen.append(try a.decode(String.self, forKey: .c))
            var b = try outer.nestedUnkeyedContainer(forKey: .b)
            seen.append("\(b.count ?? -1)")
            seen.append(try b.decode(String.self))
            #expect(try b.decodeNil())
            #expect(try !b.decodeNil())
            var list = try b.nestedUnkeyedContainer()
            seen.append("\(try list.decode(Int.self))")
            #expect(list.isAtEnd)
            #expect(throws: DecodingError.self) { try list.decode(Int.self) }
            let keyed = try b.nestedContainer(keyedBy: Keys.self)
            seen.append("\(try keyed.decode(Bool.self, forKey: .a))")
            seen.append(try String(from: b.superDecoder()))
            #expect(b.isAtEnd)
            #expect(outer.allKeys.map(\.stringValue) == ["a", "b"])
            #expect(outer.contains(.a))
            #expect(!outer.contains(.missing))
            #expect(throws: DecodingError.self) { try outer.decodeNil(forKey: .missing) }
            seen.append(try String(from: a.superDecoder(forKey: .c)))
        }
    }

    @Test("nested containers read what is there, in order")
    func nested() throws {
        let document: BSONDocument = [
            "a": ["c": "in a"], "b": ["first", nil, [7], ["a": true], "last"], "zzz": 1,
        ]
        let read = try BSONDecoder().decode(Nested.self, from: document)
        #expect(read.seen == ["in a", "5", "first", "7", "true", "last", "in a"])
    }

    @propertyWrapper struct Clamped: Codable, Equatable {
        var wrappedValue: Int
        init(wrappedValue: Int) { self.wrappedValue = min(wrappedValue, 10) }
        init(from decoder: any Decoder) throws {
            self.init(wrappedValue: try decoder.singleValueContainer().decode(Int.self))
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(wrappedValue)
        }
    }

    @Test("property wrappers code as what they wrap")
    func wrappers() throws {
        struct Model: Codable, Equatable { @Clamped var level = 3 }
        #expect(try BSONEncoder().encode(Model()) == ["level": .int64(3)])
        #expect(try BSONDecoder().decode(Model.self, from: ["level": 99]).level == 10)
    }

    struct Failing: Encodable {
        struct Refusal: Error {}
        func encode(to encoder: any Encoder) throws {
            var container = encoder.unkeyedContainer()
            try container.encode("half")
            throw Refusal()
        }
    }

    struct Forgiving: Encodable {
        enum Keys: CodingKey { case bad, good }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            #expect(throws: Failing.Refusal.self) {
                try container.encode(Failing(), forKey: .bad)
            }
            var list = container.nestedUnkeyedContainer(forKey: .good)
            #expect(throws: Failing.Refusal.self) { try list.encode(Failing()) }
            try list.encode(1)
        }
    }

    @Test("a value that fails half way leaves nothing behind")
    func failure() throws {
        #expect(try BSONEncoder().encode(Forgiving()) == ["good": [.int64(1)]])
    }
}

extension BSONCoderContainerTests {
    struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    struct Seeker: Decodable {
        init(from decoder: any Decoder) throws {
            let keys = [
                "", "a", "a\0b", "ab", "abc", "abcd", "abcdefgh", "abcdefghi", "b", "é", "a\0",
            ]
            let container = try decoder.container(keyedBy: AnyKey.self)
            let there = Set(container.allKeys.map(\.stringValue))
            // Twice in each order, so that each key is sought from each place.
            for key in keys + keys.reversed() + keys {
                #expect(
                    container.contains(AnyKey(stringValue: key)) == there.contains(key), "\(key)")
            }
        }
    }

    @Test(
        "a key is found exactly when it is there, wherever the last search ended", arguments: 0..<10
    )
    func seeking(seed: Int) throws {
        var random = RandomBSON(seed: UInt64(seed))
        let elements = ["", "a", "ab", "abc", "abcd", "abcdefgh", "abcdefgi", "é", "abcdefghi"]
            .map { ($0, BSONValue.string("b")) }
        let some = random.shuffled(elements).prefix(random.number(0..<10))
        _ = try BSONDecoder().decode(Seeker.self, from: BSONDocument(some))
    }
}
