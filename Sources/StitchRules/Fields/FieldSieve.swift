internal import BSONStore

/// Is a mask made ready for bytes: what is shown is copied as it stands, and no value is decoded.
///
/// Gives what ``FieldNode/shown(_:)`` gives, which a law holds it to.
final class FieldSieve: Sendable {
    private enum Part: Sendable {
        case whole(isShown: Bool)
        /// The fields of a document, or of those in an array, have their own permissions.
        case inner(FieldSieve)
    }

    /// The names one behind the other, shorter ones first, and where each begins.
    private let names: [UInt8]
    private let starts: [Int]
    private let parts: [Part]
    private let showsOthers: Bool

    init(_ node: FieldNode) {
        let children = node.children.map { (name: Array($0.key.utf8), node: $0.value) }
            .sorted { Self.isBefore($0.name, $1.name) }
        names = Array(children.map(\.name).joined())
        starts = children.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1.name.count) }
        parts = children.map { child in
            if case .leaf(let permission) = child.node {
                .whole(isShown: permission.reads)
            } else {
                .inner(FieldSieve(child.node))
            }
        }
        showsOthers = node.others.reads
    }

    private static func isBefore(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count ? left.lexicographicallyPrecedes(right) : left.count < right.count
    }

    /// The document without what is hidden; O(n) in its bytes.
    func shown(_ document: BSONDocument) -> BSONDocument {
        document.withUnsafeBytes { bytes in
            var shown: [UInt8] = []
            shown.reserveCapacity(bytes.count)
            write(bytes, to: &shown)
            return BSONDocument(unchecked: shown)
        }
    }

    private func write(_ document: UnsafeRawBufferPointer, to shown: inout [UInt8]) {
        let head = shown.count
        shown.append(contentsOf: [0, 0, 0, 0])
        var cursor = BSONCursor(document)
        // Neighbours that are shown are copied at once.
        var run: UnsafeRawBufferPointer?
        while let element = cursor.next() {
            let bytes = element.bytes
            switch part(element.key) {
            case .whole(isShown: true): run = run.map { $0.extended(by: bytes) } ?? bytes
            case .whole(isShown: false): Self.flush(&run, to: &shown)
            case .inner(let sieve):
                Self.flush(&run, to: &shown)
                sieve.write(element.value, named: element.key, to: &shown)
            }
        }
        Self.flush(&run, to: &shown)
        Self.close(&shown, from: head)
    }

    /// Writes the value of a field whose fields have their own permissions, if it is shown.
    private func write(
        _ value: BSONRawValue, named key: UnsafeRawBufferPointer, to shown: inout [UInt8]
    ) {
        guard value.type == .document || value.type == .array || showsOthers else { return }
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

    private static func flush(_ run: inout UnsafeRawBufferPointer?, to shown: inout [UInt8]) {
        guard let bytes = run else { return }
        shown.append(contentsOf: bytes)
        run = nil
    }

    private static func close(_ shown: inout [UInt8], from head: Int) {
        shown.append(0)
        let count = UInt32(truncatingIfNeeded: shown.count - head)
        for place in 0..<4 {
            shown[head + place] = UInt8(truncatingIfNeeded: count >> (8 * UInt32(place)))
        }
    }

    private func part(_ key: UnsafeRawBufferPointer) -> Part {
        var (low, high) = (0, parts.count)
        while low < high {
            let middle = (low + high) / 2
            let order = compare(middle, key)
            if order == 0 { return parts[middle] }
            if order < 0 { low = middle + 1 } else { high = middle }
        }
        return .whole(isShown: showsOthers)
    }

    /// Less than zero where a name comes before a key, zero where they are the same.
    private func compare(_ index: Int, _ key: UnsafeRawBufferPointer) -> Int {
        let (start, end) = (starts[index], starts[index + 1])
        guard end - start == key.count else { return end - start - key.count }
        for place in 0..<key.count where names[start + place] != key[place] {
            return Int(names[start + place]) - Int(key[place])
        }
        return 0
    }
}

extension FieldSieve {
    /// Whether two documents show the same.
    ///
    /// Where only whole fields are shown or hidden nothing is copied.
    func isAlike(_ one: BSONDocument, _ other: BSONDocument) -> Bool {
        let isSame = one.withUnsafeBytes { one in
            other.withUnsafeBytes { other in isAlike(BSONCursor(one), BSONCursor(other)) }
        }
        return isSame ?? (shown(one) == shown(other))
    }

    /// Whether a document surely shows something else than one that begins with the same bytes, so
    /// many, but not with the next.
    ///
    /// So it is where the byte that differs is in the value of a field that is shown whole: both have
    /// the field behind equal ones, with other values. `false` says nothing.
    func surelyDiffers(_ document: BSONDocument, behind sharedCount: Int) -> Bool {
        document.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, sharedCount < bytes.count else { return false }
            var cursor = BSONCursor(bytes)
            while let element = cursor.next() {
                let value = element.value
                guard value.start + value.count > base + sharedCount else { continue }
                guard value.start <= base + sharedCount else { return false }
                if case .whole(isShown: true) = part(element.key) { return true }
                return false
            }
            return false
        }
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
            switch part(element.key) {
            case .whole(isShown: true): return .field(element.bytes)
            case .whole(isShown: false): continue
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

extension UnsafeRawBufferPointer {
    /// These bytes with those that stand right behind them.
    fileprivate func extended(by next: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: baseAddress, count: count + next.count)
    }
}
