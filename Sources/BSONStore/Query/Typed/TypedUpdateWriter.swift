internal import BSONCore

/// The writer of typed updates as MongoDB's update operators.
struct TypedUpdateWriter {
    let encoder: BSONEncoder

    /// One operator on one path.
    private struct Entry {
        let path: String
        var operand: BSONValue
        /// The elements of a plain `$push` or `$addToSet`, to which more can be added.
        var elements: [BSONValue]?
    }

    private typealias Group = (name: String, entries: [Entry])

    /// Returns the update document of operations, in their order.
    func document(_ operations: [TypedUpdate.Operation]) throws -> BSONDocument {
        var groups: [Group] = []
        for operation in operations {
            switch operation {
            case .field(let path, let change):
                try path.naming { try add(change, at: path, to: &groups) }
            case .bson(let document): try Self.add(document, to: &groups)
            }
        }
        guard !groups.isEmpty else {
            throw StoreError(.failedToParse, "the update operation document must not be empty")
        }
        return BSONDocument(
            groups.map { name, entries in
                (name, .document(BSONDocument(entries.map { ($0.path, $0.operand) })))
            })
    }

    private static func add(_ update: BSONDocument, to groups: inout [Group]) throws {
        for (name, operand) in update {
            guard name.hasBytePrefix("$"), let fields = operand.documentValue else {
                throw StoreError(
                    .failedToParse, "the update operation document must contain atomic operators")
            }
            for (path, operand) in fields {
                add(Entry(path: path, operand: operand), name, &groups)
            }
        }
    }

    private static func add(_ entry: Entry, _ name: String, _ groups: inout [Group]) {
        guard let group = groups.firstIndex(where: { $0.name.hasSameBytes(as: name) }) else {
            groups.append((name, [entry]))
            return
        }
        if let more = entry.elements,
            let index = groups[group].entries.firstIndex(where: {
                $0.path.hasSameBytes(as: entry.path)
            }),
            let elements = groups[group].entries[index].elements
        {
            groups[group].entries[index].elements = elements + more
            groups[group].entries[index].operand = each(elements + more)
            return
        }
        groups[group].entries.append(entry)
    }

    private static func each(_ elements: [BSONValue]) -> BSONValue {
        ["$each": .array(BSONArray(elements))]
    }

    private func add(
        _ change: FieldChange, at path: TypedFieldPath, to groups: inout [Group]
    ) throws {
        guard path.depth == 0 else {
            throw StoreError(.badValue, "An update names an element of a condition")
        }
        let path = try path.dotted(encoder)
        switch change {
        case .value(let name, let value):
            Self.add(Entry(path: path, operand: try value.encode(encoder)), name, &groups)
        case .constant(let name, let operand):
            Self.add(Entry(path: path, operand: operand), name, &groups)
        case .setNil:
            switch encoder.strategies.nils {
            case .omit: Self.add(Entry(path: path, operand: ""), "$unset", &groups)
            case .encodeNull: Self.add(Entry(path: path, operand: .null), "$set", &groups)
            }
        case .currentDate(let operand):
            guard case .bsonDatetime = encoder.strategies.dates else {
                throw StoreError(
                    .badValue, "The current date is a BSON datetime, but the encoder writes others")
            }
            Self.add(Entry(path: path, operand: operand), "$currentDate", &groups)
        case .add(let name, let values, let modifiers):
            Self.add(try addition(path, values, modifiers), name, &groups)
        case .pull(let values):
            let (name, operand) = try pull(values)
            Self.add(Entry(path: path, operand: operand), name, &groups)
        case .pullWhere(let node):
            Self.add(Entry(path: path, operand: try pull(node)), "$pull", &groups)
        }
    }

    private func addition(
        _ path: String, _ values: [TypedValue], _ modifiers: BSONDocument
    ) throws -> Entry {
        let elements = try values.map { try $0.encode(encoder) }
        guard modifiers.isEmpty else {
            var operand: BSONDocument = ["$each": .array(BSONArray(elements))]
            for (name, value) in modifiers { operand.append(name, value) }
            return Entry(path: path, operand: .document(operand))
        }
        guard elements.count == 1, !Self.hasOperators(elements[0]) else {
            return Entry(path: path, operand: Self.each(elements), elements: elements)
        }
        return Entry(path: path, operand: elements[0], elements: elements)
    }

    /// Whether a value would be read as operators.
    private static func hasOperators(_ value: BSONValue) -> Bool {
        value.documentValue?.keys.first?.hasBytePrefix("$") == true
    }

    private func pull(_ values: [TypedValue]) throws -> (name: String, operand: BSONValue) {
        let elements = try values.map { try $0.encode(encoder) }
        if elements.count == 1 {
            switch elements[0] {
            // `$pull` reads these as conditions.
            case .document, .array, .regularExpression: break
            default: return ("$pull", elements[0])
            }
        }
        return ("$pullAll", .array(BSONArray(elements)))
    }

    private func pull(_ node: TypedFilter.Node) throws -> BSONValue {
        let conditions = try TypedFilterWriter(encoder: encoder).elementConditions(node)
        guard conditions.count == 1 else {
            throw StoreError(
                .badValue,
                "A pull of elements that are not documents has one condition, without `||`")
        }
        return .document(conditions[0])
    }
}
