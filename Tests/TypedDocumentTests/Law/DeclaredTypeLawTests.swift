import BSONStore
import Foundation
import StitchSync
import Testing

/// Without these a typed write would overwrite what the app left alone in types that the random
/// records do not have: renamed keys, enums with values, optionals with a default, macros (rule
/// R15).
@Suite struct DeclaredTypeLawTests {
    enum Shape: Codable, Hashable, Sendable {
        case circle(radius: Double, color: String?)
        case label(String)
    }

    /// An element whose id may be missing in documents, or repeat.
    struct Part: Codable, Hashable, Sendable {
        var id: Int
        var name: String

        enum CodingKeys: String, CodingKey {
            case id
            case name = "n"
        }

        init(id: Int, name: String) { (self.id, self.name) = (id, name) }

        init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            id = try fields.decodeIfPresent(Int.self, forKey: .id) ?? 0
            name = try fields.decode(String.self, forKey: .name)
        }
    }

    protocol Order: Codable, Equatable {
        var title: String { get set }
        var level: Int? { get set }
        var shape: Shape { get set }
        var parts: [Part] { get set }
        var bag: Set<Part> { get set }
        var byName: [String: Part] { get set }
    }

    struct WrittenOrder: Order {
        var id: Int
        var title: String
        var level: Int?
        var shape: Shape
        var parts: [Part]
        var bag: Set<Part>
        var byName: [String: Part]

        enum CodingKeys: String, CodingKey {
            case id = "_id"
            case title = "t"
            case level, shape, parts, bag, byName
        }

        init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            id = try fields.decode(Int.self, forKey: .id)
            title = try fields.decodeIfPresent(String.self, forKey: .title) ?? "new"
            level = try fields.decodeIfPresent(Int.self, forKey: .level) ?? 5
            shape = try fields.decode(Shape.self, forKey: .shape)
            parts = try fields.decodeIfPresent([Part].self, forKey: .parts) ?? []
            bag = try fields.decodeIfPresent(Set<Part>.self, forKey: .bag) ?? []
            byName = try fields.decodeIfPresent([String: Part].self, forKey: .byName) ?? [:]
        }
    }

    #if Macros
        @Document
        struct MacroOrder: Order, Equatable {
            var id: Int
            @FieldName("t") var title: String = "new"
            var level: Int? = 5
            var shape: Shape
            var parts: [Part] = []
            var bag: Set<Part> = []
            var byName: [String: Part] = [:]
        }
    #endif

    /// An edit that removes nothing, and the field that it changes.
    private struct Edit<O: Order> {
        let field: String
        let apply: (inout O) -> Void
    }

    private static func edits<O: Order>(of type: O.Type) -> [Edit<O>] {
        [
            Edit(field: "t") { $0.title += "!" },
            Edit(field: "level") { $0.level = 7 },
            Edit(field: "shape") { order in
                if case .circle(_, let color) = order.shape {
                    order.shape = .circle(radius: 9, color: color)
                }
            },
            Edit(field: "parts") { if !$0.parts.isEmpty { $0.parts[0].name = "q" } },
            Edit(field: "parts") { $0.parts.insert(Part(id: 50, name: "q"), at: 0) },
            Edit(field: "parts") { $0.parts.append(Part(id: 0, name: "q")) },
            Edit(field: "parts") { $0.parts.reverse() },
            Edit(field: "bag") { $0.bag.insert(Part(id: 0, name: "q")) },
            Edit(field: "byName") { $0.byName["k0"]?.name = "q" },
            Edit(field: "byName") { $0.byName["q"] = Part(id: 1, name: "q") },
        ]
    }

    @Test func `a write changes only the edited field, and no unknown field is lost`() throws {
        try check(WrittenOrder.self)
        #if Macros
            try check(MacroOrder.self)
        #endif
    }

    @Test func `an edit of an older value replaces what only together is a value`() throws {
        struct Form: Codable, Equatable {
            var id: Int
            var shape: Shape
            var name: String
            enum CodingKeys: String, CodingKey { case id = "_id", shape, name }
        }
        let coding = DocumentCoding<Form>()
        let original = Form(id: 1, shape: .circle(radius: 1, color: nil), name: "a")
        let stored = try coding.encode(Form(id: 1, shape: .label("x"), name: "theirs"))
        var edited = original
        edited.shape = .circle(radius: 9, color: "red")
        let written = try coding.write(edited, from: original, onto: stored)
        #expect(
            try coding.decode(written)
                == Form(id: 1, shape: .circle(radius: 9, color: "red"), name: "theirs"))
        // Another document is not written: its `_id` shows that it is another one.
        let other = try coding.encode(Form(id: 2, shape: .label("x"), name: "other"))
        #expect(try coding.write(edited, from: original, onto: other)["_id"] != other["_id"])
    }

    private func check<O: Order>(_ type: O.Type) throws {
        let edits = Self.edits(of: type)
        for seed in TypedWriteLawTests.seeds where seed.isMultiple(of: 8) {
            var dice = RecordDice(seed: seed)
            let stored = dice.storedOrder()
            let order = try BSONDecoder().decode(type, from: stored)
            #expect(try BSONEncoder().encode(order, onto: stored) == stored)
            for edit in edits {
                var edited = order
                edit.apply(&edited)
                let written = try BSONEncoder().encode(edited, onto: stored)
                let context = Comment(rawValue: "seed \(seed), \(edit.field): \(stored) \(written)")
                try #require(BSONDecoder().decode(type, from: written) == edited, context)
                try #require(
                    Self.notes(in: .document(stored)) == Self.notes(in: .document(written)), context
                )
                var (rest, writtenRest) = (stored, written)
                rest[edit.field] = nil
                writtenRest[edit.field] = nil
                try #require(rest == writtenRest, context)
            }
        }
    }

    /// Returns the values of the fields that no type knows, at any depth, in a fixed order.
    private static func notes(in value: BSONValue) -> [Int] {
        switch value {
        case .document(let document):
            return document.flatMap { key, value in
                key == "note" ? [value.intValue ?? 0] : notes(in: value)
            }.sorted()
        case .array(let array): return array.flatMap { notes(in: $0) }.sorted()
        default: return []
        }
    }
}

