/// The array position of the positional `$`: where the filter's condition on the outermost array
/// passed.
///
/// If several conditions pass through arrays, the last one counts, in the order in which the server
/// tests them: by kind, then by path. Alternatives and negations determine no position. Source: the
/// server's `MatchDetails`.
enum PositionalOperator {
    /// Returns the position in a document that passes a filter, `nil` if there is none.
    static func find(in document: BSONDocument, _ filter: Filter) -> Int? {
        let options = EvaluationOptions(collation: filter.collation)
        var conditions: [Condition] = []
        collect(filter.predicate, into: &conditions)
        // Of two conditions with the same rank and path, the server tests the later one last.
        let order = conditions.indices.sorted { left, right in
            let (a, b) = (conditions[left], conditions[right])
            if a.rank != b.rank { return a.rank > b.rank }
            return a.path.hasSameBytes(as: b.path)
                ? left > right
                : b.path.lexicographicallyPrecedes(a.path) { $0.bytesPrecede($1) }
        }
        for index in order {
            if let position = position(conditions[index], document, options) { return position }
        }
        return nil
    }

    /// Returns the first element of an array that passes a filter with one condition on it.
    static func find(in array: BSONArray, key: String, _ filter: Filter) -> Int? {
        var position = 0
        for element in array {
            if filter.matches([key: [element]] as BSONDocument) { return position }
            position += 1
        }
        return nil
    }

    private struct Condition {
        let path: [String]
        let test: Predicate.Test
        let rank: Int
    }

    private static func collect(_ predicate: Predicate, into found: inout [Condition]) {
        if case .all(let parts) = predicate {
            for part in parts { collect(part, into: &found) }
        } else if case .any(let parts) = predicate {
            // A single alternative is a plain condition; several values for one field are a
            // membership test.
            if parts.count == 1 { return collect(parts[0], into: &found) }
            if let (path, values) = membership(parts) {
                found.append(Condition(path: path, test: .isIn(values, []), rank: 13))
            }
        } else if case .field(let path, let test) = predicate {
            found.append(Condition(path: path.parts, test: test, rank: rank(test)))
        }
    }

    private static func membership(_ parts: [Predicate]) -> ([String], [BSONValue])? {
        var path: FieldPath?
        var values: [BSONValue] = []
        for part in parts {
            guard case .field(let other, .compare(.equal, let value)) = part,
                path == nil || path == other
            else { return nil }
            path = other
            values.append(value)
        }
        return path.map { ($0.parts, values) }
    }

    /// Returns the rank of a kind of test in the server's order.
    private static func rank(_ test: Predicate.Test) -> Int {
        switch test {
        case .hasDocument: 2
        case .hasElement: 3
        case .hasSize: 4
        case .compare(.equal, _): 5
        case .compare(.lessOrEqual, _): 6
        case .compare(.less, _): 7
        case .compare(.greater, _): 8
        case .compare(.greaterOrEqual, _): 9
        case .matches: 10
        case .modulo: 11
        case .exists: 12
        case .isIn: 13
        default: 14
        }
    }

    private static func position(
        _ condition: Condition, _ document: BSONDocument, _ options: EvaluationOptions
    ) -> Int? {
        var value = BSONValue.document(document)
        for (index, part) in condition.path.enumerated() {
            switch value {
            case .document(let document):
                guard let next = document[part] else { return nil }
                value = next
            case .array(let array):
                let rest = Array(condition.path[index...])
                if let found = position(array, rest, condition.test, options) { return found }
                // A position in the path does not search the array's elements.
                guard let number = FieldPath.index(part), let next = array[number] else {
                    return nil
                }
                value = next
            default: return nil
            }
        }
        guard case .array(let array) = value else { return nil }
        return position(array, [], condition.test, options)
    }

    private static func position(
        _ array: BSONArray, _ rest: [String], _ test: Predicate.Test,
        _ options: EvaluationOptions
    ) -> Int? {
        if rest.isEmpty {
            switch test {
            case .exists, .hasSize: return nil
            // A constant that is an array may equal the whole array.
            case .compare(.equal, .array(let constant)):
                return array.values.firstIndex {
                    options.collation.compare($0, .array(constant)) == .equal
                }
            default: break
            }
        }
        do throws(StoreError) {
            let path = FieldPath(parts: ["e"] + rest)
            let one = try options.filter(.field(path, test))
            guard !rest.isEmpty else { return find(in: array, key: "e", one) }
            // A number at the beginning of the rest names a field here. As a position in this array
            // it does not search the elements.
            return array.values.firstIndex { element in
                guard case .document = element else { return false }
                return one.matches(["e": element] as BSONDocument)
            }
        } catch {
            // The caller throws if the budget is over.
            let reasons: [StoreError.Code] = [
                .maxTimeMSExpired, .interrupted, .interruptedAtShutdown,
            ]
            guard reasons.contains(error.code) else {
                preconditionFailure("a part of a filter that was compiled compiles: \(error)")
            }
            return nil
        }
    }
}
