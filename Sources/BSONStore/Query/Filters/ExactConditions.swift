/// The conditions of a filter that names one document by its `_id` and says which values some of its
/// fields have, as the writes of a sync engine do.
///
/// ```swift
/// let filter: BSONDocument = [
///     "_id": 7, "done": ["$eq": false, "$type": 8], "due": ["$exists": false],
/// ]
/// ```
///
/// They are recognized and tested by their bytes, without being parsed. A document meets them if each
/// value equals its constant byte by byte. MongoDB's equality is wider (a number equals one of another
/// type, an array equals its element), so a document that does not meet them here must be tested by
/// the parsed filter.
struct ExactConditions: Sendable {
    /// The `_id` of the only document that may pass.
    let id: BSONValue
    private let document: BSONDocument

    /// Recognizes the conditions; `nil` for a filter that may mean more, or be invalid.
    init?(_ document: BSONDocument) {
        guard let id = Filter.firstID(document) else { return nil }
        let isExact = document.withCursor { cursor in
            guard cursor.next() != nil, var element = cursor.next() else { return false }
            while true {
                guard Path(element.key) != nil, Condition(element.value) != nil else {
                    return false
                }
                guard let next = cursor.next() else { return true }
                element = next
            }
        }
        guard isExact else { return nil }
        self.id = id
        self.document = document
    }

    /// Whether a document meets the conditions, byte by byte; `false` says nothing.
    func areMet(by other: UnsafeRawBufferPointer) -> Bool {
        document.withCursor { cursor in
            while let element = cursor.next() {
                guard let path = Path(element.key), let condition = Condition(element.value),
                    condition.isMet(by: path.end(in: RawDocument(other)))
                else { return false }
            }
            return true
        }
    }
}

// MARK: - Paths

extension ExactConditions {
    /// A path of plain keys, such as `address.city`.
    private struct Path {
        let bytes: UnsafeRawBufferPointer

        /// Paths that are longer are left to the parser, which limits their depth.
        static let byteCountMax = 100

        /// Takes a path without operators and empty keys.
        init?(_ bytes: UnsafeRawBufferPointer) {
            guard !bytes.isEmpty, bytes.count <= Self.byteCountMax else { return nil }
            var isAtStart = true
            for byte in bytes {
                guard !isAtStart || byte != UInt8(ascii: ".") && byte != UInt8(ascii: "$") else {
                    return nil
                }
                isAtStart = byte == UInt8(ascii: ".")
            }
            guard !isAtStart else { return nil }
            self.bytes = bytes
        }

        /// What a path leads to.
        enum End {
            case value(BSONRawValue)
            case missing
            /// The path leads through an array, or to one, whose elements count as well.
            case array
        }

        func end(in document: RawDocument) -> End {
            var document = document
            var rest = bytes[...]
            while true {
                let dot = rest.firstIndex(of: UInt8(ascii: "."))
                let key = UnsafeRawBufferPointer(rebasing: rest[..<(dot ?? rest.endIndex)])
                guard let value = Self.value(key, document) else { return .missing }
                if value.isArray { return .array }
                guard let dot else { return .value(value) }
                guard value.isDocument else { return .missing }
                document = value.document
                rest = rest[(dot + 1)...]
            }
        }

        private static func value(
            _ key: UnsafeRawBufferPointer, _ document: RawDocument
        ) -> BSONRawValue? {
            var elements = document.elements
            while let element = elements.next() {
                if element.key.count == key.count, BSONCursor.isEqual(element.key, key) {
                    return element.value
                }
            }
            return nil
        }
    }
}

// MARK: - Conditions

extension ExactConditions {
    /// What must be true of the value at a path's end.
    private struct Condition {
        /// The value that it must equal; `nil` for any.
        private var equal: BSONRawValue?
        /// The type that it must have; `nil` for any.
        private var type: UInt8?
        private var isMissing = false

        /// Takes a plain value, `{$exists: false}`, or any of `$eq`, `$type` with one type and
        /// `{$not: {$type: 4}}`.
        init?(_ value: BSONRawValue) {
            guard value.isDocument else {
                guard Self.isPlain(value) else { return nil }
                equal = value
                return
            }
            var operators = value.document.elements
            var count = 0
            while let element = operators.next() {
                count += 1
                guard take(element) else { return nil }
            }
            guard count > 0, !isMissing || count == 1 else { return nil }
        }

        private mutating func take(_ element: BSONRawElement) -> Bool {
            let value = element.value
            if Self.isNamed("$eq", element), equal == nil {
                guard Self.isPlain(value) || Self.isPlainDocument(value) else { return false }
                equal = value
                return true
            }
            if Self.isNamed("$type", element), type == nil {
                type = Self.type(value)
                return type != nil
            }
            if Self.isNamed("$not", element), value.isDocument {
                // The end of a path that is an array never passes here.
                var inner = value.document.elements
                guard let only = inner.next(), inner.next() == nil else { return false }
                return Self.isNamed("$type", only) && only.value.isInt32(4)
            }
            if Self.isNamed("$exists", element), value.typeByte == BSONType.bool.rawValue {
                isMissing = value.bytes.first == 0
                return isMissing
            }
            return false
        }

        func isMet(by end: Path.End) -> Bool {
            switch end {
            case .array: false
            case .missing: isMissing
            case .value(let value):
                !isMissing && type.map { $0 == value.typeByte } ?? true
                    && equal.map {
                        $0.typeByte == value.typeByte && $0.count == value.count
                            && BSONCursor.isEqual($0.bytes, value.bytes)
                    } ?? true
            }
        }

        private static func isNamed(_ name: StaticString, _ element: BSONRawElement) -> Bool {
            name.withUTF8Buffer { element.key.elementsEqual($0) }
        }

        /// Whether a value only means itself: no operators, no pattern, nothing that may be an array.
        private static func isPlain(_ value: BSONRawValue) -> Bool {
            switch BSONType(rawValue: value.typeByte) {
            case .double, .string, .binary, .objectID, .bool, .datetime, .null, .int32, .timestamp,
                .int64, .decimal128:
                true
            default: false
            }
        }

        /// Whether a value is a document without operators.
        private static func isPlainDocument(_ value: BSONRawValue) -> Bool {
            guard value.isDocument else { return false }
            var elements = value.document.elements
            while let element = elements.next() {
                if element.key.first == UInt8(ascii: "$") { return false }
            }
            return true
        }

        /// Returns the type that `$type` names by its number or as `"string"`.
        private static func type(_ value: BSONRawValue) -> UInt8? {
            if value.typeByte == BSONType.string.rawValue {
                let text = UnsafeRawBufferPointer(rebasing: value.bytes.dropFirst(4).dropLast())
                return text.elementsEqual("string".utf8) ? BSONType.string.rawValue : nil
            }
            guard value.typeByte == BSONType.int32.rawValue,
                let byte = UInt8(exactly: value.int32), let type = BSONType(rawValue: byte),
                type != .array, type != .minKey
            else { return nil }
            return byte
        }
    }
}

extension BSONRawValue {
    fileprivate func isInt32(_ number: Int32) -> Bool {
        typeByte == BSONType.int32.rawValue && int32 == number
    }
}
