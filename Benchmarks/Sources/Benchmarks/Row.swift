import BenchmarkBaseline

/// Compares one piece of work with the same work of somebody else, in the same process.
struct Row {
    /// What is done, and to which document.
    let name: String
    /// The highest ratio of time that passes.
    let gate: Double
    /// The ratio of time that is aimed at.
    let goal: Double
    /// The highest ratio of instructions that passes where the time misses its gate.
    ///
    /// The gate of time, unless the two sides' instructions cost differently much.
    let instructionGate: Double
    /// Does the work of the baseline so many times.
    let baseline: (Int) -> Void
    /// Does our work so many times.
    let ours: (Int) -> Void
    /// How often the work is done in a round; found out by trying when left out.
    let count: Int?
    /// Makes both sides ready for a round of so many times; its time does not count.
    let prepare: ((Int) -> Void)?

    init(
        name: String, gate: Double, goal: Double, instructionGate: Double? = nil,
        baseline: @escaping (Int) -> Void, ours: @escaping (Int) -> Void, count: Int? = nil,
        prepare: ((Int) -> Void)? = nil
    ) {
        self.name = name
        self.gate = gate
        self.goal = goal
        self.instructionGate = instructionGate ?? gate
        self.baseline = baseline
        self.ours = ours
        self.count = count
        self.prepare = prepare
    }
}

/// Bounds how often one piece of work may allocate.
struct AllocationRow {
    /// What is done, and to which document.
    let name: String
    /// The highest count that passes.
    let gate: Int
    /// The count that is aimed at.
    let goal: Int
    /// Does the work so many times.
    let work: (Int) -> Void

    /// How often the work is done in the runs that are compared.
    static let counts = [2, 50, 100]

    /// Allocations of one piece of work: the difference of two runs, so that set-up cancels out.
    func count() -> Double {
        work(Self.counts[0])
        let before = baseline_allocations()
        work(Self.counts[1])
        let between = baseline_allocations()
        work(Self.counts[2])
        let after = baseline_allocations()
        return Double((after - between) - (between - before))
            / Double(Self.counts[2] - Self.counts[1])
    }
}

/// Measures rows in interleaved rounds: baseline, ours, ours, baseline ….
struct Measurement {
    /// CPU nanoseconds of the baseline for one piece of work, median.
    let baselineNS: Double
    /// CPU nanoseconds of ours for one piece of work, median.
    let oursNS: Double
    /// The median of the rounds' ratios.
    let ratio: Double

    /// Runs so many rounds of about `roundMS` milliseconds a side.
    init(_ row: Row, rounds: Int, roundMS: Double) {
        let baselineCount = row.count ?? Self.calibrate(row.baseline, roundMS)
        let oursCount = row.count ?? Self.calibrate(row.ours, roundMS)
        var samples: [(baseline: Double, ours: Double)] = []
        for round in 0..<rounds {
            row.prepare?(oursCount)
            if round.isMultiple(of: 2) {
                let first = Self.time(row.baseline, baselineCount)
                samples.append((first, Self.time(row.ours, oursCount)))
            } else {
                let first = Self.time(row.ours, oursCount)
                samples.append((Self.time(row.baseline, baselineCount), first))
            }
        }
        baselineNS = Self.median(samples.map(\.baseline))
        oursNS = Self.median(samples.map(\.ours))
        ratio = Self.median(samples.map { $0.ours / $0.baseline })
    }

    private static func calibrate(_ work: (Int) -> Void, _ milliseconds: Double) -> Int {
        work(1)
        var count = 1
        while true {
            let start = baseline_cpu_ns()
            work(count)
            let elapsed = Double(baseline_cpu_ns() - start)
            if elapsed > 1e6 { return max(1, Int(Double(count) * milliseconds * 1e6 / elapsed)) }
            count *= 4
        }
    }

    private static func time(_ work: (Int) -> Void, _ count: Int) -> Double {
        let start = baseline_cpu_ns()
        work(count)
        return Double(baseline_cpu_ns() - start) / Double(count)
    }

    private static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2)
            ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }
}
