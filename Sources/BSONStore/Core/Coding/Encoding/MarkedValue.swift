/// A value as the encoder wrote it, with what its type says about it.
indirect enum MarkedValue {
    /// A struct or a dictionary.
    case fields(MarkedFields)
    /// An array, a set, or a dictionary whose keys are not text.
    case elements(MarkedElements)
    /// A BSON value of the app's own, which is written as it is.
    case exact(BSONValue)
    /// Any other value.
    case single(BSONValue)
}

/// The fields of a value that was encoded as a document.
struct MarkedFields {
    /// The names of the present fields, in order.
    var order: [Name] = []
    var values: [Name: MarkedValue] = [:]
    /// The names of optionals that are absent.
    var omitted: Set<Name> = []
    /// Whether the keys are data: the value has no unknown fields.
    var isDictionary = false
    /// Whether the value is of an enum.
    var isEnumeration = false
    /// The field that identifies the value among the elements of an array; `nil` for `_id` or `id`.
    var elementKey: String?
}

/// The elements of a value that was encoded as an array.
struct MarkedElements {
    /// The meaning of the order of the elements.
    enum Kind {
        case list
        case set
        /// Keys and values alternate; the order of the pairs means nothing.
        case pairs

        /// The number of values that an element takes.
        var elementSize: Int { self == .pairs ? 2 : 1 }
    }

    var kind = Kind.list
    var values: [MarkedValue] = []

    /// The positions in the values at which an element begins.
    var starts: StrideTo<Int> { stride(from: 0, to: values.count, by: kind.elementSize) }
}

extension MarkedValue {
    /// Parses an encoding with marks.
    init(_ raw: BSONRawValue) {
        switch raw.typeByte {
        case BSONType.document.rawValue:
            var cursor = BSONCursor(raw)
            if let exact = Self.exact(cursor) {
                self = .exact(exact)
            } else {
                self = .fields(MarkedFields(&cursor))
            }
        case BSONType.array.rawValue:
            var cursor = BSONCursor(raw)
            self = .elements(MarkedElements(&cursor))
        default: self = .single(BSONValue(copying: raw))
        }
    }

    private static func exact(_ document: BSONCursor) -> BSONValue? {
        var cursor = document
        guard let mark = cursor.next(), mark.value.typeByte == BSONEncodingMarks.exactByte else {
            return nil
        }
        return cursor.next().map { BSONValue(copying: $0.value) }
    }

    /// The value without its marks.
    var unmarked: BSONValue {
        switch self {
        case .fields(let fields): .document(fields.unmarked)
        case .elements(let elements): .array(BSONArray(elements.values.map(\.unmarked)))
        case .exact(let value), .single(let value): value
        }
    }

    /// Whether both encodings are of equal values; the order of sets and dictionaries is ignored.
    func isSame(as other: MarkedValue) -> Bool {
        switch (self, other) {
        case (.fields(let left), .fields(let right)): left.isSame(as: right)
        case (.elements(let left), .elements(let right)): left.isSame(as: right)
        case (.exact(let left), .exact(let right)):
            // The order of fields belongs to a document of the app's own.
            BSONDocument([("", left)]) == BSONDocument([("", right)])
        case (.single(let left), .single(let right)): left.contentEquals(right)
        case (.fields, _), (.elements, _), (.exact, _), (.single, _): false
        }
    }

    /// Bytes by which an element is found among stored ones.
    ///
    /// They are equal for equal values, of whatever number type, order of fields and order of sets.
    /// Null counts as missing.
    var fingerprint: [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes, withNulls: false)
        return bytes
    }

    fileprivate func append(to bytes: inout [UInt8], withNulls: Bool) {
        switch self {
        case .fields(let fields):
            let parts = fields.order.compactMap { name -> (Name, MarkedValue)? in
                guard let value = fields.values[name], withNulls || !value.isNull else {
                    return nil
                }
                return (name, value)
            }
            Fingerprint.append(fields: parts, to: &bytes) { value, bytes in
                value.append(to: &bytes, withNulls: withNulls)
            }
        case .elements(let elements):
            Fingerprint.append(elements: elements.parts(withNulls: withNulls), to: &bytes)
        case .exact(let value): Fingerprint.append(exact: value, to: &bytes)
        case .single(let value): BSONKey.append(value, to: &bytes)
        }
    }

    /// Whether the value is null.
    private var isNull: Bool {
        if case .single(.null) = self { true } else { false }
    }
}

/// The bytes by which elements of arrays are found again.
enum Fingerprint {
    /// Returns the fingerprint of a stored value, of which only the known fields count.
    ///
    /// - Parameter known: the top-level fields that count; `nil` for all.
    static func of(_ stored: BSONValue, known: Set<Name>?) -> [UInt8] {
        var bytes: [UInt8] = []
        append(stored, known: known, to: &bytes)
        return bytes
    }

    /// Returns the fingerprint of a stored value that the app's type holds as BSON.
    static func of(exact stored: BSONValue) -> [UInt8] {
        var bytes: [UInt8] = []
        append(exact: stored, to: &bytes)
        return bytes
    }

