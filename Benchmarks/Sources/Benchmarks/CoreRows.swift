import BSONStore
import BenchmarkBaseline

/// The rows of reading, building and validating.
enum CoreRows {
    static func rows(_ subject: Subject) -> [Row] {
        let isDeep = subject.name == "deep"
        var rows = [
            // Per instruction both iterations take less time than libbson's, whose branches over
            // the types are predicted badly: the ratio of time is 0.75 of that of instructions.
            Row(
                name: "iterate in place, \(subject.name)", gate: 0.45, goal: 0.30,
                instructionGate: 0.55,
                baseline: { baseline_keep(baseline_iterate(subject.baseline, $0)) },
                ours: { count in
                    for _ in 0..<count { baseline_keep(iterate(subject.document)) }
                }),
            Row(
                name: "iterate as (String, BSONValue), \(subject.name)", gate: 2.2, goal: 1.3,
                instructionGate: 2.7,
                baseline: { baseline_keep(baseline_iterate(subject.baseline, $0)) },
                ours: { count in
                    for _ in 0..<count { baseline_keep(iterateValues(subject.document)) }
                }),
            Row(
                name: "encode from values, \(subject.name)", gate: isDeep ? 1.1 : 0.9, goal: 0.5,
                baseline: { baseline_keep(baseline_encode(subject.baseline, $0)) },
                ours: { count in
                    for _ in 0..<count { keep(subject.tree.encoded()) }
                }),
            findRow(subject),
        ]
        if subject.name != "full" {
            // libbson's validation stops at the first code with scope and says all is well, so
            // its time for "full" is that of a fraction of the document.
            rows.append(
                Row(
                    name: "validate and copy, \(subject.name)", gate: isDeep ? 0.25 : 0.15,
                    goal: isDeep ? 0.15 : 0.06,
                    baseline: { baseline_keep(baseline_validate(subject.baseline, $0)) },
                    ours: { count in
                        for _ in 0..<count { keep(validated(subject.bytes)) }
                    }))
        }
        if subject.name == "flat" {
            rows.append(
                Row(
                    name: "encode pairs, flat", gate: 0.9, goal: 0.5,
                    baseline: { baseline_keep(baseline_encode(subject.baseline, $0)) },
                    ours: { count in
                        for _ in 0..<count { keep(BSONDocument(subject.pairs)) }
                    }))
        }
        return rows
    }

    private static func findRow(_ subject: Subject) -> Row {
        guard subject.name == "deep" else {
            return Row(
                name: "find the last key, \(subject.name)", gate: 0.6, goal: 0.4,
                baseline: { count in
                    subject.lastKey.withCString {
                        baseline_keep(baseline_find(subject.baseline, $0, count))
                    }
                },
                ours: { count in
                    for _ in 0..<count {
                        baseline_keep(subject.document.contains(key: subject.lastKey) ? 1 : 0)
                    }
                })
        }
        let path = "left.left.left.left.left.leftValue"
        return Row(
            name: "find a path, deep", gate: 0.6, goal: 0.4,
            baseline: { baseline_keep(baseline_find_path(subject.baseline, path, $0)) },
            ours: { count in
                for _ in 0..<count {
                    baseline_keep(subject.document[path: path] == nil ? 0 : 1)
                }
            })
    }

    static func allocations(_ subject: Subject) -> [AllocationRow] {
        let other = BSONDocument(subject.document.reversed().map { ($0.key, $0.value) })
        let copy = validated(subject.bytes)
        func row(_ name: String, _ gate: Int, _ goal: Int, _ work: @escaping () -> Void)
            -> AllocationRow
        {
            AllocationRow(name: "\(name), \(subject.name)", gate: gate, goal: goal) { count in
                for _ in 0..<count { work() }
            }
        }
        return [
            row("iterate in place", 0, 0) { baseline_keep(iterate(subject.document)) },
            row("find a key", 0, 0) {
                baseline_keep(subject.document.contains(key: subject.lastKey) ? 1 : 0)
            },
            row("validate", 0, 0) {
                subject.bytes.withUnsafeBytes { bytes in
                    do throws(BSONError) { try BSONValidator.validate(bytes) } catch {
                        preconditionFailure("\(error)")
                    }
                }
            },
            row("compare", 0, 0) {
                baseline_keep(BSONOrder.compare(subject.document, copy) == .equal ? 1 : 0)
            },
            row("compare content", 0, 0) {
                baseline_keep(subject.document.contentEquals(other) ? 1 : 0)
            },
            row("decode (validate and copy)", 1, 1) { keep(validated(subject.bytes)) },
            row("encode from values", 3, 2) { keep(subject.tree.encoded()) },
        ]
    }

    static func keep(_ document: BSONDocument) {
        baseline_keep(UInt64(truncatingIfNeeded: document.byteCount))
    }

    static func validated(_ bytes: [UInt8]) -> BSONDocument {
        bytes.withUnsafeBytes { raw in
            do throws(BSONError) { return try BSONDocument(validating: raw) } catch {
                preconditionFailure("\(error)")
            }
        }
    }

    static func iterate(_ document: BSONDocument) -> UInt64 {
        document.withCursor { iterate(&$0) }
    }

    /// Does with every value what the baseline does with it.
    private static func iterate(_ cursor: inout BSONCursor) -> UInt64 {
        var sum: UInt64 = 0
        while let element = cursor.next() {
            let value = element.value
            sum &+= UInt64(element.key.count) &+ UInt64(element.key.first ?? 0)
            switch value.type {
            case .double: sum &+= value.double.bitPattern
            case .string, .javascript, .symbol:
                sum &+= UInt64(value.text.count) &+ UInt64(value.text.first ?? 0)
            case .document, .array:
                var nested = BSONCursor(value)
                sum &+= iterate(&nested)
            case .binary:
                let content = value.binaryContent
                sum &+= UInt64(content.count) &+ UInt64(content.first ?? 0)
                sum &+= UInt64(value.binarySubtype)
            case .undefined, .null, .dbPointer, .decimal128, .minKey, .maxKey:
                sum &+= UInt64(value.typeByte)
            case .objectID: sum &+= UInt64(value.bytes[0])
            case .bool: sum &+= value.bool ? 1 : 0
            case .datetime, .int64: sum &+= UInt64(bitPattern: value.int64)
            case .regularExpression: sum &+= UInt64(value.bytes[0])
            case .javascriptWithScope:
                let (code, scope) = value.codeAndScope
                sum &+= UInt64(code.count + scope.count) &+ UInt64(code.first ?? 0)
            case .int32: sum &+= UInt64(bitPattern: Int64(value.int32))
            case .timestamp:
                let bits = UInt64(bitPattern: value.int64)
                sum &+= bits >> 32 &+ bits & 0xFFFF_FFFF
            }
        }
        return sum
    }

    static func iterateValues(_ document: BSONDocument) -> UInt64 {
        var sum: UInt64 = 0
        for (key, value) in document {
            sum &+= UInt64(key.utf8.count)
            switch value {
            case .double(let value): sum &+= value.bitPattern
            case .string(let value): sum &+= UInt64(value.utf8.count)
            case .document(let nested): sum &+= iterateValues(nested)
            case .array(let nested): sum &+= iterateValues(nested.document)
            case .bool(let value): sum &+= value ? 1 : 0
            case .int32(let value): sum &+= UInt64(bitPattern: Int64(value))
            case .int64(let value): sum &+= UInt64(bitPattern: value)
            default: sum &+= 1
            }
        }
        return sum
    }
}
