/// A search for a run of bytes in others, in time linear in both.
///
/// Source: Knuth, Morris, Pratt, "Fast Pattern Matching in Strings".
struct ByteSearch: Sendable {
    private let wanted: [UInt8]
    /// For each number of bytes that matched, how many of them also begin the wanted bytes.
    private let borders: [Int]

    /// Prepares a search.
    init(for wanted: [UInt8]) {
        self.wanted = wanted
        var borders = Array(repeating: 0, count: wanted.count + 1)
        var border = 0
        for index in wanted.indices.dropFirst() {
            while border > 0, wanted[border] != wanted[index] { border = borders[border] }
            if wanted[border] == wanted[index] { border += 1 }
            borders[index + 1] = border
        }
        _ = WorkBudget.isOver(after: wanted.count / Self.bytesPerStep)
        self.borders = borders
    }

    /// The number of bytes that are compared in about a microsecond.
    private static let bytesPerStep = 512

    /// Returns the first place of the bytes at an offset or behind it; `nil` if there is none, and
    /// once the budget is over.
    func first(in bytes: UnsafeRawBufferPointer, from start: Int = 0) -> Int? {
        guard let head = wanted.first else { return start <= bytes.count ? start : nil }
        var matched = 0
        var index = start
        var asked = start
        while index < bytes.count {
            if index - asked >= Self.bytesPerStep {
                asked = index
                if WorkBudget.isOver() { return nil }
            }
            let byte = bytes[index]
            index += 1
            if matched == 0 {
                guard byte == head else { continue }
                matched = 1
            } else {
                while matched > 0, wanted[matched] != byte { matched = borders[matched] }
                if wanted[matched] == byte { matched += 1 }
            }
            if matched == wanted.count { return index - matched }
        }
        return nil
    }
}
