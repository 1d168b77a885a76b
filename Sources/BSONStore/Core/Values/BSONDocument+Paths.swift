extension BSONDocument {
    /// The value at a dotted path through documents and, by position, arrays; `nil` if missing.
    ///
    /// Reading decodes only the value at the path. Setting equals ``set(path:to:)`` and traps where
    /// that throws; setting `nil` equals ``removeValue(atPath:)``.
    public subscript(path path: String) -> BSONValue? {
        get {
            withUnsafeBytes { bytes in
                guard let base = bytes.baseAddress else { return nil }
                let found = path.withUTF8Bytes { Self.value(at: $0, in: bytes) }
                return found.map { BSONValue($0, sharing: self, at: base) }
            }
        }
        set {
            guard let newValue else {
                removeValue(atPath: path)
                return
            }
            do throws(BSONError) { try set(path: path, to: newValue) } catch {
                preconditionFailure(error.message)
            }
        }
    }

    /// Finds the value at a dotted path in place, without decoding or allocating.
    ///
    /// The bytes must be those of a valid document. Array positions are plain decimal numbers.
    public static func value(
        at path: UnsafeRawBufferPointer, in document: UnsafeRawBufferPointer
    ) -> BSONRawValue? {
        value(
            at: path,
            in: BSONRawValue(
                typeByte: BSONType.document.rawValue, start: BSONCursor.base(document),
                count: document.count))
    }

    /// Finds the value at a dotted path in a document or array, without decoding or allocating.
    static func value(at path: UnsafeRawBufferPointer, in whole: BSONRawValue) -> BSONRawValue? {
        var parts = PathParts(path)
        var current = whole
        while let part = parts.next() {
            var cursor: BSONCursor
            switch current.typeByte {
            case BSONType.document.rawValue:
                cursor = BSONCursor(current)
                guard let value = cursor.next(withKey: part) else { return nil }
                current = value
            case BSONType.array.rawValue:
                cursor = BSONCursor(current)
                guard let index = PathParts.index(part), let value = cursor.skip(to: index)
                else { return nil }
                current = value
            default: return nil
            }
        }
        return current
    }

    /// Sets the value at a dotted path, creating missing documents on the way.
    ///
    /// Only the bytes of the value and the lengths of the enclosing documents change. A position
    /// behind the end of an array adds nulls before it, as MongoDB's `$set` does.
    ///
    /// - Throws: ``BSONError/Code/pathNotViable`` if the path leads through a value that is neither
    ///   document nor array, through an array without a position, or to a position more than
    ///   1,500,000 behind its end; ``BSONError/Code/embeddedNull`` for a NUL in the path.
    public mutating func set(path: String, to value: BSONValue) throws(BSONError) {
        guard !path.holdsNull else { throw Self.embeddedNull }
        guard path.utf8.contains(UInt8(ascii: ".")) else { return set(path, to: value) }
        let parts = path.dottedParts
        let way = walk(parts)
        if let place = way.place {
            put(value, place, nested: way.nested)
            return
        }
        guard way.isViable else {
            let read = parts.prefix(way.depth + 1).joined(separator: ".")
            throw BSONError(
                .pathNotViable, "No value can be set at '\(path)' because of what is at '\(read)'")
        }
        var inserted = value
        for part in parts[(way.depth + 1)...].reversed() {
            inserted = .document([part: inserted])
        }
        append(parts[way.depth], inserted, way)
    }

    /// Removes the value at a dotted path and returns it.
    ///
    /// In an array the position remains and becomes null, as with MongoDB's `$unset`.
    @discardableResult
    public mutating func removeValue(atPath path: String) -> BSONValue? {
        guard let value = self[path: path] else { return nil }
        let way = walk(
            path.dottedParts)
        guard let place = way.place else { return nil }
        if way.isInArray {
            put(.null, place, nested: way.nested)
        } else {
            splice(at: place.element, removing: place.count, inserting: 0, nested: way.nested) {
                _ in
            }
        }
        return value
    }

    /// The part of a path that exists in a document.
    private struct Way {
        /// The element at the path's end, if it exists.
        var place: ElementLocation?
        /// The offsets of the documents on the path, except the outermost.
        var nested: [Int] = []
        /// The number of the first part of the path that was not found.
        var depth = 0
        /// Whether the last container is an array.
        var isInArray = false
        /// The number of elements in that array.
        var seen = 0
        /// Whether the missing part can be added to the last container.
        var isViable = true
    }

    private func walk(_ parts: [String]) -> Way {
        withUnsafeBytes { bytes in
            var way = Way()
            var offset = 0
            for (depth, part) in parts.enumerated() {
                way.depth = depth
                let place = step(part, &way, bytes, offset)
                guard let place else { return way }
                if depth == parts.count - 1 {
                    way.place = place
                    return way
                }
                let type = bytes[place.element]
                way.isInArray = type == BSONType.array.rawValue
                guard way.isInArray || type == BSONType.document.rawValue else {
                    way.isViable = false
                    return way
                }
                offset = place.value
                way.nested.append(offset)
            }
            return way
        }
    }

    private func step(
        _ part: String, _ way: inout Way, _ bytes: UnsafeRawBufferPointer, _ offset: Int
    ) -> ElementLocation? {
        guard way.isInArray else {
            return part.withUTF8Bytes { Self.place(of: $0, in: bytes, from: offset) }
        }
        guard let index = part.withUTF8Bytes({ PathParts.index($0) }) else {
            way.isViable = false
            return nil
        }
        let (place, seen) = Self.place(at: index, in: bytes, from: offset)
        way.seen = seen
        if place == nil { way.isViable = index - seen <= Self.arrayGapMax }
        return place
    }

    /// The maximum number of nulls that setting a position behind an array's end adds; MongoDB's
    /// bound.
    static let arrayGapMax = 1_500_000

    /// Appends an element to the last container of a path, in an array behind nulls.
    private mutating func append(_ key: String, _ value: BSONValue, _ way: Way) {
        let container = way.nested.last ?? 0
        let end = withUnsafeBytes { container + Self.length(in: $0, at: container) - 1 }
        let index = way.isInArray ? key.withUTF8Bytes { PathParts.index($0) } ?? way.seen : 0
        let name = way.isInArray ? String(index) : key
        var count = BSONWriter.headCount(name) + BSONWriter.count(value)
        if way.isInArray {
            for gap in way.seen..<index { count += BSONWriter.digits(gap) + 2 }
        }
        splice(at: end, removing: 0, inserting: count, nested: way.nested) { start in
            var at = start
            if way.isInArray {
                for gap in way.seen..<index {
                    at.storeBytes(of: BSONType.null.rawValue, as: UInt8.self)
                    at = BSONWriter.index(gap, at + 1)
                }
            }
            _ = BSONWriter.write(value, BSONWriter.head(value.type, name, at))
        }
    }
}

/// The parts of a dotted path, split in place.
struct PathParts {
    private let path: UnsafeRawBufferPointer
    private var at = 0

    /// Starts before the first part.
    init(_ path: UnsafeRawBufferPointer) { self.path = path }

    /// Returns the next part, possibly empty; `nil` behind the last.
    mutating func next() -> UnsafeRawBufferPointer? {
        guard at <= path.count else { return nil }
        var end = at
        while end < path.count, path[end] != 0x2E { end += 1 }
        defer { at = end + 1 }
        return UnsafeRawBufferPointer(rebasing: path[at..<end])
    }

    /// Returns the array position that a part names: digits without a leading zero.
    static func index(_ part: UnsafeRawBufferPointer) -> Int? {
        guard part.count > 0, part.count <= 9, part.count == 1 || part[0] != 48 else { return nil }
        var index = 0
        for byte in part {
            guard byte >= 48, byte <= 57 else { return nil }
            index = index * 10 + Int(byte - 48)
        }
        return index
    }
}
