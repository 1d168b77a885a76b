internal import BSONStore

/// The insertion of a user's values into conditions.
///
/// Values are inserted after the rules were parsed: an operator in a user's data is data. A
/// condition that needs a missing value is not satisfied, and neither is its opposite: what cannot
/// be evaluated denies.
struct RuleExpressionBinding {
    let user: RuleUser
    let constants: RuleConstants

    /// Returns the condition with the user's values.
    func bind(_ expression: RuleExpression) -> RulePredicate {
        bind(expression, isNegated: false)
    }

    /// Returns the condition with the user's values; `nil` without a condition.
    func bind(_ expression: RuleExpression?) -> RulePredicate? {
        expression.map { bind($0, isNegated: false) }
    }

    /// - Parameter isNegated: whether an odd number of negations surrounds the condition; an
    ///   inevaluable condition must then count as true.
    private func bind(_ expression: RuleExpression, isNegated: Bool) -> RulePredicate {
        switch expression {
        case .constant(let flag): .constant(flag)
        case .all(let parts): .all(of: parts.map { bind($0, isNegated: isNegated) })
        case .any(let parts): .any(of: parts.map { bind($0, isNegated: isNegated) })
        case .not(let inner): .not(of: bind(inner, isNegated: !isNegated))
        case .test(let subject, let test): bind(test, of: subject, isNegated: isNegated)
        }
    }

    private func bind(
        _ test: RuleTest, of subject: RuleSubject, isNegated: Bool
    ) -> RulePredicate {
        switch test {
        case .all(let parts):
            return .all(of: parts.map { bind($0, of: subject, isNegated: isNegated) })
        case .not(let inner):
            return .not(of: bind(inner, of: subject, isNegated: !isNegated))
        case .compare, .isIn, .exists, .query: break
        }
        let bound: RulePredicate? =
            switch subject {
            case .reference(.root(let path)): field(.root, path.text, test)
            case .reference(.previous(let path)): field(.previous, path.text, test)
            case .reference(.expansion(let expansion)):
                value(expansion.value(user, constants), test)
            case .operand(let operand): value(operand.value(user, constants), test)
            }
        return bound ?? .constant(isNegated)
    }

    private enum Image { case root, previous }

    /// Binds a test of a document's field; `nil` when it cannot be evaluated.
    private func field(_ image: Image, _ path: String, _ test: RuleTest) -> RulePredicate? {
        guard !path.isEmpty else { return whole(image, test) }
        switch test {
        case .compare(let comparison, let operand):
            if let other = operand.document { return pair(comparison, image, path, other) }
            guard let value = operand.value(user, constants) else { return nil }
            return leaf(image, [path: [comparison.rawValue: value]])
        case .isIn(let operand, let isNegated):
            guard let values = operand.value(user, constants)?.arrayValue else { return nil }
            let found = membership(image, path, values)
            return isNegated ? .not(of: found) : found
        case .exists(let flag): return leaf(image, [path: ["$exists": .bool(flag)]])
        case .query(let operation, let operand):
            return leaf(image, [path: operation.isEmpty ? operand : [operation: operand]])
        case .not, .all: return nil
        }
    }

    /// Binds a test of a whole document, which can only be tested for existence; `nil` for other
    /// tests.
    private func whole(_ image: Image, _ test: RuleTest) -> RulePredicate? {
        guard case .exists(let flag) = test else { return nil }
        switch image {
        case .root: return .constant(flag)
        case .previous: return .wasThere(flag)
        }
    }

    private func leaf(_ image: Image, _ filter: BSONDocument) -> RulePredicate {
        switch image {
        case .root: .root(filter)
        case .previous: .previous(filter)
        }
    }