    /// Returns the fingerprint of a value in which the order of all arrays is ignored, as that of
    /// sets and dictionaries within it is in encodings.
    static func unordered(_ stored: BSONValue, known: Set<Name>?) -> [UInt8] {
        var bytes: [UInt8] = []
        append(stored, known: known, isOrdered: false, to: &bytes)
        return bytes
    }

    private static func append(
        _ stored: BSONValue, known: Set<Name>?, isOrdered: Bool = true, to bytes: inout [UInt8]
    ) {
        switch stored {
        case .document(let document):
            let parts = document.compactMap { key, value -> (Name, BSONValue)? in
                let name = Name(key)
                guard value != .null, known?.contains(name) ?? true else { return nil }
                return (name, value)
            }
            append(fields: parts, to: &bytes) {
                append($0, known: nil, isOrdered: isOrdered, to: &$1)
            }
        case .array(let array) where isOrdered:
            append(elements: array.map { of($0, known: nil) }, to: &bytes)
        case .array(let array):
            let elements = array.map { unordered($0, known: nil) }
            append(
                elements: elements.sorted { $0.lexicographicallyPrecedes($1) }, to: &bytes)
        default: BSONKey.append(stored, to: &bytes)
        }
    }

    fileprivate static func append<Value>(
        fields: [(Name, Value)], to bytes: inout [UInt8],
        _ appendValue: (Value, inout [UInt8]) -> Void
    ) {
        bytes.append(BSONKey.classByte(of: .document))
        for (name, value) in fields.sorted(by: { $0.0 < $1.0 }) {
            bytes.append(1)
            bytes += Array(name.text.utf8)
            bytes.append(0)
            appendValue(value, &bytes)
        }
        bytes.append(0)
    }

    fileprivate static func append(elements: [[UInt8]], to bytes: inout [UInt8]) {
        bytes.append(BSONKey.classByte(of: .array))
        for element in elements {
            bytes.append(1)
            bytes += element
        }
        bytes.append(0)
    }

    /// Appends a value so that its type and the order of its fields count.
    fileprivate static func append(exact value: BSONValue, to bytes: inout [UInt8]) {
        bytes.append(0xFF)
        bytes += BSONDocument([("", value)]).bytes
    }
}

extension MarkedFields {
    fileprivate init(_ cursor: inout BSONCursor) {
        while let element = cursor.next() {
            let key = Name(String(validUTF8: element.key))
            switch element.value.typeByte {
            case BSONEncodingMarks.dictionaryByte: isDictionary = true
            case BSONEncodingMarks.enumerationByte: isEnumeration = true
            case BSONEncodingMarks.elementKeyByte: elementKey = key.text
            case BSONEncodingMarks.omittedByte: omitted.insert(key)
            default:
                if values.updateValue(MarkedValue(element.value), forKey: key) == nil {
                    order.append(key)
                }
            }
        }
    }

    var unmarked: BSONDocument {
        var builder = BSONDocumentBuilder(reservingBytes: 256)
        for name in order {
            if let value = values[name] { builder.append(name.text, value.unmarked) }
        }
        return builder.finish()
    }

    fileprivate func isSame(as other: MarkedFields) -> Bool {
        guard order.count == other.order.count else { return false }
        return order.allSatisfy { name in
            guard let left = values[name], let right = other.values[name] else { return false }
            return left.isSame(as: right)
        }
    }

    /// The identity of the value among the elements of an array; `nil` if it has none.
    var identity: [UInt8]? {
        for key in elementKey.map({ [$0] }) ?? ["_id", "id"] {
            switch values[key] {
            case .single(.null), nil: continue
            case .some(let value): return value.fingerprint
            }
        }
        return nil
    }
}

extension MarkedElements {
    fileprivate init(_ cursor: inout BSONCursor) {
        while let element = cursor.next() {
            switch element.value.typeByte {
            case BSONEncodingMarks.dictionaryByte: kind = .pairs
            case BSONEncodingMarks.setByte: kind = .set
            default: values.append(MarkedValue(element.value))
            }
        }
        if kind == .pairs, !values.count.isMultiple(of: 2) { kind = .list }
    }

    fileprivate func isSame(as other: MarkedElements) -> Bool {
        guard values.count == other.values.count, kind == other.kind else { return false }
        if zip(values, other.values).allSatisfy({ $0.isSame(as: $1) }) { return true }
        return kind != .list && parts(withNulls: true) == other.parts(withNulls: true)
    }

    /// The fingerprints of the elements, or of the pairs, in an order that depends only on them.
    fileprivate func parts(withNulls: Bool) -> [[UInt8]] {
        func bytes(_ value: MarkedValue) -> [UInt8] {
            var bytes: [UInt8] = []
            value.append(to: &bytes, withNulls: withNulls)
            return bytes
        }
        return switch kind {
        case .list: values.map(bytes)
        case .set: values.map(bytes).sorted { $0.lexicographicallyPrecedes($1) }
        case .pairs:
            stride(from: 0, to: values.count, by: 2)
                .map { bytes(values[$0]) + [0] + bytes(values[$0 + 1]) }
                .sorted { $0.lexicographicallyPrecedes($1) }
        }
    }
}
