extension UpdateApplier {
    /// Returns the value that an operator creates for a missing field.
    func make(by operation: UpdateOperation) throws(StoreError) -> BSONValue {
        switch operation {
        case .set(let value), .setOnInsert(let value), .increment(let value), .least(let value),
            .greatest(let value):
            return value
        case .multiply(let value): return BSONArithmetic.multiply(value, .int32(0)) ?? value
        case .currentDate(let asTimestamp): return Self.currentDate(asTimestamp)
        case .push(let push): return .array(pushed(push, onto: nil))
        case .addToSet(let values):
            return .array(BSONArray(distinct(values)))
        case .bit(let steps): return try bits(.int32(0), steps)
        // These create nothing, and a rename moves an existing value.
        case .rename, .unset, .renameSource, .pull, .pullAll, .pop: return .null
        }
    }

    /// Applies an operator to a value.
    func change(
        _ old: BSONValue, by operation: UpdateOperation
    ) throws(StoreError) -> Outcome {
        switch operation {
        case .set(let value), .setOnInsert(let value): return Self.replacing(old, by: value)
        case .unset, .renameSource: return .removed
        case .increment(let value):
            return try arithmetic(old, "$inc") { BSONArithmetic.add($0, value) }
        case .multiply(let value):
            return try arithmetic(old, "$mul") { BSONArithmetic.multiply($0, value) }
        case .least(let value):
            return context.collation.compare(value, old) == .less ? .set(value) : .same
        case .greatest(let value):
            return context.collation.compare(value, old) == .greater ? .set(value) : .same
        case .currentDate(let asTimestamp): return .set(Self.currentDate(asTimestamp))
        case .rename: return .same
        case .push(let push): return try self.push(push, onto: old)
        case .addToSet(let values): return try add(values, to: old)
        case .pull(let condition):
            return try pull(from: old) { passes($0, condition) }
        case .pullAll(let values):
            let removed = Set(values.map(key))
            return try pull(from: old) { removed.contains(key($0)) }
        case .pop(let isFirst): return try pop(old, isFirst: isFirst)
        case .bit(let steps): return try bit(old, steps)
        }
    }

    private static func replacing(_ old: BSONValue, by value: BSONValue) -> Outcome {
        old == value ? .same : .set(value)
    }

    private static func currentDate(_ asTimestamp: Bool) -> BSONValue {
        asTimestamp ? .timestamp(WallClock.timestamp()) : .datetime(WallClock.now)
    }

    private func arithmetic(
        _ old: BSONValue, _ name: String, _ operation: (BSONValue) -> BSONValue?
    ) throws(StoreError) -> Outcome {
        guard old.isNumber else {
            throw StoreError(
                .typeMismatch,
                "Cannot apply \(name) to a value of non-numeric type. \(displayID) has the field "
                    + "'\(path.last ?? "")' of non-numeric type \(old.type.alias)",
                documentID: original["_id"])
        }
        guard let value = operation(old) else {
            throw StoreError(
                .badValue,
                "Failed to apply \(name) operations to current value "
                    + "((\(Self.shellType(old)))\(ShellText.text(of: old))) for document \(displayID)",
                documentID: original["_id"])
        }
        // The sign of a zero and trailing zeros of a decimal do not count as a difference.
        let isSame = old.type == value.type && BSONOrder.compare(old, value) == .equal
        return isSame ? .same : .set(value)
    }

    private static func shellType(_ value: BSONValue) -> String {
        switch value.type {
        case .int32: "NumberInt"
        case .int64: "NumberLong"
        case .decimal128: "NumberDecimal"
        default: "NumberDouble"
        }
    }

    private func bit(
        _ old: BSONValue, _ steps: [UpdateOperation.BitStep]
    ) throws(StoreError) -> Outcome {
        guard old.type == .int32 || old.type == .int64 else {
            let id = original["_id"].map { "_id: \(ShellText.text(of: $0))" } ?? ""
            throw StoreError(
                .badValue,
                "Cannot apply $bit to a value of non-integral type.\(id) has the field "
                    + "\(path.last ?? "") of non-integer type \(old.type.alias)",
                documentID: original["_id"])
        }
        return Self.replacing(old, by: try bits(old, steps))
    }

    private func bits(
        _ start: BSONValue, _ steps: [UpdateOperation.BitStep]
    ) throws(StoreError) -> BSONValue {
        var value = start
        for step in steps {
            guard let result = step.apply(to: value) else {
                throw StoreError(
                    .badValue,
                    "Failed to apply $bit operations to current value: \(ShellText.text(of: value))"
                )
            }
            value = result
        }
        return value
    }
}
