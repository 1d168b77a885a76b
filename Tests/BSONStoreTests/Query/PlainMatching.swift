@testable import BSONCore
@testable import BSONQuery
@testable import BSONStore

/// Matches a filter over decoded values, as slowly and plainly as the manual describes it.
enum PlainMatching {
    static func passes(_ document: BSONDocument, _ predicate: Predicate) -> Bool {
        switch predicate {
        case .all(let parts): return parts.allSatisfy { passes(document, $0) }
        case .any(let parts): return parts.contains { passes(document, $0) }
        case .not(let part): return !passes(document, part)
        case .special(let test):
            do throws(StoreError) {
                return try test.passes(document, ExpressionFrame())
            } catch {
                return false
            }
        case .field(let path, let test):
            let isWhole: Bool
            switch test {
            case .hasSize, .hasDocument, .hasElement, .exists: isWhole = true
            case .compare, .isIn, .matches, .hasType, .modulo, .special: isWhole = false
            }
            return candidates(path.parts[...], in: document, isWhole).contains {
                passes($0, test)
            }
        }
    }

    /// The values that a path leads to; `nil` for a missing one.
    private static func candidates(
        _ path: ArraySlice<String>, in document: BSONDocument, _ isWhole: Bool
    ) -> [BSONValue?] {
        guard let key = path.first, let value = document[key] else { return [nil] }
        let rest = path.dropFirst()
        if rest.isEmpty {
            guard case .array(let array) = value, !isWhole else { return [value] }
            return array.values + [value]
        }
        switch value {
        case .document(let document): return candidates(rest, in: document, isWhole)
        case .array(let array): return candidates(rest, inArray: array, isWhole)
        default: return [nil]
        }
    }

    private static func candidates(
        _ path: ArraySlice<String>, inArray array: BSONArray, _ isWhole: Bool
    ) -> [BSONValue?] {
        var found: [BSONValue?] = []
        let rest = path.dropFirst()
        for (index, value) in array.values.enumerated() {
            if case .document(let document) = value {
                found += candidates(path, in: document, isWhole)
            }
            guard path.first == String(index) else { continue }
            switch value {
            case _ where rest.isEmpty: found.append(value)
            case .document(let document): found += candidates(rest, in: document, isWhole)
            case .array(let inner): found += candidates(rest, inArray: inner, isWhole)
            default: continue
            }
        }
        return found
    }

    private static func passes(_ value: BSONValue?, _ test: Predicate.Test) -> Bool {
        switch test {
        case .compare(let comparison, let constant):
            return compare(value, comparison, constant)
        case .isIn(let constants, let expressions):
            return constants.contains { constant in
                guard let value, value != .undefined else { return constant == .null }
                return BSONOrder.compare(value, constant) == .equal
            } || expressions.contains { passes(value, .matches($0)) }
        case .matches(let expression): return value == .regularExpression(expression)
        case .exists: return value != nil
        case .hasType(let types): return value.map { types.contains($0.type.rawValue) } ?? false
        case .hasSize(let size): return value?.arrayValue?.count == size
        case .modulo(let divisor, let remainder):
            return value?.truncatedNumber.map { $0 % divisor == remainder } ?? false
        case .hasDocument(let predicate):
            return value?.arrayValue?.contains { element in
                element.documentValue.map { passes($0, predicate) }
                    ?? element.arrayValue.map { passes($0.document, predicate) } ?? false
            } ?? false
        case .special(let test):
            guard let value else { return test.passesMissing }
            let wrapped: BSONDocument = ["": value]
            return wrapped.withCursor { cursor in
                cursor.next().map { test.passes($0.value) } ?? false
            }
        case .hasElement(let predicate):
            return value?.arrayValue?.contains { passesItself($0, predicate) } ?? false
        }
    }

    private static func passesItself(_ value: BSONValue, _ predicate: Predicate) -> Bool {
        switch predicate {
        case .all(let parts): parts.allSatisfy { passesItself(value, $0) }
        case .any(let parts): parts.contains { passesItself(value, $0) }
        case .not(let part): !passesItself(value, part)
        case .field(_, let test): passes(value, test)
        case .special: false
        }
    }

    private static func compare(
        _ value: BSONValue?, _ comparison: Predicate.Comparison, _ constant: BSONValue
    ) -> Bool {
        let value = value ?? .undefined
        if value.type == .undefined || value.type == .null, constant.type == .null {
            return comparison != .less && comparison != .greater
        }
        if constant.type == .maxKey, value.type != .maxKey {
            return comparison == .less || comparison == .lessOrEqual
        }
        if constant.type == .minKey, value.type != .minKey {
            return comparison == .greater || comparison == .greaterOrEqual
        }
        guard BSONOrder.rank(value.type) == BSONOrder.rank(constant.type) else { return false }
        let order = BSONOrder.compare(value, constant)
        let hasNaN = [value, constant].contains {
            BSONOrder.compare($0, .double(.nan)) == .equal
        }
        if hasNaN, order != .equal { return false }
        switch comparison {
        case .equal: return order == .equal
        case .less: return order == .less
        case .lessOrEqual: return order != .greater
        case .greater: return order == .greater
        case .greaterOrEqual: return order != .less
        }
    }
}
