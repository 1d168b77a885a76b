/// The bytes that one part of a command holds; they are given back when the part ends.
package final class MemoryHolding {
    /// The bytes that are taken at a time; a part with fewer takes none.
    private static let step = 256 * 1024

    private let share: MemoryShare
    private let part: String
    private var bytes = 0
    private var taken = 0

    private init(_ share: MemoryShare, _ part: String) {
        self.share = share
        self.part = part
    }

    deinit { if taken > 0 { share.give(taken) } }

    /// Returns a holding for a part of this thread's command, such as a stage; `nil` if nothing
    /// bounds the command's memory.
    package static func begin(_ part: @autoclosure () -> String) -> MemoryHolding? {
        WorkBudget.current?.memory.map { MemoryHolding($0, part()) }
    }

    /// Counts more bytes; a negative number counts fewer.
    ///
    /// - Throws: 292 when the command or all commands together would hold too much.
    package func add(_ count: Int) throws(StoreError) {
        bytes += count
        guard bytes > taken + Self.step else { return }
        let missing = bytes - taken
        try share.take(missing, for: part)
        taken += missing
    }
}
