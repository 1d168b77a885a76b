internal import BSONStore

/// A mask prepared for BSON bytes: visible fields are copied without decoding their values.
///
/// A test requires the same results as from ``FieldNode/shown(_:)``.
final class FieldMaskCopier: Sendable {
    private enum Part: Sendable {
        case hidden
        case shown
        /// The fields of a document, or of the documents in an array, have permissions of their
        /// own.
        case inner
    }

    /// The concatenated names, shorter ones first and those of a length in order, and the begin of
    /// each.
    private let names: [UInt8]
    private let starts: [Int]
    private let parts: [Part]
    /// For each name, the mask of its own fields, if they have permissions.
    private let inners: [FieldMaskCopier?]
    /// The index of the first name with at least a number of bytes; the longest share one entry.
    private let firsts: [Int]
    private let others: Part

    private static let longest = 32

    init(_ node: FieldNode) {
        let children = node.children.map { (name: Array($0.key.text.utf8), node: $0.value) }
            .sorted { Self.isBefore($0.name, $1.name) }
        names = Array(children.map(\.name).joined())
        starts = children.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1.name.count) }
        inners = children.map { child in
            if case .branch = child.node { FieldMaskCopier(child.node) } else { nil }
        }
        parts = children.map { child in
            switch child.node {
            case .leaf(let permission): permission.reads ? .shown : .hidden
            case .branch: .inner
            }
        }
        let counts = children.map(\.name.count)
        firsts =
            (0...Self.longest).map { count in counts.firstIndex { $0 >= count } ?? counts.count }
            + [counts.count]
        others = node.others.reads ? .shown : .hidden
    }

    /// Returns the document without its hidden fields; O(n) in its bytes.
    func shown(_ document: BSONDocument) -> BSONDocument {
        shown(document, behind: .max).document
    }

    /// Returns the document without its hidden fields, and whether the result certainly differs
    /// from that of a document that shares a number of leading bytes but not the next one.
    ///
    /// It does if the differing byte is in the value of a completely visible field: both documents
    /// have that field after equal ones, with different values. `false` leaves it open.
    func shown(
        _ document: BSONDocument, behind sharedCount: Int
    ) -> (document: BSONDocument, isNews: Bool) {
        document.withUnsafeBytes { bytes in
            var shown: [UInt8] = []
            shown.reserveCapacity(bytes.count)
            let isNews = write(bytes, to: &shown, behind: sharedCount)
            return (BSONDocument(unchecked: shown), isNews)
        }
    }

    /// Writes a document's visible fields; returns whether the byte at an offset is in a completely
    /// visible value.
    @discardableResult
    private func write(
        _ document: UnsafeRawBufferPointer, to shown: inout [UInt8], behind place: Int = .max
    ) -> Bool {
        guard let base = document.baseAddress else { return false }
        let head = shown.count
        shown.append(contentsOf: [0, 0, 0, 0])
        var cursor = BSONCursor(document)
        // Adjacent visible fields are copied together.
        var run: UnsafeRawPointer?
        var end = base + 4
        var (isBehind, isNews) = (false, false)
        var fieldCount = 0
        while let element = cursor.next() {
            fieldCount += 1
            let index = index(of: element.key)
            let part = index < 0 ? others : parts[index]
            let start = end
            end = element.value.start + element.value.count
            if !isBehind, end - base > place {
                isBehind = true
                isNews = part == .shown && element.value.start - base <= place
            }
            if part == .shown {
                if run == nil { run = start }
                continue
            }
            Self.flush(&run, upTo: start, to: &shown)
            if part == .inner, let inner = inners[index] {
                inner.write(element.value, named: element.key, to: &shown)
            }
        }
        Self.flush(&run, upTo: end, to: &shown)
        Self.close(&shown, from: head)
        _ = WorkBudget.isOver(after: fieldCount)
        return isNews
    }

    /// Writes the visible part of a field whose own fields have permissions.
    private func write(
        _ value: BSONRawValue, named key: UnsafeRawBufferPointer, to shown: inout [UInt8]
    ) {
        guard value.type == .document || value.type == .array || others == .shown else { return }
        shown.append(value.typeByte)
        shown.append(contentsOf: key)
        shown.append(0)
        switch value.type {
        case .document: write(value.bytes, to: &shown)
        case .array:
            let head = shown.count
            shown.append(contentsOf: [0, 0, 0, 0])
            var cursor = BSONCursor(value)
            var index = 0
            while let element = cursor.next() {
                let count = shown.count
                var name = String(index)
                name.withUTF8 {
                    write(element.value, named: UnsafeRawBufferPointer($0), to: &shown)
                }
                if shown.count > count { index += 1 }
            }
            Self.close(&shown, from: head)
        default: shown.append(contentsOf: value.bytes)
        }
    }

    private static func flush(
        _ run: inout UnsafeRawPointer?, upTo end: UnsafeRawPointer, to shown: inout [UInt8]
    ) {
        guard let begin = run else { return }
        shown.append(contentsOf: UnsafeRawBufferPointer(start: begin, count: end - begin))
        run = nil
    }

    private static func close(_ shown: inout [UInt8], from head: Int) {
        shown.append(0)
        let count = UInt32(truncatingIfNeeded: shown.count - head)
        for place in 0..<4 {
            shown[head + place] = UInt8(truncatingIfNeeded: count >> (8 * UInt32(place)))
        }
    }

    /// Returns the index of a name; negative for an unnamed field.
    ///
    /// Few names have the same length as a key, so that usually nothing is compared.
    @inline(__always)
    private func index(of key: UnsafeRawBufferPointer) -> Int {
        let count = min(key.count, Self.longest)
        var index = firsts[count]
        var end = firsts[count + 1]
        while index < end {
            let middle = (index + end) / 2
            switch order(middle, key) {
            case .equal: return middle
            case .less: index = middle + 1
            case .greater: end = middle
            }
        }
        return -1
    }

    /// Compares a name with a key: by length, then by bytes.
    private func order(_ index: Int, _ key: UnsafeRawBufferPointer) -> BSONOrder {
        let (start, end) = (starts[index], starts[index + 1])
        guard end - start == key.count else { return end - start < key.count ? .less : .greater }
        for place in 0..<key.count where names[start + place] != key[place] {
            return names[start + place] < key[place] ? .less : .greater
        }
        return .equal
    }

    private static func isBefore(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count ? left.lexicographicallyPrecedes(right) : left.count < right.count
    }
}

