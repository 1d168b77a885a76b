/// A compiler from a predicate to a ``CompiledFilter``.
struct FilterCompiler {
    private var filter = CompiledFilter()
    private let collation: Collation?
    /// Whether many fields are looked up by their keys.
    private let looksUpFields: Bool

    private init(_ collation: Collation?, looksUpFields: Bool) {
        self.collation = collation
        self.looksUpFields = looksUpFields
        filter.collation = collation
    }

    /// Returns the filter, whose first clause is the whole of it; texts compare by the collation.
    static func compile(
        _ predicate: Predicate, collation: Collation? = nil, looksUpFields: Bool = true
    ) throws(StoreError) -> CompiledFilter {
        var compiler = FilterCompiler(collation, looksUpFields: looksUpFields)
        let root = compiler.reserveClause()
        try compiler.clause(predicate, at: root)
        return compiler.filter
    }

    private mutating func reserveClause() -> Int {
        filter.clauses.append(CompiledFilter.Clause(kind: .and))
        return filter.clauses.count - 1
    }

    private mutating func clause(_ predicate: Predicate, at index: Int) throws(StoreError) {
        switch predicate {
        case .all(let parts): try conjunction(parts, at: index)
        case .any(let parts): try junction(.or, parts, at: index)
        case .not(.field(let path, let test)):
            try conjunction([(path, test, true)], [], at: index)
        case .not(let part): try junction(.not, [part], at: index)
        case .field(let path, let test):
            try conjunction([(path, test, false)], [], at: index)
        case .special(let test):
            filter.documentTests.append(test)
            filter.clauses[index] = CompiledFilter.Clause(
                kind: .documentTest, documentTest: Int32(filter.documentTests.count - 1))
        }
    }

    private typealias Field = (path: FieldPath, test: Predicate.Test, isNegated: Bool)

    private mutating func junction(
        _ kind: CompiledFilter.Clause.Kind, _ parts: [Predicate], at index: Int
    ) throws(StoreError) {
        if kind == .or, let alternatives = Self.alternatives(parts) {
            return try clause(alternatives, at: index)
        }
        if kind == .or, let test = try manyFields(fields(of: parts), isAny: true) {
            return try clause(.special(.fields(test)), at: index)
        }
        filter.clauses[index] = CompiledFilter.Clause(
            kind: kind, subclauses: try subclauses(parts))
    }

    /// Returns many values of which a field may have one as a set; `nil` for other conditions.
    private static func alternatives(_ parts: [Predicate]) -> Predicate? {
        guard parts.count >= ManyFieldsTest.countMin, case .field(let path, _)? = parts.first
        else { return nil }
        var values: [BSONValue] = []
        for part in parts {
            guard case .field(let other, .compare(.equal, let value)) = part,
                other == path
            else { return nil }
            values.append(value)
        }
        return .field(path, .isIn(values, []))
    }

    /// Returns the conditions if all parts are conditions on fields.
    private func fields(of parts: [Predicate]) -> [Field] {
        var fields: [Field] = []
        for part in parts {
            switch part {
            case .field(let path, let test): fields.append((path, test, false))
            case .not(.field(let path, let test)): fields.append((path, test, true))
            case .all, .any, .not, .special: return []
            }
        }
        return fields
    }

    /// Returns a test that looks the fields up; `nil` for few, and for conditions on one value.
    private func manyFields(
        _ fields: [Field], isAny: Bool
    ) throws(StoreError) -> ManyFieldsTest? {
        guard looksUpFields, fields.count >= ManyFieldsTest.countMin,
            fields.allSatisfy({ !$0.path.parts.isEmpty })
        else { return nil }
        let fields = fields.map {
            ManyFieldsTest.Field(path: $0.path.parts, test: $0.test, isNegated: $0.isNegated)
        }
        return try ManyFieldsTest(fields, isAny: isAny, collation)
    }

    private mutating func conjunction(
        _ parts: [Predicate], at index: Int
    ) throws(StoreError) {
        var fields: [Field] = []
        var others: [Predicate] = []
        for part in parts {
            switch part {
            case .field(let path, let test): fields.append((path, test, false))
            case .not(.field(let path, let test)): fields.append((path, test, true))
            case .all, .any, .not, .special: others.append(part)
            }
        }
        if let test = try manyFields(fields, isAny: false) {
            return try conjunction([], others + [.special(.fields(test))], at: index)
        }
        try conjunction(fields, others, at: index)
    }

    private mutating func conjunction(
        _ fields: [Field], _ others: [Predicate], at index: Int
    ) throws(StoreError) {
        // The fields by their first keys, of which there are few.
        var byKey: [(key: String, fields: [Field])] = []
        var rest = others
        for field in fields {
            // A filter of comparisons may be compiled late, where nothing can be thrown.
            _ = WorkBudget.isOver()
            let key = field.path.parts.first ?? ""
            // The tests of one field follow each other in most filters.
            if let place = byKey.lastIndex(where: { $0.key.hasSameBytes(as: key) }) {
                byKey[place].fields.append(field)
            } else if byKey.count < CompiledFilter.keyGroupsMax {
                byKey.append((key, [field]))
            } else {
                // One pass over a document searches for so many keys; subclauses test the rest.
                let part = Predicate.field(field.path, field.test)
                rest.append(field.isNegated ? .not(part) : part)
            }
        }
        var groups: [CompiledFilter.KeyGroup] = []
        for (key, fields) in byKey {
            var conditions: [CompiledFilter.Condition] = []
            for field in fields { conditions.append(try condition(field)) }
            let start = Int32(filter.conditions.count)
            filter.conditions += conditions
            let bytes = store(Array(key.utf8))
            groups.append(
                CompiledFilter.KeyGroup(
                    keyStart: Int(bytes.lowerBound), keyCount: bytes.count,
                    keyFirst: key.utf8.first ?? 0,
                    conditions: start..<Int32(filter.conditions.count)))
        }
        precondition(
            groups.count <= CompiledFilter.keyGroupsMax, "the matcher has a bit for each group")
        let start = Int32(filter.keyGroups.count)
        filter.keyGroups += groups
        let subclauses = try subclauses(rest)
        filter.clauses[index] = CompiledFilter.Clause(
            kind: .and, keyGroups: start..<start + Int32(groups.count), subclauses: subclauses)
    }

