internal import BSONStore

/// Is a mask made ready for bytes: what is shown is copied as it stands, and no value is decoded.
///
/// Gives what ``FieldNode/shown(_:)`` gives, which a law holds it to.
final class FieldMaskCopier: Sendable {
    private enum Part: Sendable {
        case hidden
        case shown
        /// The fields of a document, or of those in an array, have their own permissions.
        case inner
    }

    /// The names one behind the other, shorter ones first, and where each begins.
    private let names: [UInt8]
    private let starts: [Int]
    private let parts: [Part]
    /// For each name whose fields have permissions of their own.
    private let inners: [FieldMaskCopier?]
    /// The first name that has so many bytes, or more; the longest stand together.
    private let firsts: [Int]
    private let others: Part

    private static let longest = 32

    init(_ node: FieldNode) {
        let children = node.children.map { (name: Array($0.key.text.utf8), node: $0.value) }
            .sorted { $0.name.count < $1.name.count }
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

    /// Returns the document without what is hidden; O(n) in its bytes.
    func shown(_ document: BSONDocument) -> BSONDocument {
        shown(document, behind: .max).document
    }

    /// Returns the document without what is hidden, and whether that surely is something else than
    /// what is shown of one that begins with the same bytes, so many, but not with the next.
    ///
    /// So it is where the byte that differs is in the value of a field that is shown whole: both have
    /// the field behind equal ones, with other values. `false` says nothing.
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

    /// Writes what is shown of a document; returns whether the byte at a place is in a value that is
    /// shown whole.
    @discardableResult
    private func write(
        _ document: UnsafeRawBufferPointer, to shown: inout [UInt8], behind place: Int = .max
    ) -> Bool {
        guard let base = document.baseAddress else { return false }
        let head = shown.count
        shown.append(contentsOf: [0, 0, 0, 0])
        var cursor = BSONCursor(document)
        // Neighbours that are shown are copied at once.
        var run: UnsafeRawPointer?
        var end = base + 4
        var (isBehind, isNews) = (false, false)
        while let element = cursor.next() {
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
        return isNews
    }

    /// Writes the value of a field whose fields have their own permissions, if it is shown.
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

    /// Returns the name's place; negative for one that is not named.
    ///
    /// Few names have as many bytes as a key, so that mostly nothing is compared.
    @inline(__always)
    private func index(of key: UnsafeRawBufferPointer) -> Int {
        let count = min(key.count, Self.longest)
        var index = firsts[count]
        let end = firsts[count + 1]
        while index < end {
            if isNamed(index, key) { return index }
            index += 1
        }
        return -1
    }

    private func isNamed(_ index: Int, _ key: UnsafeRawBufferPointer) -> Bool {
        let (start, end) = (starts[index], starts[index + 1])
        guard end - start == key.count else { return false }
        for place in 0..<key.count where names[start + place] != key[place] { return false }
        return true
    }
}

extension FieldMaskCopier {
    /// Whether two documents show the same.
    ///
    /// Where only whole fields are shown or hidden nothing is copied.
    func isAlike(_ one: BSONDocument, _ other: BSONDocument) -> Bool {
        let isSame = one.withUnsafeBytes { one in
            other.withUnsafeBytes { other in isAlike(BSONCursor(one), BSONCursor(other)) }
        }
        return isSame ?? (shown(one) == shown(other))
    }

    /// `nil` where fields in fields decide.
    private func isAlike(_ one: BSONCursor, _ other: BSONCursor) -> Bool? {
        var (one, other) = (one, other)
        while true {
            let (mine, theirs) = (nextShown(&one), nextShown(&other))
            if case .inner = mine { return nil }
            if case .inner = theirs { return nil }
            guard case .field(let left) = mine, case .field(let right) = theirs else {
                // Both are at their ends, or one has more.
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
    /// The element as it stands: type, key and value.
    fileprivate var bytes: UnsafeRawBufferPointer {
        let count = 1 + key.count + 1 + value.count
        return UnsafeRawBufferPointer(start: value.start - (count - value.count), count: count)
    }
}
