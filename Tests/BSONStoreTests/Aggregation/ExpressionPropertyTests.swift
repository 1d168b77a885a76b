import Testing

@testable import BSONCore
@testable import BSONQuery
@testable import BSONStore

/// Without these an expression from outside could end the process, or depend on how it is written.
@Suite struct ExpressionPropertyTests {
    @Test(arguments: 0..<20 as Range<UInt64>)
    func `no expression traps on any document`(_ seed: UInt64) throws {
        var random = RandomExpression(seed: seed)
        var count = 0
        for _ in 0..<150 {
            let source = random.expression(depth: 3)
            guard let expression = parsed(source, random.scope) else { continue }
            count += 1
            for _ in 0..<3 {
                let document = random.values.document()
                let frame = ExpressionFrame(
                    root: document, values: [random.values.value(), nil])
                guard let value = computed(expression, document, frame) else { continue }
                let result: BSONDocument = ["": value]
                let limits = BSONLimits(depthMax: 300, documentBytesMax: 128 << 20)
                #expect(throws: Never.self) {
                    _ = try BSONDocument(validating: result.bytes, limits: limits)
                }
            }
        }
        #expect(count > 20)
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `constants compute what fields of the same values compute`(_ seed: UInt64) throws {
        var random = RandomExpression(seed: seed &+ 1_000)
        for _ in 0..<150 {
            let name = random.plainOperator()
            let values = (0..<random.values.number(1..<4)).map { _ in random.values.value() }
            let keys = ["x", "y", "z"].prefix(values.count)
            let constant: BSONDocument = [
                name: .array(BSONArray(values.map { .document(["$literal": $0]) }))
            ]
            let fields: BSONDocument = [name: .array(BSONArray(keys.map { .string("$\($0)") }))]
            let document = BSONDocument(zip(keys, values))
            let left = outcome(.document(constant), BSONDocument())
            let right = outcome(.document(fields), document)
            #expect(left == right, "\(constant.extendedJSON())")
        }
    }

    private func parsed(_ source: BSONValue, _ scope: ExpressionScope) -> Expression? {
        do throws(StoreError) { return try Expression(source, in: scope) } catch { return nil }
    }

    private func computed(
        _ expression: Expression, _ document: BSONDocument, _ frame: ExpressionFrame
    ) -> BSONValue? {
        do throws(StoreError) {
            return try expression.evaluate(document, frame)
        } catch {
            return nil
        }
    }

    private enum Outcome: Equatable {
        case value(BSONValue?)
        case error(Int32, String)
    }

    private func outcome(_ source: BSONValue, _ document: BSONDocument) -> Outcome {
        do throws(StoreError) {
            let expression = try Expression(source)
            return .value(try expression.evaluate(document, ExpressionFrame(root: document)))
        } catch {
            return .error(error.code.rawValue, error.message)
        }
    }
}

/// Makes random expressions, many of which are sound.
struct RandomExpression {
    var values: RandomBSON
    /// Two variables, of which the second is missing.
    let scope = ExpressionScope(variables: ["v", "w"])

    init(seed: UInt64) { values = RandomBSON(seed: seed) }

    /// An operator that takes its arguments in order and computes the same from the same.
    mutating func plainOperator() -> String {
        let others: Set = ["$rand", "$setEquals", "$getField", "$literal", "$const", "$meta"]
        let names = ExpressionOperator.all.keys.sorted()
        return values.pick(names.filter { Self.named[$0] == nil && !others.contains($0) })
    }

    mutating func expression(depth: Int) -> BSONValue {
        guard depth > 0 else { return leaf() }
        switch values.number(0..<12) {
        case 0: return leaf()
        case 1: return .array(BSONArray((0..<values.number(0..<4)).map { _ in leaf() }))
        case 2: return .document(["a": expression(depth: depth - 1), "b": leaf()])
        case 3..<8:
            let name = values.pick(Self.named.keys.sorted())
            let fields = (Self.named[name] ?? []).filter { _ in values.number(0..<8) > 0 }
            return .document([
                name: .document(
                    BSONDocument(fields.map { ($0, argument($0, depth: depth - 1)) }))
            ])
        default:
            let arguments = (0..<values.number(0..<4)).map { _ in expression(depth: depth - 1) }
            return .document([plainOperator(): .array(BSONArray(arguments))])
        }
    }

