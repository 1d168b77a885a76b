/// A compiler from a predicate to a ``FilterProgram``.
struct FilterCompiler {
    private var program = FilterProgram()
    private let collation: Collation?

    private init(_ collation: Collation?) {
        self.collation = collation
        program.collation = collation
    }

    /// Returns the program, whose first node is the whole filter; texts compare by the collation.
    static func compile(
        _ predicate: Predicate, collation: Collation? = nil
    ) throws(StoreError) -> FilterProgram {
        var compiler = FilterCompiler(collation)
        let root = compiler.reserve()
        try compiler.node(predicate, at: root)
        return compiler.program
    }

    private mutating func reserve() -> Int {
        program.nodes.append(FilterProgram.Node(join: .all, groups: 0..<0, children: 0..<0))
        return program.nodes.count - 1
    }

    private mutating func node(_ predicate: Predicate, at index: Int) throws(StoreError) {
        switch predicate {
        case .all(let parts): try join(.all, parts, at: index)
        case .any(let parts): try join(.any, parts, at: index)
        case .not(.field(let path, let test)):
            try conjunction([(path, test, true)], [], at: index)
        case .not(let part): try join(.not, [part], at: index)
        case .field(let path, let test):
            try conjunction([(path, test, false)], [], at: index)
        case .special(let test):
            program.documentTests.append(test)
            program.nodes[index] = FilterProgram.Node(
                join: .special, groups: 0..<0, children: 0..<0,
                special: Int32(program.documentTests.count - 1))
        }
    }

    private typealias Field = (path: FieldPath, test: Predicate.Test, isNegated: Bool)

    private mutating func join(
        _ join: FilterProgram.Join, _ parts: [Predicate], at index: Int
    ) throws(StoreError) {
        guard join == .all else {
            let children = try self.children(parts)
            program.nodes[index] = FilterProgram.Node(
                join: join, groups: 0..<0, children: children)
            return
        }
        var fields: [Field] = []
        var others: [Predicate] = []
        for part in parts {
            switch part {
            case .field(let path, let test): fields.append((path, test, false))
            case .not(.field(let path, let test)): fields.append((path, test, true))
            case .all, .any, .not, .special: others.append(part)
            }
        }
        try conjunction(fields, others, at: index)
    }

    private mutating func conjunction(
        _ fields: [Field], _ others: [Predicate], at index: Int
    ) throws(StoreError) {
        var order: [String] = []
        var byKey: [Name: [Field]] = [:]
        var rest = others
        // Most filters test one field, which needs no table.
        if fields.count == 1 { order.append(fields[0].path.parts.first ?? "") }
        for field in fields where fields.count > 1 {
            let key = field.path.parts.first ?? ""
            if byKey[key] == nil {
                // One pass over a document looks for so many keys; child nodes test the rest.
                guard order.count < FilterProgram.groupsMax else {
                    let part = Predicate.field(field.path, field.test)
                    rest.append(field.isNegated ? .not(part) : part)
                    continue
                }
                order.append(key)
            }
            byKey[key, default: []].append(field)
        }
        var groups: [FilterProgram.Group] = []
        for key in order {
            var leaves: [FilterProgram.Leaf] = []
            for field in order.count == 1 ? fields : byKey[key] ?? [] {
                leaves.append(try leaf(field))
            }
            let start = Int32(program.leaves.count)
            program.leaves += leaves
            let bytes = store(Array(key.utf8))
            groups.append(
                FilterProgram.Group(
                    keyStart: Int(bytes.lowerBound), keyCount: bytes.count,
                    keyFirst: key.utf8.first ?? 0,
                    leaves: start..<Int32(program.leaves.count)))
        }
        precondition(
            groups.count <= FilterProgram.groupsMax, "the matcher has a bit for each group")
        let start = Int32(program.groups.count)
        program.groups += groups
        let children = try self.children(rest)
        program.nodes[index] = FilterProgram.Node(
            join: .all, groups: start..<start + Int32(groups.count), children: children)
    }

    private mutating func children(_ parts: [Predicate]) throws(StoreError) -> Range<Int32> {
        var indexes: [Int32] = []
        for part in parts {
            let child = reserve()
            indexes.append(Int32(child))
            try node(part, at: child)
        }
        let start = Int32(program.children.count)
        program.children += indexes
        return start..<Int32(program.children.count)
    }

