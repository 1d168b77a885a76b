/// A merge of a newly encoded document into its original that keeps unknown fields.
///
/// The new document holds marks, which are elements of types that BSON does not have: one for each
/// absent optional, and one at the beginning of each document that is data rather than a type.
enum BSONEncodingMerge {
    /// The type byte of a key whose optional is absent.
    static let omittedByte: UInt8 = 0x14
    /// The type byte of the mark of a document in which all keys belong to the value.
    static let wholeByte: UInt8 = 0x15
    /// The type byte of the mark of a document that holds one value, which the merge copies
    /// unchanged.
    static let exactByte: UInt8 = 0x16

    /// Writes the mark of a whole document.
    static func markWhole(_ buffer: inout BSONByteBuffer) {
        buffer.reserve(2)
        buffer.put(wholeByte)
        buffer.put(0 as UInt8)
    }

    /// Wraps a value that the merge copies unchanged.
    static func exact(_ value: BSONValue) -> BSONValue {
        let carrier: BSONDocument = ["": value]
        var bytes = carrier.bytes
        bytes.insert(contentsOf: [exactByte, 0], at: 4)
        let length = Int32(truncatingIfNeeded: bytes.count).littleEndian
        Swift.withUnsafeBytes(of: length) { prefix in
            for index in 0..<4 { bytes[index] = prefix[index] }
        }
        return .document(BSONDocument(unchecked: bytes))
    }

    /// Returns the original with the new document's fields in it, without marks.
    static func merge(_ fresh: BSONDocument, onto original: BSONDocument) -> BSONDocument {
        let elements = marked(fresh)
        if case .document(let exact)? = elements.exact { return exact }
        var result = BSONDocument()
        var taken: Set<Name> = []
        for (key, old) in original {
            guard let element = elements.fields[key] else {
                if !elements.isWhole { result.append(key, old) }
                continue
            }
            // A repeated key counts as known: only its first place stays.
            guard taken.insert(key).inserted, let value = element else { continue }
            result.append(key, merge(value, onto: old))
        }
        for key in elements.order where !taken.contains(key) {
            if let value = elements.fields[key] ?? nil { result.append(key, unmarked(value)) }
        }
        return result
    }

    /// Returns the document with only the last of the elements that have the same key.
    static func keepingLast(_ document: BSONDocument) -> BSONDocument {
        let elements = Array(document)
        var last: [Name: Int] = [:]
        for (index, element) in elements.enumerated() { last[element.key] = index }
        var result = BSONDocument()
        for (index, element) in elements.enumerated() where last[element.key] == index {
            result.append(element.key, element.value)
        }
        return result
    }

    private static func merge(_ fresh: BSONValue, onto old: BSONValue) -> BSONValue {
        switch (fresh, old) {
        case (.document(let fresh), _) where marked(fresh).exact != nil: unmarked(.document(fresh))
        case (.document(let fresh), .document(let old)): .document(merge(fresh, onto: old))
        case (.array(let fresh), .array(let old)): .array(merge(fresh, onto: old))
        default: isSameNumber(fresh, old) ? old : unmarked(fresh)
        }
    }

    /// Whether two values are the same number in two widths.
    private static func isSameNumber(_ fresh: BSONValue, _ old: BSONValue) -> Bool {
        guard fresh.type != old.type else { return false }
        return isNumber(fresh.type) && isNumber(old.type)
            && BSONOrder.compare(fresh, old) == .equal
    }

    private static func isNumber(_ type: BSONType) -> Bool {
        type == .double || type == .int32 || type == .int64 || type == .decimal128
    }

    private static func merge(_ fresh: BSONArray, onto old: BSONArray) -> BSONArray {
        let old = old.values
        return BSONArray(
            fresh.enumerated().map { index, value in
                guard case .document(let document) = value, marked(document).exact == nil else {
                    guard index < old.count else { return unmarked(value) }
                    return isSameNumber(value, old[index]) ? old[index] : unmarked(value)
                }
                return .document(merge(document, at: index, among: old))
            })
    }

    /// Finds the previous version of a document in an array: the same `_id`, or no known change.
    private static func merge(
        _ fresh: BSONDocument, at index: Int, among old: [BSONValue]
    ) -> BSONDocument {
        let plain = unmarked(fresh)
        let sameIndex = index < old.count ? [old[index]] : []
        if let id = plain["_id"] {
            for case .document(let candidate) in old {
                guard let other = candidate["_id"], BSONOrder.compare(id, other) == .equal else {
                    continue
                }
                return merge(fresh, onto: candidate)
            }
            return plain
        }
        for case .document(let candidate) in sameIndex + old {
            let merged = merge(fresh, onto: candidate)
            if merged == candidate { return candidate }
        }
        return plain
    }

    private static func unmarked(_ value: BSONValue) -> BSONValue {
        switch value {
        case .document(let document): marked(document).exact ?? .document(unmarked(document))
        case .array(let array): .array(BSONArray(array.map { unmarked($0) }))
        case .double, .string, .binary, .undefined, .objectID, .bool, .datetime, .null,
            .regularExpression, .dbPointer, .javascript, .symbol, .javascriptWithScope, .int32,
            .timestamp, .int64, .decimal128, .minKey, .maxKey:
            value
        }
    }

    private static func unmarked(_ document: BSONDocument) -> BSONDocument {
        let elements = marked(document)
        var result = BSONDocument()
        for key in elements.order {
            if let value = elements.fields[key] ?? nil { result.append(key, unmarked(value)) }
        }
        return result
    }

    private struct Marked {
        var order: [String] = []
        var fields: [Name: BSONValue?] = [:]
        var isWhole = false
        /// The single value of a document that carries an exact value.
        var exact: BSONValue?
    }

    /// Splits a document into its values and its marks.
    private static func marked(_ document: BSONDocument) -> Marked {
        document.withUnsafeBytes { bytes in
            var result = Marked()
            var cursor = BSONCursor(bytes)
            while let element = cursor.next() {
                if element.value.typeByte == wholeByte {
                    result.isWhole = true
                    continue
                }
                if element.value.typeByte == exactByte {
                    result.exact = cursor.next().map { BSONValue(copying: $0.value) }
                    return result
                }
                let key = String(validUTF8: element.key)
                let isOmitted = element.value.typeByte == omittedByte
                if result.fields[key] == nil { result.order.append(key) }
                result.fields[key] = isOmitted ? .some(nil) : BSONValue(copying: element.value)
            }
            return result
        }
    }
}

/// A collection of keyed data, which has no unknown fields.
protocol BSONKeyedCollection {}

extension Dictionary: BSONKeyedCollection {}