    private mutating func leaf() -> BSONValue {
        switch values.number(0..<8) {
        case 0: .document(["$literal": values.value()])
        case 1: .string(values.pick(["$$ROOT", "$$v", "$$w.a", "$$NOW", "$$REMOVE", "$a.b.c"]))
        case 2: .int32(Int32(values.number(-3..<5)))
        case 3: .string(values.pick(["%Y-%m-%d", "2020-01-02T03:04:05Z", "day", "(a|b)*", "UTC"]))
        default: .string(values.pick(["$a", "$b", "$c", "$_id", "$a.b", "$b.a", "$é"]))
        }
    }

    private mutating func argument(_ name: String, depth: Int) -> BSONValue {
        switch name {
        case "unit" where values.number(0..<5) > 0:
            .string(
                values.pick(["year", "quarter", "month", "week", "day", "hour", "millisecond"]))
        case "timezone":
            .string(values.pick(["UTC", "America/New_York", "Europe/Berlin", "+05:30", "-99:99"]))
        case "format": .string(values.pick(["%Y-%m-%d %H:%M:%S.%L", "%G-%V-%u %j", "%z %Z", "%%"]))
        case "startOfWeek": .string(values.pick(["monday", "sat", "x"]))
        case "date", "startDate", "endDate":
            .document(["$literal": .datetime(BSONDatetime(milliseconds: values.integer()))])
        case "amount", "binSize", "n", "limit":
            .document(["$literal": .int64(values.integer())])
        case "to":
            .string(values.pick(["int", "long", "double", "decimal", "string", "date", "bool"]))
        case "regex": .string(values.pick(["a*", "(a)(b)?", "^$", ".", "\\w+", "(x", "$a"]))
        case "as": .string("v")
        case "vars": .document(["v": leaf(), "q": leaf()])
        case "sortBy": values.number(0..<2) == 0 ? .int32(1) : .document(["a.b": -1])
        case "branches":
            .array([.document(["case": expression(depth: depth), "then": leaf()])])
        case "method": .string("approximate")
        case "p": .array([.double(0.5), .double(1)])
        case "inputs", "defaults": .array([leaf(), leaf()])
        case "useLongestLength": .bool(values.number(0..<2) == 0)
        case "field": .string(values.pick(["a", "a.b", ""]))
        default: expression(depth: depth)
        }
    }

    private static let parts = ["date", "timezone"]
    private static let named: [String: [String]] = [
        "$cond": ["if", "then", "else"], "$switch": ["branches", "default"],
        "$let": ["vars", "in"], "$map": ["input", "as", "in"],
        "$filter": ["input", "as", "cond", "limit"], "$reduce": ["input", "initialValue", "in"],
        "$zip": ["inputs", "defaults", "useLongestLength"], "$sortArray": ["input", "sortBy"],
        "$firstN": ["n", "input"], "$lastN": ["n", "input"], "$minN": ["n", "input"],
        "$maxN": ["n", "input"], "$getField": ["field", "input"],
        "$setField": ["field", "input", "value"], "$unsetField": ["field", "input"],
        "$trim": ["input", "chars"], "$ltrim": ["input"], "$rtrim": ["input", "chars"],
        "$replaceOne": ["input", "find", "replacement"],
        "$replaceAll": ["input", "find", "replacement"],
        "$regexFind": ["input", "regex", "options"], "$regexFindAll": ["input", "regex"],
        "$regexMatch": ["input", "regex"], "$year": parts, "$month": parts, "$dayOfYear": parts,
        "$week": parts, "$isoWeek": parts, "$isoWeekYear": parts, "$hour": parts,
        "$dateToParts": ["date", "timezone", "iso8601"],
        "$dateFromParts": ["year", "month", "day", "hour", "second", "millisecond", "timezone"],
        "$dateToString": ["date", "format", "timezone", "onNull"],
        "$dateFromString": ["dateString", "format", "timezone", "onError", "onNull"],
        "$dateAdd": ["startDate", "unit", "amount", "timezone"],
        "$dateSubtract": ["startDate", "unit", "amount", "timezone"],
        "$dateDiff": ["startDate", "endDate", "unit", "timezone", "startOfWeek"],
        "$dateTrunc": ["date", "unit", "binSize", "timezone", "startOfWeek"],
        "$convert": ["input", "to", "onError", "onNull"], "$median": ["input", "method"],
        "$percentile": ["input", "p", "method"],
    ]
}