extension RecordDice {
    /// Returns an order as several versions of an app could have written it.
    fileprivate mutating func storedOrder() -> BSONDocument {
        var order: BSONDocument = ["_id": 1]
        var notes: Int32 = 0
        func note() -> BSONValue {
            notes += 1
            return .int32(notes)
        }
        func part(_ index: Int, hasOwnID: Bool) -> BSONValue {
            var part: BSONDocument = ["n": .string(["a", "b"][below(2)]), "note": note()]
            switch hasOwnID ? 2 : below(3) {
            case 0: break
            case 1: part["id"] = .int32(Int32(below(2)))
            default: part["id"] = .double(Double(100 + index))
            }
            return .document(part)
        }
        func parts(areDistinct: Bool) -> [BSONValue] {
            (0..<below(4)).map { part($0, hasOwnID: areDistinct) }
        }
        if chance(70) { order["t"] = chance(50) ? "pen" : "ink" }
        if chance(60) { order["level"] = chance(30) ? .null : .double(3) }
        order["shape"] =
            chance(30)
            ? ["label": ["_0": "x", "note": note()], "note": note()]
            : ["circle": ["radius": 2, "color": .null, "note": note()], "note": note()]
        if chance(80) { order["parts"] = .array(BSONArray(parts(areDistinct: false))) }
        if chance(80) { order["bag"] = .array(BSONArray(parts(areDistinct: chance(50)))) }
        if chance(80) {
            order["byName"] = .document(
                BSONDocument(parts(areDistinct: false).enumerated().map { ("k\($0)", $1) }))
        }
        order["note"] = note()
        return order
    }
}
