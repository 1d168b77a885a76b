internal import BSONStore

/// The number of requests that may be under way at once, adapted to the latency of the way.
///
/// A request that takes hardly longer than the shortest one waited for the way and not for the
/// remote, which could have answered more; one that takes much longer waited behind the others.
///
/// Source: L. Brakmo, S. O'Malley, L. Peterson, "TCP Vegas" (1994).
struct RequestWindow: Sendable {
    private let range: ClosedRange<Int>
    /// The number of requests.
    private(set) var size: Int
    private var shortest: Duration?

    init(_ range: ClosedRange<Int>) {
        self.range = range
        size = range.lowerBound
    }

    /// Notes the time of a request, from its start to its answer.
    mutating func note(_ time: Duration) {
        guard let known = shortest else {
            shortest = time
            return
        }
        let least = min(known, time)
        shortest = least
        if time * 2 < least * 3 {
            size = min(size + 1, range.upperBound)
        } else if time > least * 2 {
            size = max(size - 1, range.lowerBound)
        }
    }
}

/// The size of the next page of a reading whose pages are asked for ahead.
///
/// It grows while pages arrive late, after the one before is stored: on a slow way fewer and larger
/// pages wait less.
struct PageSize: Sendable {
    /// The largest growth.
    private static let growthMax = 8

    private let least: Int
    /// The number of entries.
    private(set) var count: Int

    init(_ least: Int) {
        self.least = least
        count = least
    }

    /// Notes a page.
    ///
    /// - Parameters:
    ///   - isLate: whether the page before it was stored already when it arrived.
    ///   - bytes: the size of its entries.
    ///   - bytesMax: the size above which pages do not grow.
    mutating func note(isLate: Bool, entries: Int, bytes: Int, atMost bytesMax: Int) {
        guard isLate, entries >= count, bytes * 2 <= bytesMax else { return }
        count = min(count * 2, least * Self.growthMax)
    }
}

/// The answer to a request that was sent ahead, while something else was done.
struct AnswerAhead<Answer: Sendable>: Sendable {
    let result: Result<Answer, any Error>
    /// Whether it came after the other thing was done.
    let isLate: Bool
}

extension PassContext {
    /// Sends a request and runs a body meanwhile, which does not depend on it.
    ///
    /// Where tests choose the order of answers, the request is answered before the body begins.
    ///
    /// - Parameter request: the request; `nil` to run the body alone.
    func ahead<Answer: Sendable, Value>(
        _ request: (@Sendable () async throws -> Answer)?, _ body: () async throws -> Value
    ) async throws -> (answer: AnswerAhead<Answer>?, value: Value) {
        guard let request else { return (nil, try await body()) }
        let clock = ContinuousClock()
        @Sendable func answered() async -> (Result<Answer, any Error>, ContinuousClock.Instant) {
            let result = await Result { () async throws -> Answer in try await request() }
            return (result, clock.now)
        }
        if engine.answerArriving != nil {
            let (result, _) = await answered()
            return (AnswerAhead(result: result, isLate: false), try await body())
        }
        async let answer = answered()
        let value = try await body()
        let end = clock.now
        let (result, arrival) = await answer
        return (AnswerAhead(result: result, isLate: arrival > end), value)
    }
}

/// Requests of which several are under way; their answers are taken one by one, in their order.
struct RequestsAhead {
    /// The numbers of requests under way.
    private let window: ClosedRange<Int>
    /// Whether each request is answered before the next one is sent, where tests choose the order.
    private let isInOrder: Bool

    /// Creates the requests of a pass.
    init(context: PassContext) {
        self.init(2...8, isInOrder: context.engine.answerArriving != nil)
    }

    init(_ window: ClosedRange<Int>, isInOrder: Bool) {
        self.window = window
        self.isInOrder = isInOrder
    }

    private struct Arrival<Answer: Sendable>: Sendable {
        let index: Int
        let result: Result<Answer, any Error>
        let time: Duration
    }

    /// Runs until there is nothing more to ask for.
    ///
    /// - Parameters:
    ///   - next: returns what the next request is about; `nil` at the end.
    ///   - request: asks the remote.
    ///   - take: takes an answer; the next ones are under way meanwhile.
    /// - Throws: the first error, in the order of the requests.
    func run<Item: Sendable, Answer: Sendable>(
        next: () async throws -> Item?,
        request: @escaping @Sendable (Item) async throws -> Answer,
        take: (Item, Answer) async throws -> Void
    ) async throws {
        @Sendable func arrival(_ item: Item, _ index: Int) async -> Arrival<Answer> {
            let clock = ContinuousClock()
            let start = clock.now
            let result = await Result { () async throws -> Answer in try await request(item) }
            return Arrival(index: index, result: result, time: clock.now - start)
        }
        try await withThrowingTaskGroup(of: Arrival<Answer>.self) { group in
            var window = RequestWindow(window)
            var (items, first, isAtEnd) = ([Item](), 0, false)
            var arrivals: [Int: Arrival<Answer>] = [:]
            while true {
                while !isAtEnd, items.count < window.size {
                    guard let item = try await next() else {
                        isAtEnd = true
                        break
                    }
                    let index = first + items.count
                    items.append(item)
                    if isInOrder {
                        arrivals[index] = await arrival(item, index)
                    } else {
                        group.addTask { await arrival(item, index) }
                    }
                }
                guard let item = items.first else { return }
                while arrivals[first] == nil, let arrived = try await group.next() {
                    window.note(arrived.time)
                    arrivals[arrived.index] = arrived
                }
                guard let arrived = arrivals.removeValue(forKey: first) else { return }
                items.removeFirst()
                first += 1
                try await take(item, try arrived.result.get())
            }
        }
    }
}

extension Result where Failure == any Error {
    /// The result of a body.
    fileprivate init(_ body: () async throws -> Success) async {
        do {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}
