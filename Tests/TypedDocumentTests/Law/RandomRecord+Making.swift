import BSONStore
import Foundation
import SyncSimulation

/// Makes types, documents that various programs could have written, and edits, from a seed.
struct RecordDice {
    private var random: SimulationRandom

    init(seed: UInt64) { random = SimulationRandom(seed: seed) }

    mutating func chance(_ percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &random) < percent
    }

    mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    private mutating func text() -> String {
        ["", "a", "ä", "milk", "e\u{301}", "Straße", "🙂"][below(7)]
    }

    private mutating func uuid() -> UUID {
        let byte = UInt8(below(6))
        return UUID(uuid: (byte, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
    }
}

/// Properties that one device edits.
struct Part {
    /// The property, a struct, that has them; `nil` for those of the document.
    var inside: String?
    var names: [String] = []
}

extension Record {
    /// Takes the properties of a part from another value.
    mutating func take(_ names: Set<String>, of part: Part, from other: Record) {
        guard let outer = part.inside else {
            for name in names { values[name] = other.values[name] }
            return
        }
        guard case .record(var mine)? = values[outer],
            case .record(let theirs)? = other.values[outer]
        else { return }
        for name in names { mine.values[name] = theirs.values[name] }
        values[outer] = .record(mine)
    }
}

// MARK: - Types

extension RecordDice {
    mutating func type(depth: Int = 0) -> RecordType {
        var type = RecordType(
            members: (0..<1 + below(depth == 0 ? 6 : 4)).map { member("f\($0)", depth: depth) })
        switch below(4) {
        case 0:
            type.members.insert(
                RecordType.Member(name: depth == 0 ? "_id" : "id", kind: .int), at: 0)
        case 1 where depth > 0:
            // `var id = 0`, which stored elements may lack.
            type.members.insert(
                RecordType.Member(name: "id", kind: .int, fallback: .int(0)), at: below(2))
        default: break
        }
        if depth == 0, type.members[0].name != "_id" {
            type.members.insert(RecordType.Member(name: "_id", kind: .int), at: 0)
        }
        return type
    }

    private mutating func member(_ name: String, depth: Int) -> RecordType.Member {
        let kind = kind(depth: depth)
        var member = RecordType.Member(name: name, kind: kind)
        switch below(3) {
        case 0: member.isOptional = true
        case 1: member.fallback = value(of: kind)
        default: break
        }
        return member
    }

    private mutating func kind(depth: Int) -> RecordType.Kind {
        switch below(depth < 2 ? 29 : 23) {
        case 0: .bool
        case 1: .int
        case 2: .int8
        case 3: .int32
        case 4: .unsigned
        case 5: .double
        case 6: .float
        case 7: .string
        case 8: .date
        case 9: .uuid
        case 10: .data
        case 11: .url
        case 12: .decimal
        case 13: .decimal128
        case 14: .objectID
        case 15: .value
        case 16: .document
        case 17: .strings
        case 18: .integers
        case 19: .stringSet
        case 20: .decimalSet
        case 21: .uuidCounts
        case 22: .counts
        case 23, 24: .record(type(depth: depth + 1))
        case 25, 26: .records(type(depth: depth + 1))
        case 27: .recordSet(type(depth: depth + 1))
        default: .recordsByName(type(depth: depth + 1))
        }
    }
}

// MARK: - Values

extension RecordDice {
    mutating func value(of kind: RecordType.Kind) -> RecordValue {
        switch kind {
        case .bool: .bool(chance(50))
        case .int: .int(below(20) - 5)
        case .int8: .int8(Int8(below(20)))
        case .int32: .int32(Int32(below(20)))
        case .unsigned: .unsigned(UInt32(below(20)))
        case .double: .double(Double(below(40)) / 4)
        case .float: .float([0.5, 1.5, -0.0, 3][below(4)])
        case .string: .string(text())
        case .date: .date(Date(timeIntervalSince1970: Double(below(1_000)) / 8))
        case .uuid: .uuid(uuid())
        case .data: .data(Data([UInt8(below(9)), 7]))
        case .url: .url(URL(filePath: "/\(below(9))"))
        case .decimal: .decimal(Decimal(below(40)) / 4)
        case .decimal128: .decimal128(BSONDecimal128(Int64(below(20))))
        case .objectID: .objectID(BSONObjectID())
        case .value: .value(.array([foreignValue()]))
        case .document: .document(["x": foreignValue(), "y": .int32(Int32(below(9)))])
        case .strings: .strings((0..<below(4)).map { _ in text() })
        case .integers: .integers((0..<below(4)).map { _ in below(5) })
        case .stringSet: .stringSet(Set((0..<below(4)).map { _ in text() }))
        case .decimalSet: .decimalSet(Set((0..<below(4)).map { _ in Decimal(below(20)) / 2 }))
        case .uuidCounts:
            .uuidCounts(
                Dictionary((0..<below(4)).map { _ in (uuid(), below(9)) }) { first, _ in first })
        case .counts:
            .counts(
                Dictionary((0..<below(4)).map { ("k\($0)", below(9)) }) { first, _ in first })
        case .record(let type): .record(record(type))
        case .records(let type): .records((0..<below(4)).map { identified(record(type), $0) })
        case .recordSet(let type):
            .recordSet(Set((0..<below(4)).map { identified(record(type), $0) }))
        case .recordsByName(let type):
            .recordsByName(
                Dictionary((0..<below(3)).map { ("n\($0)", record(type)) }) { first, _ in first })
        }
    }

    mutating func record(_ type: RecordType) -> Record {
        var record = Record(type, [:])
        for member in type.members {
            if member.isOptional, chance(30) { continue }
            record.values[member.name] = value(of: member.kind)
        }
        return record
    }

    /// Gives most elements of one array different identities.
    private mutating func identified(_ record: Record, _ index: Int) -> Record {
        var record = record
        if record.values["id"] != nil { record.values["id"] = .int(chance(20) ? 0 : 100 + index) }
        return record
    }

    mutating func foreignValue() -> BSONValue {
        switch below(6) {
        case 0: .null
        case 1: .int32(Int32(below(9)))
        case 2: .double(Double(below(9)))
        case 3: .string(text())
        case 4: .binary(BSONBinary([1, UInt8(below(9))], subtype: 0x80))
        default: ["deep": [.int64(Int64(below(9))), .null]]
        }
    }
}

// MARK: - Stored documents

extension RecordDice {
    /// Returns a document of the value in a form that an older, newer or foreign program could have
    /// written.
    mutating func stored(_ record: Record) -> BSONDocument {
        var result = BSONDocument()
        for member in record.type.type.members {
            if chance(15) { result.append("unknown\(result.count)", foreignValue()) }
            let isOpen = member.isOptional || member.fallback != nil
            if isOpen, chance(25) {
                // Missing or null.
                if chance(40) { result.append(member.name, .null) }
                continue
            }
            guard let value = record.values[member.name] else { continue }
            result.append(member.name, stored(value))
        }
        if chance(40) { result.append("later", ["note": foreignValue()]) }
        return result
    }

    private mutating func stored(_ value: RecordValue) -> BSONValue {
        switch value {
        case .bool(let value): .bool(value)
        case .int(let value): number(Int64(value))
        case .int8(let value): number(Int64(value))
        case .int32(let value): number(Int64(value))
        case .unsigned(let value): number(Int64(value))
        case .double(let value):
            chance(50) && value == value.rounded() ? .int32(Int32(value)) : .double(value)
        case .float(let value): .double(Double(value))
        case .string(let value): .string(value)
        case .date(let value):
            .datetime(BSONDatetime(milliseconds: Int64(value.timeIntervalSince1970 * 1_000)))
        case .uuid(let value): .uuid(value)
        case .data(let value):
            .binary(BSONBinary(Array(value), subtype: [0, 5, 128][below(3)]))
        case .url: .string(["http://x.org/ä b", "http://x.org/%C3%A4", "x:y"][below(3)])
        case .decimal(let value): decimal(value)
        case .decimal128(let value): .decimal128(value)
        case .objectID(let value): .objectID(value)
        case .value(let value): value
        case .document(let value): .document(value)
        case .strings(let value): .array(BSONArray(value.map { .string($0) }))
        case .integers(let value): .array(BSONArray(value.map { number(Int64($0)) }))
        case .stringSet(let value):
            .array(BSONArray(shuffled(value.sorted()).map { .string($0) }))
        case .decimalSet(let value):
            .array(BSONArray(shuffled(value.sorted()).map { decimal($0) }))
        case .uuidCounts(let value):
            .array(
                BSONArray(
                    shuffled(value.sorted { $0.key.uuidString < $1.key.uuidString }).flatMap {
                        [.uuid($0.key), number(Int64($0.value))]
                    }))
        case .counts(let value):
            .document(
                BSONDocument(
                    shuffled(value.sorted { $0.key < $1.key }).map {
                        ($0.key, number(Int64($0.value)))
                    }))
        case .record(let value): .document(stored(value))
        case .records(let value): .array(BSONArray(value.map { .document(stored($0)) }))
        case .recordSet(let value):
            .array(BSONArray(value.map { .document(stored($0)) }))
        case .recordsByName(let value):
            .document(
                BSONDocument(
                    value.sorted { $0.key < $1.key }.map { ($0.key, .document(stored($0.value))) }))
        }
    }

    private mutating func number(_ value: Int64) -> BSONValue {
        switch below(3) {
        case 0: .int32(Int32(value))
        case 1: .int64(value)
        default: .double(Double(value))
        }
    }

    private mutating func decimal(_ value: Decimal) -> BSONValue {
        let text = value.description
        let padded = text.contains(".") ? text + "0" : text + ".00"
        return .exactDecimal(chance(50) ? padded : text)
    }

    private mutating func shuffled<T>(_ values: [T]) -> [T] { values.shuffled(using: &random) }
}

// MARK: - Edits

extension RecordDice {
    /// Changes some properties, at any depth, and returns the names of the outermost ones.
    mutating func edit(_ record: inout Record, outOf names: [String]) -> Set<String> {
        var edited: Set<String> = []
        for name in names where chance(50) {
            if change(&record, name) { edited.insert(name) }
        }
        return edited
    }

    /// Returns what two devices may edit: other properties, or other parts of one stored struct.
    mutating func parts(of record: Record, _ stored: BSONDocument) -> [Part] {
        let structs = record.values.keys.sorted().filter {
            guard case .record? = record.values[$0] else { return false }
            return stored[$0]?.documentValue != nil
        }
        var part = Part()
        var names = record.type.type.members.map(\.name)
        if !structs.isEmpty, chance(40) {
            let outer = structs[below(structs.count)]
            if case .record(let inner)? = record.values[outer] {
                part.inside = outer
                names = inner.type.type.members.map(\.name)
            }
        }
        let half = below(names.count + 1)
        return [Array(names[..<half]), Array(names[half...])].map { names in
            var part = part
            part.names = names
            return part
        }
    }

    /// Changes some of the properties of a part, and returns their names.
    mutating func edit(_ record: inout Record, _ part: Part) -> Set<String> {
        guard let outer = part.inside else { return edit(&record, outOf: part.names) }
        guard case .record(var inner)? = record.values[outer] else { return [] }
        let edited = edit(&inner, outOf: part.names)
        record.values[outer] = .record(inner)
        return edited
    }

    private mutating func change(_ record: inout Record, _ name: String) -> Bool {
        guard name != "_id", name != "id",
            let member = record.type.type.members.first(where: { $0.name == name })
        else { return false }
        let before = record.values[name]
        if member.isOptional, before != nil, chance(20) {
            record.values[name] = nil
            return true
        }
        record.values[name] = changed(before, member.kind)
        return record.values[name] != before
    }

    private mutating func changed(_ value: RecordValue?, _ kind: RecordType.Kind) -> RecordValue {
        switch (value, kind) {
        case (.record(var record)?, _) where chance(80):
            _ = edit(&record, outOf: record.type.type.members.map(\.name))
            return .record(record)
        case (.records(var records)?, .records(let type)) where !records.isEmpty && chance(85):
            switch below(4) {
            case 0: records.remove(at: below(records.count))
            case 1: records.insert(identified(self.record(type), 900), at: below(records.count + 1))
            case 2: records.swapAt(0, records.count - 1)
            default:
                let index = below(records.count)
                let names = records[index].type.type.members.map(\.name)
                _ = edit(&records[index], outOf: names)
            }
            return .records(records)
        case (.recordSet(let records)?, .recordSet(let type)) where chance(85):
            var list = Array(records)
            switch below(3) {
            case 0 where !list.isEmpty: list.remove(at: below(list.count))
            case 1 where !list.isEmpty:
                _ = edit(&list[0], outOf: type.members.map(\.name))
            default: list.append(identified(self.record(type), 900))
            }
            return .recordSet(Set(list))
        case (.recordsByName(var records)?, .recordsByName(let type)) where chance(85):
            switch records.keys.sorted().first {
            case let key? where chance(50):
                let names = type.members.map(\.name)
                if var record = records[key] {
                    _ = edit(&record, outOf: names)
                    records[key] = record
                }
            case let key? where chance(50): records[key] = nil
            default: records["new"] = self.record(type)
            }
            return .recordsByName(records)
        case (.stringSet(var set)?, _) where chance(80):
            if let first = set.sorted().first, chance(50) {
                set.remove(first)
            } else {
                set.insert("new")
            }
            return .stringSet(set)
        case (.decimalSet(var set)?, _) where chance(80):
            if let first = set.sorted().first, chance(50) {
                set.remove(first)
            } else {
                set.insert(99)
            }
            return .decimalSet(set)
        case (.uuidCounts(var counts)?, _) where chance(80):
            let first = counts.keys.min { $0.uuidString < $1.uuidString }
            if let first, chance(50) {
                counts[first] = chance(50) ? nil : 77
            } else {
                counts[UUID()] = 1
            }
            return .uuidCounts(counts)
        default: return self.value(of: kind)
        }
    }
}

extension BSONValue {
    /// Returns a decimal with all its digits; the text must be a number.
    static func exactDecimal(_ text: String) -> BSONValue {
        do {
            return .decimal128(try BSONDecimal128(text))
        } catch {
            preconditionFailure("\(error)")
        }
    }
}