    /// Compares two fields.
    private func pair(
        _ comparison: RuleComparison, _ image: Image, _ path: String, _ other: RuleReference
    ) -> RulePredicate? {
        switch (image, other) {
        case (.root, .previous(let second)) where !second.isEmpty:
            return .across(comparison, root: Name(path), previous: second)
        case (.previous, .root(let second)) where !second.isEmpty:
            return .across(comparison.mirrored, root: second, previous: Name(path))
        case (.root, .root(let second)) where !second.isEmpty,
            (.previous, .previous(let second)) where !second.isEmpty:
            let sides: BSONArray = [.string("$" + path), .string("$\(second)")]
            return leaf(image, ["$expr": [comparison.rawValue: .array(sides)]])
        case (.root, _), (.previous, _): return nil
        }
    }

    /// Binds a test for one of several values, none of which acts as a pattern or operator.
    private func membership(_ image: Image, _ path: String, _ values: BSONArray) -> RulePredicate {
        let isPlain = values.allSatisfy { value in
            switch value.type {
            case .regularExpression, .document: false
            default: true
            }
        }
        guard !isPlain else { return leaf(image, [path: ["$in": .array(values)]]) }
        return .any(of: values.map { leaf(image, [path: ["$eq": $0]]) })
    }

    /// Binds a test of a known value; `nil` when it cannot be evaluated.
    private func value(_ value: BSONValue?, _ test: RuleTest) -> RulePredicate? {
        if case .exists(let flag) = test { return .constant((value != nil) == flag) }
        guard let value else { return nil }
        switch test {
        case .compare(let comparison, let operand):
            if operand.readsDocument { return mirrored(value, comparison, operand) }
            guard let other = operand.value(user, constants) else { return nil }
            return decided(value, [comparison.rawValue: other])
        case .isIn(let operand, let isNegated):
            guard let found = membership(of: value, in: operand) else { return nil }
            return isNegated ? .not(of: found) : found
        case .query(let operation, let operand):
            return decided(
                value, operation.isEmpty ? operand.documentValue ?? [:] : [operation: operand])
        case .exists, .not, .all: return nil
        }
    }

    /// Binds a test of a value against a field as the mirrored test of the field.
    private func mirrored(
        _ value: BSONValue, _ comparison: RuleComparison, _ operand: RuleOperand
    ) -> RulePredicate? {
        if case .converted(let conversion, let inner) = operand, let reference = inner.document {
            guard comparison == .equal || comparison == .notEqual,
                let converted = conversion.inverse.convert(value)
            else { return nil }
            return field(of: reference, comparison, converted)
        }
        return operand.document.flatMap { field(of: $0, comparison.mirrored, value) }
    }

    private func field(
        of reference: RuleReference, _ comparison: RuleComparison, _ value: BSONValue
    ) -> RulePredicate? {
        switch reference {
        case .root(let path):
            path.isEmpty ? nil : .root([path.text: [comparison.rawValue: value]])
        case .previous(let path):
            path.isEmpty ? nil : .previous([path.text: [comparison.rawValue: value]])
        case .expansion: nil
        }
    }

    private func membership(of value: BSONValue, in operand: RuleOperand) -> RulePredicate? {
        if let reference = operand.document { return field(of: reference, .equal, value) }
        if case .list(let parts) = operand, operand.readsDocument {
            var found: [RulePredicate] = []
            for part in parts {
                guard let one = self.value(value, .compare(.equal, part)) else { return nil }
                found.append(one)
            }
            return .any(of: found)
        }
        guard let values = operand.value(user, constants)?.arrayValue else { return nil }
        return .any(of: values.map { decided(value, ["$eq": $0]) ?? .constant(false) })
    }

    /// Evaluates a test of a known value; `nil` when MongoDB's filters reject the operand.
    private func decided(_ value: BSONValue, _ test: BSONDocument) -> RulePredicate? {
        do {
            return .constant(try Filter(["value": .document(test)]).matches(["value": value]))
        } catch {
            return nil
        }
    }
}

extension RuleOperand {
    /// The document field that the operand refers to, if any.
    fileprivate var document: RuleReference? {
        switch self {
        case .reference(.root(let path)): .root(path)
        case .reference(.previous(let path)): .previous(path)
        case .reference(.expansion), .literal, .converted, .list, .document: nil
        }
    }
}
