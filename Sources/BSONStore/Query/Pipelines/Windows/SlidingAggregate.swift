/// The combination of the values in a window whose both ends move on, each value joined at most
/// twice, however wide the window is.
///
/// Two stacks: the earlier values, each with all that follow it up to the middle, and the later ones
/// with their combination so far. When the earlier ones are used up, the later ones take their place.
struct SlidingAggregate<Part> {
    private let join: (Part, Part) -> Part
    /// For each earlier value, the last one first, its combination with those behind it.
    private var earlier: [Part] = []
    private var later: [Part] = []
    private var laterJoined: Part?

    /// - Parameter join: combines the parts of two adjacent ranges, the left one first.
    init(joining join: @escaping (Part, Part) -> Part) { self.join = join }

    /// Adds a value behind the last one.
    mutating func append(_ part: Part) {
        later.append(part)
        laterJoined = laterJoined.map { join($0, part) } ?? part
    }

    /// Removes the first value.
    mutating func removeFirst() {
        if earlier.isEmpty {
            for part in later.reversed() {
                earlier.append(earlier.last.map { join(part, $0) } ?? part)
            }
            later = []
            laterJoined = nil
        }
        _ = earlier.popLast()
    }

    /// The combination of all values; `nil` without any.
    var joined: Part? {
        guard let first = earlier.last else { return laterJoined }
        return laterJoined.map { join(first, $0) } ?? first
    }
}

/// An accumulator whose values over adjacent ranges combine, so that a window need not be computed
/// anew for each document.
enum SlidingAccumulator {
    case sum, mean, least, greatest, first, last

    init?(_ accumulator: Accumulator) {
        switch accumulator.name {
        case "$sum": self = .sum
        case "$avg": self = .mean
        case "$min": self = .least
        case "$max": self = .greatest
        case "$first": self = .first
        case "$last": self = .last
        default: return nil
        }
    }

    /// Computes the value of each window; the windows' beginnings and ends must not go back.
    ///
    /// - Throws: `exceededMemoryLimit` and the budget's fault.
    func values(
        _ windows: [Range<Int>], of inputs: [BSONValue?], _ run: PipelineRun
    ) throws(StoreError) -> [BSONValue?] {
        switch self {
        case .sum: try sums(windows, inputs, run) { $0?.sum ?? .int32(0) }
        case .mean: try sums(windows, inputs, run) { $0?.mean ?? .null }
        case .least: try extremes(windows, inputs, run, .less)
        case .greatest: try extremes(windows, inputs, run, .greater)
        case .first: try slide(windows, run, { inputs[$0] }, { left, _ in left }) { $0 ?? nil }
        case .last: try slide(windows, run, { inputs[$0] }, { _, right in right }) { $0 ?? nil }
        }
    }

    private func sums(
        _ windows: [Range<Int>], _ inputs: [BSONValue?], _ run: PipelineRun,
        _ result: (SumAccumulator?) -> BSONValue
    ) throws(StoreError) -> [BSONValue?] {
        let part = { (place: Int) -> SumAccumulator in
            var sum = SumAccumulator()
            sum.add(inputs[place])
            return sum
        }
        return try slide(windows, run, part, { $0.joined(with: $1) }) { result($0) }
    }

    private func extremes(
        _ windows: [Range<Int>], _ inputs: [BSONValue?], _ run: PipelineRun, _ better: BSONOrder
    ) throws(StoreError) -> [BSONValue?] {
        let part = { (place: Int) -> BSONValue? in
            guard let value = inputs[place], !value.isNullish else { return .none }
            return value
        }
        // Of equal values the first of the least stays, and the last of the greatest.
        let join = { (left: BSONValue?, right: BSONValue?) -> BSONValue? in
            guard let left, let right else { return left ?? right }
            let order = run.compare(right, left)
            return order == better || (order == .equal && better == .greater) ? right : left
        }
        return try slide(windows, run, part, join) { ($0 ?? nil) ?? .null }
    }

    private func slide<Part>(
        _ windows: [Range<Int>], _ run: PipelineRun, _ part: @escaping (Int) -> Part,
        _ join: @escaping (Part, Part) -> Part, _ result: (Part?) -> BSONValue?
    ) throws(StoreError) -> [BSONValue?] {
        var values: [BSONValue?] = []
        values.reserveCapacity(windows.count)
        var memory = run.memory("$setWindowFields")
        var aggregate = SlidingAggregate(joining: join)
        var held = 0..<0
        for window in windows {
            if window.isEmpty || window.lowerBound >= held.upperBound {
                aggregate = SlidingAggregate(joining: join)
                held = window.lowerBound..<window.lowerBound
            }
            for place in held.upperBound..<max(held.upperBound, window.upperBound) {
                try WorkBudget.spend()
                aggregate.append(part(place))
            }
            for _ in held.lowerBound..<window.lowerBound {
                try WorkBudget.spend()
                aggregate.removeFirst()
            }
            held = window
            let value = result(aggregate.joined)
            try memory.add(value.map(BSONWriter.count) ?? 0)
            values.append(value)
        }
        return values
    }
}
