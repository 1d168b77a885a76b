extension Updating {
    /// What an operator makes of the value at its path.
    func result(
        of modifier: UpdateModifier, on old: BSONValue?
    ) throws(StoreError) -> Outcome {
        switch modifier.operation {
        case .set(let value): return Self.replacing(old, by: value)
        case .setOnInsert(let value): return isInsert ? Self.replacing(old, by: value) : .same
        case .unset: return old == nil ? .same : .removed
        case .increment(let value):
            return try arithmetic(old, modifier, missing: value) { BSONArithmetic.add($0, value) }
        case .multiply(let value):
            let zero = BSONArithmetic.multiply(value, .int32(0)) ?? value
            return try arithmetic(old, modifier, missing: zero) {
                BSONArithmetic.multiply($0, value)
            }
        case .least(let value): return Self.bound(old, by: value, keeping: .less)
        case .greatest(let value): return Self.bound(old, by: value, keeping: .greater)
        case .currentDate(let asTimestamp): return .set(Self.currentDate(asTimestamp))
        case .rename(let source): return try renamed(from: source, over: old)
        case .push(let push): return try pushed(push, onto: old, modifier)
        case .addToSet(let values): return try added(values, to: old, modifier)
        case .pull(let condition):
            return try pulled(old, modifier) { Self.passes($0, condition) }
        case .pullAll(let values):
            return try pulled(old, modifier) { element in
                values.contains { BSONOrder.compare($0, element) == .equal }
            }
        case .pop(let isFirst): return try popped(old, modifier, isFirst: isFirst)
        case .bit(let steps): return try bits(old, modifier, steps)
        }
    }

    private static func replacing(_ old: BSONValue?, by value: BSONValue) -> Outcome {
        old == value ? .same : .set(value)
    }

    private static func bound(
        _ old: BSONValue?, by value: BSONValue, keeping order: BSONOrder
    ) -> Outcome {
        guard let old else { return .set(value) }
        return BSONOrder.compare(value, old) == order ? .set(value) : .same
    }

    private static func currentDate(_ asTimestamp: Bool) -> BSONValue {
        guard asTimestamp else { return .datetime(BSONDatetime(milliseconds: now)) }
        return .timestamp(
            BSONTimestamp(seconds: UInt32(truncatingIfNeeded: now / 1_000), increment: 1))
    }

    private func arithmetic(
        _ old: BSONValue?, _ modifier: UpdateModifier, missing: BSONValue,
        _ operation: (BSONValue) -> BSONValue?
    ) throws(StoreError) -> Outcome {
        guard let old else { return .set(missing) }
        let name = modifier.operation.name
        guard old.isNumber else {
            throw StoreError(
                .typeMismatch,
                "Cannot apply \(name) to a value of non-numeric type. \(shownID) has the field "
                    + "'\(field(modifier))' of non-numeric type \(old.type.alias)",
                documentID: original["_id"])
        }
        guard let value = operation(old) else {
            throw StoreError(
                .badValue,
                "Failed to apply \(name) operations to current value "
                    + "((\(Self.shellType(old)))\(ShellText.text(of: old))) for document \(shownID)",
                documentID: original["_id"])
        }
        return Self.replacing(old, by: value)
    }

    private func renamed(
        from source: FieldPath, over old: BSONValue?
    ) throws(StoreError) -> Outcome {
        var value: BSONValue = .document(original)
        for part in source.parts {
            switch value {
            case .document(let document):
                guard let next = document[part] else { return .same }
                value = next
            case .array:
                throw StoreError(
                    .badValue,
                    "The source field cannot be an array element, '\(source)' in doc with "
                        + "\(shownID.dropFirst().dropLast()) has an array field called '\(part)'",
                    documentID: original["_id"])
            default: return .same
            }
        }
        return Self.replacing(old, by: value)
    }

    private func pushed(
        _ push: UpdateOperation.Push, onto old: BSONValue?, _ modifier: UpdateModifier
    ) throws(StoreError) -> Outcome {
        if let old, old.type != .array {
            throw StoreError(
                .badValue,
                "The field '\(field(modifier))' must be an array but is of type "
                    + "\(old.type.alias) in document \(shownID)", documentID: original["_id"])
        }
        let before = old?.arrayValue
        var values = before?.values ?? []
        let position = push.position ?? values.count
        let start = position < 0 ? max(0, values.count + position) : min(position, values.count)
        values.insert(contentsOf: push.values, at: start)
        if let sort = push.sort { values = Self.sorted(values, sort) }
        if let slice = push.slice {
            let kept = slice < 0 ? values.suffix(-max(slice, -Int.max)) : values.prefix(slice)
            values = Array(kept)
        }
        return Self.replacing(before.map { .array($0) }, by: .array(BSONArray(values)))
    }

    private static func sorted(_ values: [BSONValue], _ sort: SortOrder) -> [BSONValue] {
        let isWhole = sort.keys.first?.path == .itself
        let keyed = values.enumerated().map { index, value -> (key: [UInt8], index: Int) in
            // For single values the whole counts, arrays included; embedded fields only of documents.
            guard isWhole else { return (sort.key(of: value.documentValue ?? [:]), index) }
            let key = BSONKey.encode(value)
            return (sort.keys[0].isDescending ? key.map { ~$0 } : key, index)
        }
        let order = keyed.sorted { left, right in
            left.key == right.key
                ? left.index < right.index : left.key.lexicographicallyPrecedes(right.key)
        }
        return order.map { values[$0.index] }
    }

    private func added(
        _ additions: [BSONValue], to old: BSONValue?, _ modifier: UpdateModifier
    ) throws(StoreError) -> Outcome {
        if let old, old.type != .array {
            throw StoreError(
                .badValue,
                "Cannot apply $addToSet to non-array field. Field named '\(field(modifier))' has "
                    + "non-array type \(old.type.alias)", documentID: original["_id"])
        }
        var values = old?.arrayValue?.values ?? []
        var keys = Set(values.map { BSONKey.encode($0) })
        let before = values.count
        for addition in additions where keys.insert(BSONKey.encode(addition)).inserted {
            values.append(addition)
        }
        guard values.count > before || old == nil else { return .same }
        return .set(.array(BSONArray(values)))
    }

    private func pulled(
        _ old: BSONValue?, _ modifier: UpdateModifier, where isRemoved: (BSONValue) -> Bool
    ) throws(StoreError) -> Outcome {
        guard let old else { return .same }
        guard let array = old.arrayValue else {
            throw StoreError(
                .badValue, "Cannot apply \(modifier.operation.name) to a non-array value",
                documentID: original["_id"])
        }
        let values = array.values
        let kept = values.filter { !isRemoved($0) }
        return kept.count == values.count ? .same : .set(.array(BSONArray(kept)))
    }

    private static func passes(
        _ element: BSONValue, _ condition: UpdateOperation.PullCondition
    ) -> Bool {
        switch condition {
        case .passing(let filter): return filter.matches(element)
        case .documents(let filter):
            guard let document = element.documentValue else { return false }
            return filter.matches(document)
        case .equal(let value): return BSONOrder.compare(value, element) == .equal
        }
    }

    private func popped(
        _ old: BSONValue?, _ modifier: UpdateModifier, isFirst: Bool
    ) throws(StoreError) -> Outcome {
        guard let old else { return .same }
        guard let array = old.arrayValue else {
            throw StoreError(
                .typeMismatch,
                "Path '\(modifier.path)' contains an element of non-array type "
                    + "'\(old.type.alias)'", documentID: original["_id"])
        }
        guard !array.isEmpty else { return .same }
        let values = array.values
        return .set(.array(BSONArray(isFirst ? values.dropFirst() : values.dropLast())))
    }

    private func bits(
        _ old: BSONValue?, _ modifier: UpdateModifier, _ steps: [UpdateOperation.BitStep]
    ) throws(StoreError) -> Outcome {
        var value = old ?? .int32(0)
        for step in steps {
            guard let result = BSONArithmetic.bit(value, step) else {
                throw StoreError(
                    .badValue,
                    "Cannot apply $bit to a value of non-integral type.\(shownID) has the field "
                        + "\(field(modifier)) of non-integer type \(value.type.alias)",
                    documentID: original["_id"])
            }
            value = result
        }
        return Self.replacing(old, by: value)
    }

    private var shownID: String {
        "{_id: \(original["_id"].map { ShellText.text(of: $0) } ?? "null")}"
    }

    private func field(_ modifier: UpdateModifier) -> String {
        modifier.path.description.split(separator: ".").last.map(String.init) ?? ""
    }

    private static func shellType(_ value: BSONValue) -> String {
        switch value.type {
        case .int32: "NumberInt"
        case .int64: "NumberLong"
        case .decimal128: "NumberDecimal"
        default: "double"
        }
    }
}
