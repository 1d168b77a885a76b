internal import BSONStore

extension RuleExpression {
    /// The reason why the condition cannot be evaluated for any user, found at load time; `nil` if
    /// it can.
    var problem: String? {
        switch self {
        case .constant: nil
        case .all(let parts), .any(let parts): parts.lazy.compactMap(\.problem).first
        case .not(let inner): inner.problem
        case .test(let subject, let test): test.problem(of: subject)
        }
    }
}

extension RuleTest {
    fileprivate func problem(of subject: RuleSubject) -> String? {
        switch self {
        case .exists: return nil
        case .query: return subject.isWhole ? Self.onlyExists : nil
        case .not(let inner): return inner.problem(of: subject)
        case .all(let parts): return parts.lazy.compactMap { $0.problem(of: subject) }.first
        case .compare(let comparison, let operand):
            if subject.isWhole || operand.isWhole { return Self.onlyExists }
            guard operand.readsDocument else { return nil }
            switch operand {
            case .reference: return nil
            case .converted:
                let isEquality = comparison == .equal || comparison == .notEqual
                return subject.readsDocument || !isEquality ? Self.convertsField : nil
            case .literal, .list, .document: return Self.mixesFields
            }
        case .isIn(let operand, _):
            if subject.isWhole || operand.isWhole { return Self.onlyExists }
            guard operand.readsDocument else { return nil }
            return subject.readsDocument ? Self.mixesFields : nil
        }
    }

    private static let onlyExists =
        "%%root and %%prevRoot as a whole can only be asked whether they exist"
    private static let convertsField =
        "a field can only be converted to be equal to a value of the user"
    private static let mixesFields =
        "a field can be compared with one field or with values of the user"
}

extension RuleSubject {
    fileprivate var isWhole: Bool { references.contains(where: \.isWhole) }

    fileprivate var readsDocument: Bool {
        references.contains { if case .expansion = $0 { false } else { true } }
    }
}

extension RuleOperand {
    fileprivate var isWhole: Bool { references.contains(where: \.isWhole) }
}

extension RuleReference {
    fileprivate var isWhole: Bool {
        switch self {
        case .root(let path), .previous(let path): path.isEmpty
        case .expansion: false
        }
    }
}
