/// The values at a path, with arrays unwound as in an index.
enum PathTraversal {
    /// Calls a closure with each value; `nil` for a missing one; undefined for an empty array at
    /// the end.
    ///
    /// - Parameter keepsElements: whether an array that the path names by its position in another
    ///   array counts as a single value, as in a sort.
    static func visit(
        _ parts: ArraySlice<String>, document: UnsafeRawBufferPointer,
        keepsElements: Bool = false, _ body: (BSONRawValue?) -> Void
    ) {
        guard let part = parts.first else { return }
        var cursor = BSONCursor(document)
        while let element = cursor.next() {
            guard part.utf8.elementsEqual(element.key) else { continue }
            return visit(
                parts.dropFirst(), value: element.value, keepsElements: keepsElements, body)
        }
        body(nil)
    }

    static func visit(
        _ parts: ArraySlice<String>, value: BSONRawValue, keepsElements: Bool = false,
        _ body: (BSONRawValue?) -> Void
    ) {
        switch value.type {
        case .document where !parts.isEmpty:
            visit(parts, document: value.bytes, keepsElements: keepsElements, body)
        case .array: visit(parts, array: value, keepsElements: keepsElements, body)
        default: body(parts.isEmpty ? value : nil)
        }
    }

    private static func visit(
        _ parts: ArraySlice<String>, array: BSONRawValue, keepsElements: Bool,
        _ body: (BSONRawValue?) -> Void
    ) {
        var cursor = BSONCursor(array)
        guard let part = parts.first else {
            var isEmpty = true
            while let element = cursor.next() {
                _ = WorkBudget.isOver()
                isEmpty = false
                body(element.value)
            }
            if isEmpty {
                let undefined = BSONType.undefined.rawValue
                body(BSONRawValue(typeByte: undefined, start: array.start, count: 0))
            }
            return
        }
        if let index = FieldPath.index(part) {
            var copy = cursor
            if let value = copy.skip(to: index) {
                let rest = parts.dropFirst()
                if keepsElements, rest.isEmpty { return body(value) }
                return visit(rest, value: value, keepsElements: keepsElements, body)
            }
        }
        var isEmpty = true
        while let element = cursor.next() {
            _ = WorkBudget.isOver()
            isEmpty = false
            if element.value.typeByte == BSONType.document.rawValue {
                visit(
                    parts, document: element.value.bytes, keepsElements: keepsElements, body)
            } else {
                body(nil)
            }
        }
        if isEmpty { body(nil) }
    }
}
