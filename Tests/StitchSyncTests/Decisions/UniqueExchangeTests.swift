import BSONStore
import Testing

@testable import StitchSync

/// Which refused changes are sent together: a wrong group would pause documents that could exchange
/// their values, or send a transaction that must fail.
struct UniqueExchangeTests {
    private func change(
        _ base: BSONValue, _ intended: BSONValue, paths: [String] = ["p"], overtaken: Bool = false
    ) -> RefusedChange {
        RefusedChange(
            paths: paths, base: ["p": base], intended: ["p": intended], isOvertaken: overtaken)
    }

    @Test("those that want each other's values are one group, also with what hangs on them")
    func groups() {
        let swap = [change(1, 2), change(2, 1)]
        #expect(UniqueExchange.decide(swap) == UniqueExchange(groups: [[0, 1]]))
        let two = [change(1, 2), change(5, 6), change(2, 1), change(6, 5)]
        #expect(UniqueExchange.decide(two) == UniqueExchange(groups: [[0, 2], [1, 3]]))
        let rotation = [change(1, 2), change(2, 3), change(3, 1)]
        #expect(UniqueExchange.decide(rotation) == UniqueExchange(groups: [[0, 1, 2]]))
        let tail = [change(7, 1), change(1, 2), change(2, 1)]
        #expect(UniqueExchange.decide(tail).groups.count == 1)
    }

    @Test("numbers of two types are one value, and an element of an array is a value")
    func keys() {
        let numbers = [change(1, .double(2)), change(.int64(2), .double(1))]
        #expect(UniqueExchange.decide(numbers).groups == [[0, 1]])
        let arrays = [change([1, 2], [1, 3]), change(3, 2)]
        #expect(UniqueExchange.decide(arrays).groups == [[0, 1]])
    }

    @Test("a field of the elements of an array gives a value for each element")
    func elements() {
        func change(_ base: [BSONValue], _ intended: [BSONValue]) -> RefusedChange {
            func items(_ values: [BSONValue]) -> BSONValue {
                .array(BSONArray(values.map { .document(["sku": $0]) }))
            }
            return RefusedChange(
                paths: ["items.sku"], base: ["items": items(base)],
                intended: ["items": items(intended)])
        }
        let swap = [change(["a", "b"], ["a", "c"]), change(["c"], ["b"])]
        #expect(UniqueExchange.decide(swap).groups == [[0, 1]])
        #expect(UniqueExchange.order([change(["a"], ["b"]), change(["b"], ["c"])]) == [1, 0])
    }

    @Test("what gives a value up is sent before what wants it, and each once")
    func order() {
        let up = (0..<5).map { change(.int($0), .int($0 + 1)) }
        #expect(UniqueExchange.order(up) == [4, 3, 2, 1, 0])
        let down = (1..<6).map { change(.int($0), .int($0 - 1)) }
        #expect(UniqueExchange.order(down) == [0, 1, 2, 3, 4])
        let unnamed = [change(1, 2, paths: []), change(2, 3, paths: [])]
        #expect(UniqueExchange.order(unnamed) == [1, 0])
        let swap = [change(1, 2), change(2, 1), change(7, 8)]
        #expect(UniqueExchange.order(swap).sorted() == [0, 1, 2])
        #expect(UniqueExchange.order([]) == [])
    }

    @Test("a long chain without an end is one group, one with an end is none")
    func chains() {
        let count = 2_000
        let chain = (0..<count).map { change(.int($0), .int($0 + 1)) }
        #expect(UniqueExchange.decide(chain) == UniqueExchange())
        let ring = chain.dropLast() + [change(.int(count - 1), 0)]
        #expect(UniqueExchange.decide(Array(ring)).groups == [Array(0..<count)])
    }

    @Test("a value that nobody gives up belongs to no group, nor does what waits for it")
    func alone() {
        let chain = [change(1, 2), change(2, 9)]
        #expect(UniqueExchange.decide(chain) == UniqueExchange())
        let unnamed = [change(1, 2, paths: []), change(2, 1, paths: [])]
        #expect(UniqueExchange.decide(unnamed) == UniqueExchange())
        #expect(UniqueExchange.decide([]) == UniqueExchange())
    }

    @Test("texts that an index may take for the same are one value, unless bytes are asked for")
    func collated() {
        let swap = [change("anna", "Ben"), change("ben", "Anna")]
        #expect(UniqueExchange.decide(swap).groups == [[0, 1]])
        #expect(UniqueExchange.decide(swap, byBytes: true) == UniqueExchange())
        #expect(UniqueExchange.order([change("a", "B"), change("b", "c")]) == [1, 0])
        let lookAlike = [change("x", "y"), change("y", "x"), change("z", "X")]
        #expect(UniqueExchange.decide(lookAlike).groups == [[0, 1, 2]])
        #expect(UniqueExchange.decide(lookAlike, byBytes: true).groups == [[0, 1]])
        // Where one has exactly the value, no other one is meant; an own other spelling is kept.
        let exact = [change("a", "b"), change("b", "a"), change("B", "B!")]
        #expect(UniqueExchange.decide(exact).groups == [[0, 1]])
    }

    @Test("a value of an overtaken change is waited for")
    func waits() {
        let changes = [change(1, 2), change(2, 1, overtaken: true), change(5, 1), change(6, 9)]
        #expect(UniqueExchange.decide(changes) == UniqueExchange(waiting: [0, 2]))
    }
}