    private mutating func leaf(_ field: Field) throws(StoreError) -> FilterProgram.Leaf {
        var leaf = try leaf(testing: field.test)
        leaf.isNegated = field.isNegated
        let start = Int32(program.parts.count)
        for part in field.path.parts {
            program.parts.append(
                FilterProgram.Part(
                    key: store(Array(part.utf8)), index: Int32(FieldPath.index(part) ?? -1)))
        }
        leaf.parts = start..<Int32(program.parts.count)
        return leaf
    }

    private mutating func leaf(
        testing test: Predicate.Test
    ) throws(StoreError) -> FilterProgram.Leaf {
        switch test {
        case .compare(let comparison, let constant):
            if let collation, Collation.concerns(constant) {
                return special(.collated(CollatedTest(comparison, constant, collation)))
            }
            var leaf = FilterProgram.Leaf(test: Self.test(comparison))
            leaf.rank = BSONOrder.rank(constant.type)
            leaf.constants = store([constant])
            switch constant {
            case .double(let value): (leaf.double, leaf.numberKind) = (value, .double)
            case .int32(let value): (leaf.number, leaf.numberKind) = (Int64(value), .whole)
            case .int64(let value): (leaf.number, leaf.numberKind) = (value, .whole)
            default: break
            }
            return leaf
        case .isIn(let constants, let expressions):
            if let collation, constants.contains(where: { Collation.concerns($0) }) {
                return special(
                    .collated(try CollatedTest(in: constants, expressions, collation)))
            }
            var leaf = FilterProgram.Leaf(test: .isIn)
            leaf.constants = store(
                constants.sorted { BSONOrder.compare($0, $1) == .less })
            leaf.patterns = try store(expressions)
            leaf.number = constants.contains { $0.type == .null } ? 1 : 0
            return leaf
        case .matches(let expression):
            var leaf = FilterProgram.Leaf(test: .matches)
            leaf.patterns = try store([expression])
            return leaf
        case .exists: return FilterProgram.Leaf(test: .exists, entersArrays: false)
        case .hasType(let types): return FilterProgram.Leaf(test: .hasType, types: types)
        case .hasSize(let size):
            return FilterProgram.Leaf(test: .hasSize, entersArrays: false, number: Int64(size))
        case .modulo(let divisor, let remainder):
            return FilterProgram.Leaf(test: .modulo, number: divisor, remainder: remainder)
        case .hasDocument(let predicate):
            return try leaf(.hasDocument, elements: predicate)
        case .hasElement(let predicate):
            return try leaf(.hasElement, elements: predicate)
        case .special(let test): return special(test)
        }
    }

    private mutating func special(_ test: ValueTest) -> FilterProgram.Leaf {
        program.valueTests.append(test)
        return FilterProgram.Leaf(test: .special, node: Int32(program.valueTests.count - 1))
    }

    private mutating func leaf(
        _ test: FilterProgram.Test, elements predicate: Predicate
    ) throws(StoreError) -> FilterProgram.Leaf {
        let node = reserve()
        try self.node(predicate, at: node)
        return FilterProgram.Leaf(test: test, entersArrays: false, node: Int32(node))
    }

    private static func test(_ comparison: Predicate.Comparison) -> FilterProgram.Test {
        switch comparison {
        case .equal: .equal
        case .less: .less
        case .lessOrEqual: .lessOrEqual
        case .greater: .greater
        case .greaterOrEqual: .greaterOrEqual
        }
    }

    private mutating func store(_ bytes: [UInt8]) -> Range<Int32> {
        let start = Int32(program.bytes.count)
        program.bytes += bytes
        return start..<Int32(program.bytes.count)
    }

    private mutating func store(_ values: [BSONValue]) -> Range<Int32> {
        let start = Int32(program.constants.count)
        for value in values {
            var document = BSONDocument()
            document.append("", value)
            // Behind length, type and the empty key, before the terminator.
            let wire = Array(document.bytes[6..<document.byteCount - 1])
            program.constants.append(
                FilterProgram.Constant(typeByte: value.type.rawValue, bytes: store(wire)))
        }
        return start..<Int32(program.constants.count)
    }

    private mutating func store(
        _ expressions: [BSONRegularExpression]
    ) throws(StoreError) -> Range<Int32> {
        let start = Int32(program.patterns.count)
        for expression in expressions {
            program.patterns.append(try CompiledRegex(expression))
        }
        return start..<Int32(program.patterns.count)
    }
}
