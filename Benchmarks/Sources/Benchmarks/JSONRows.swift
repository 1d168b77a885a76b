import BSONStore
import BenchmarkBaseline

/// The rows of Extended JSON in both directions.
enum JSONRows {
    static func rows(_ subject: Subject) -> [Row] {
        [(ExtendedJSONFormat.canonical, Int32(0)), (.relaxed, 1)].flatMap { format, relaxed in
            let text = Array((relaxed == 0 ? subject.canonical : subject.relaxed).utf8)
            return [
                Row(
                    name: "write \(format) Extended JSON, \(subject.name)", gate: 0.10, goal: 0.05,
                    baseline: {
                        baseline_keep(baseline_write_json(subject.baseline, relaxed, $0))
                    },
                    ours: { count in
                        for _ in 0..<count { write(subject.document, format) }
                    }),
                Row(
                    name: "read \(format) Extended JSON, \(subject.name)", gate: 0.35, goal: 0.20,
                    baseline: {
                        baseline_keep(baseline_read_json(subject.baseline, relaxed, $0))
                    },
                    ours: { count in for _ in 0..<count { read(text) } }),
            ]
        }
    }

    static func allocations(_ subject: Subject) -> [AllocationRow] {
        let text = Array(subject.canonical.utf8)
        return [
            AllocationRow(
                name: "write canonical Extended JSON, \(subject.name)", gate: 3, goal: 2
            ) { count in
                for _ in 0..<count { write(subject.document, .canonical) }
            },
            AllocationRow(
                name: "read canonical Extended JSON, \(subject.name)", gate: 3, goal: 2
            ) { count in
                for _ in 0..<count { read(text) }
            },
        ]
    }

    private static func write(_ document: BSONDocument, _ format: ExtendedJSONFormat) {
        baseline_keep(UInt64(document.extendedJSONBytes(format).count))
    }

    private static func read(_ text: [UInt8]) {
        text.withUnsafeBytes { bytes in
            do throws(BSONError) {
                CoreRows.keep(try BSONDocument(extendedJSONBytes: bytes))
            } catch { preconditionFailure("\(error)") }
        }
    }
}
