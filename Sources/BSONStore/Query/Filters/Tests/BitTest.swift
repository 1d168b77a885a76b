/// A test of single bits of whole numbers and binaries.
///
/// Source: MongoDB manual, "Bitwise Query Operators".
package struct BitTest: Sendable {
    /// The required state of the bits.
    enum Kind: Sendable {
        case allSet
        case anySet
        case allClear
        case anyClear
    }

    let kind: Kind
    /// The positions of the bits, sorted and unique.
    let positions: [Int]

    /// Parses a mask, an array of positions or a binary.
    ///
    /// - Throws: `badValue` (2) or `failedToParse` (9) with MongoDB's text.
    init(
        _ kind: Kind, _ key: String, _ value: BSONValue, path: FieldPath
    ) throws(StoreError) {
        self.kind = kind
        switch value {
        case .array(let array): positions = try Self.positions(array)
        case .double, .int32, .int64, .decimal128:
            let mask = UInt64(try IntegerFieldParser.nonNegativeInt64(key, value))
            positions = (0..<64).filter { mask >> UInt64($0) & 1 == 1 }
        case .binary(let binary):
            let bytes = binary.storedBytes
            positions = bytes.indices.flatMap { index in
                let byte = bytes[index]
                let set = (0..<8).filter { byte & (1 << $0) != 0 }
                return set.map { 8 * index + $0 }
            }
        case .string, .document, .undefined, .objectID, .bool, .datetime, .null,
            .regularExpression, .dbPointer, .javascript, .symbol, .javascriptWithScope, .timestamp,
            .minKey, .maxKey:
            throw StoreError(
                .badValue,
                "\(path) takes an Array, a number, or a BinData but received: \(key): "
                    + ShellText.text(of: value))
        }
    }

    private static func positions(_ array: BSONArray) throws(StoreError) -> [Int] {
        var positions: Set<Int> = []
        for (index, value) in array.values.enumerated() {
            do throws(StoreError) {
                positions.insert(Int(try IntegerFieldParser.nonNegativeInt32(String(index), value)))
            } catch {
                throw StoreError(
                    .badValue, "Failed to parse bit position. \(error.message)")
            }
        }
        return positions.sorted()
    }

    /// Whether a binary as it is stored, or a number that is whole and fits 64 bits, passes.
    func passes(_ value: BSONRawValue) -> Bool {
        switch value.typeByte {
        case BSONType.binary.rawValue:
            let bytes = UnsafeRawBufferPointer(start: value.start + 5, count: value.count - 5)
            return passes { position in
                position / 8 < bytes.count
                    && bytes[position / 8] >> UInt8(position % 8) & 1 == 1
            }
        case BSONType.double.rawValue:
            return Int64(exactly: value.double).map { passes($0) } ?? false
        case BSONType.int32.rawValue: return passes(Int64(value.int32))
        case BSONType.int64.rawValue: return passes(value.int64)
        case BSONType.decimal128.rawValue:
            guard let (number, isExact) = value.decimal128.truncated, isExact else { return false }
            return passes(number)
        default: return false
        }
    }

    /// Whether the bits of a number pass; those above the 64th equal the sign.
    private func passes(_ number: Int64) -> Bool {
        passes { number >> Int64(min($0, 63)) & 1 == 1 }
    }

    private func passes(_ isSet: (Int) -> Bool) -> Bool {
        switch kind {
        case .allSet: positions.allSatisfy { isSet($0) }
        case .anySet: positions.contains { isSet($0) }
        case .allClear: positions.allSatisfy { !isSet($0) }
        case .anyClear: positions.contains { !isSet($0) }
        }
    }
}