extension FieldMaskCopier {
    /// Whether two documents have equal visible fields.
    ///
    /// Nothing is copied if the mask only shows or hides whole fields.
    func isAlike(_ one: BSONDocument, _ other: BSONDocument) -> Bool {
        let isSame = one.withUnsafeBytes { one in
            other.withUnsafeBytes { other in isAlike(BSONCursor(one), BSONCursor(other)) }
        }
        return isSame ?? (shown(one) == shown(other))
    }

    /// Compares the visible fields without copies; `nil` when nested fields have permissions.
    private func isAlike(_ one: BSONCursor, _ other: BSONCursor) -> Bool? {
        var (one, other) = (one, other)
        while true {
            let (mine, theirs) = (nextShown(&one), nextShown(&other))
            if case .inner = mine { return nil }
            if case .inner = theirs { return nil }
            guard case .field(let left) = mine, case .field(let right) = theirs else {
                // Both end here, or one has more fields.
                if case .end = mine, case .end = theirs { return true }
                return false
            }
            guard BSONOrder.compareBytes(left, right) == .equal else { return false }
        }
    }

    private enum Step {
        case field(UnsafeRawBufferPointer)
        case inner
        case end
    }

    private func nextShown(_ cursor: inout BSONCursor) -> Step {
        while let element = cursor.next() {
            let index = index(of: element.key)
            switch index < 0 ? others : parts[index] {
            case .shown: return .field(element.bytes)
            case .hidden: continue
            case .inner: return .inner
            }
        }
        return .end
    }
}

extension BSONRawElement {
    /// The bytes of the element: type, key and value.
    fileprivate var bytes: UnsafeRawBufferPointer {
        let count = 1 + key.count + 1 + value.count
        return UnsafeRawBufferPointer(start: value.start - (count - value.count), count: count)
    }
}