    private mutating func subclauses(_ parts: [Predicate]) throws(StoreError) -> Range<Int32> {
        var indexes: [Int32] = []
        for part in parts {
            // A filter of comparisons may be compiled late, where nothing can be thrown.
            _ = WorkBudget.isOver()
            let child = reserveClause()
            indexes.append(Int32(child))
            try clause(part, at: child)
        }
        let start = Int32(filter.subclauses.count)
        filter.subclauses += indexes
        return start..<Int32(filter.subclauses.count)
    }

    private mutating func condition(_ field: Field) throws(StoreError) -> CompiledFilter.Condition {
        var condition = try condition(testing: field.test)
        condition.isNegated = field.isNegated
        let start = Int32(filter.pathSteps.count)
        for part in field.path.parts {
            filter.pathSteps.append(
                CompiledFilter.PathStep(
                    key: store(Array(part.utf8)), index: Int32(FieldPath.index(part) ?? -1)))
        }
        condition.path = start..<Int32(filter.pathSteps.count)
        return condition
    }

    private mutating func condition(
        testing test: Predicate.Test
    ) throws(StoreError) -> CompiledFilter.Condition {
        switch test {
        case .compare(let comparison, let constant):
            if let collation, Collation.concerns(constant) {
                return computed(.collated(CollatedTest(comparison, constant, collation)))
            }
            var condition = CompiledFilter.Condition(test: Self.test(comparison))
            condition.rank = BSONOrder.rank(constant.type)
            condition.constants = store([constant])
            switch constant {
            case .double(let value): (condition.double, condition.numberKind) = (value, .double)
            case .int32(let value):
                (condition.number, condition.numberKind) = (Int64(value), .whole)
            case .int64(let value): (condition.number, condition.numberKind) = (value, .whole)
            default: break
            }
            return condition
        case .isIn(let constants, let expressions):
            if let collation, constants.contains(where: { Collation.concerns($0) }) {
                return computed(
                    .collated(try CollatedTest(in: constants, expressions, collation)))
            }
            var condition = CompiledFilter.Condition(test: .isIn)
            condition.constants = store(
                constants.sorted {
                    WorkBudget.isOver() ? false : BSONOrder.compare($0, $1) == .less
                })
            // Sorting may have ended early.
            try WorkBudget.check()
            condition.patterns = try store(expressions)
            condition.number = constants.contains { $0.type == .null } ? 1 : 0
            return condition
        case .matches(let expression):
            var condition = CompiledFilter.Condition(test: .matches)
            condition.patterns = try store([expression])
            return condition
        case .exists: return CompiledFilter.Condition(test: .exists, triesElements: false)
        case .hasType(let types): return CompiledFilter.Condition(test: .hasType, types: types)
        case .hasSize(let size):
            return CompiledFilter.Condition(
                test: .hasSize, triesElements: false, number: Int64(size))
        case .modulo(let divisor, let remainder):
            return CompiledFilter.Condition(test: .modulo, number: divisor, remainder: remainder)
        case .hasDocument(let predicate):
            return try condition(.hasDocument, elements: predicate)
        case .hasElement(let predicate):
            return try condition(.hasElement, elements: predicate)
        case .special(let test): return computed(test)
        }
    }

    private mutating func computed(_ test: ValueTest) -> CompiledFilter.Condition {
        filter.valueTests.append(test)
        return CompiledFilter.Condition(
            test: .computed, reference: Int32(filter.valueTests.count - 1))
    }

    private mutating func condition(
        _ test: CompiledFilter.Test, elements predicate: Predicate
    ) throws(StoreError) -> CompiledFilter.Condition {
        let clause = reserveClause()
        try self.clause(predicate, at: clause)
        return CompiledFilter.Condition(test: test, triesElements: false, reference: Int32(clause))
    }

    private static func test(_ comparison: Predicate.Comparison) -> CompiledFilter.Test {
        switch comparison {
        case .equal: .equal
        case .less: .less
        case .lessOrEqual: .lessOrEqual
        case .greater: .greater
        case .greaterOrEqual: .greaterOrEqual
        }
    }

    private mutating func store(_ bytes: [UInt8]) -> Range<Int32> {
        let start = Int32(filter.bytes.count)
        filter.bytes += bytes
        return start..<Int32(filter.bytes.count)
    }

    private mutating func store(_ values: [BSONValue]) -> Range<Int32> {
        let start = Int32(filter.constants.count)
        for value in values {
            _ = WorkBudget.isOver()
            var document = BSONDocument()
            document.append("", value)
            // Behind length, type and the empty key, before the terminator.
            let wire = Array(document.bytes[6..<document.byteCount - 1])
            filter.constants.append(
                CompiledFilter.Constant(typeByte: value.type.rawValue, bytes: store(wire)))
        }
        return start..<Int32(filter.constants.count)
    }

    private mutating func store(
        _ expressions: [BSONRegularExpression]
    ) throws(StoreError) -> Range<Int32> {
        let start = Int32(filter.patterns.count)
        for expression in expressions {
            filter.patterns.append(try CompiledRegex(expression))
        }
        return start..<Int32(filter.patterns.count)
    }
}
