extension UpdateApplier {
    func push(
        _ push: UpdateOperation.Push, onto old: BSONValue
    ) throws(StoreError) -> Outcome {
        guard let array = old.arrayValue else {
            throw StoreError(
                .badValue,
                "The field '\(displayPath)' must be an array but is of type \(old.type.alias) in "
                    + "document \(displayID)", documentID: original["_id"])
        }
        let after = pushed(push, onto: array)
        return after == array ? .same : .set(.array(after))
    }

    /// Returns the array after `$push`; a missing field counts as an empty array.
    func pushed(_ push: UpdateOperation.Push, onto array: BSONArray?) -> BSONArray {
        if push.position == nil, push.sort == nil, push.slice == nil, push.values.count == 1 {
            var array = array ?? BSONArray()
            array.append(push.values[0])
            return array
        }
        var values = array?.values ?? []
        let position = push.position ?? values.count
        let start = position < 0 ? max(0, values.count + position) : min(position, values.count)
        values.insert(contentsOf: push.values, at: start)
        if let sort = push.sort { values = sort.sorted(values, context.collation) }
        if let slice = push.slice {
            let count = Int(clamping: slice.magnitude)
            values = slice < 0 ? values.suffix(count) : Array(values.prefix(count))
        }
        return BSONArray(values)
    }

    func add(
        _ additions: [BSONValue], to old: BSONValue
    ) throws(StoreError) -> Outcome {
        guard var array = old.arrayValue else {
            throw StoreError(
                .badValue,
                "Cannot apply $addToSet to non-array field. Field named '\(path.last ?? "")' has "
                    + "non-array type \(old.type.alias)", documentID: original["_id"])
        }
        if additions.count == 1 {
            let addition = additions[0]
            let isPresent = array.contains {
                WorkBudget.isOver() || context.collation.compare($0, addition) == .equal
            }
            guard !isPresent else { return .same }
            array.append(addition)
            return .set(.array(array))
        }
        var values = array.values
        let before = values.count
        values += distinct(additions, besides: values)
        try WorkBudget.check()
        return values.count == before ? .same : .set(.array(BSONArray(values)))
    }

    /// Returns a key that is equal for equal values.
    func key(_ value: BSONValue) -> [UInt8] {
        _ = WorkBudget.isOver()
        return BSONKey.encode(context.collation?.key(value) ?? value)
    }

    /// Returns the values that are not present yet, without repetitions.
    func distinct(_ values: [BSONValue], besides present: [BSONValue] = []) -> [BSONValue] {
        var keys = Set(present.map(key))
        return values.filter { WorkBudget.isOver() ? false : keys.insert(key($0)).inserted }
    }

    func pull(
        from old: BSONValue, where isRemoved: (BSONValue) -> Bool
    ) throws(StoreError) -> Outcome {
        guard let array = old.arrayValue else {
            throw StoreError(
                .badValue, "Cannot apply $pull to a non-array value",
                documentID: original["_id"])
        }
        let values = array.values
        let kept = values.filter { WorkBudget.isOver() ? false : !isRemoved($0) }
        try WorkBudget.check()
        return kept.count == values.count ? .same : .set(.array(BSONArray(kept)))
    }

    func passes(_ element: BSONValue, _ condition: UpdateOperation.PullCondition) -> Bool {
        switch condition {
        case .passing(let filter): filter.matches(["": element] as BSONDocument)
        case .documents(let filter): element.documentValue.map { filter.matches($0) } ?? false
        case .equal(let value): context.collation.compare(value, element) == .equal
        }
    }

    func pop(_ old: BSONValue, isFirst: Bool) throws(StoreError) -> Outcome {
        guard var array = old.arrayValue else {
            throw StoreError(
                .typeMismatch,
                "Path '\(displayPath)' contains an element of non-array type '\(old.type.alias)'",
                documentID: original["_id"])
        }
        guard !array.isEmpty else { return .same }
        array.remove(at: isFirst ? 0 : array.count - 1)
        return .set(.array(array))
    }
}
