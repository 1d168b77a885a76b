/// Bounds on the values that expressions compute.
package enum ExpressionLimits {
    /// The maximum depth of expressions, and of the values that they compute.
    package static let depthMax = 100
    /// The maximum size of an intermediate value in bytes; results have a smaller limit.
    package static let bytesMax = 64 * 1024 * 1024
    /// The maximum size of a document in a pipeline's result in bytes.
    package static let resultBytesMax = 16 * 1024 * 1024 + 16 * 1024
    /// The maximum memory of a range in bytes.
    static let memoryBytesMax = 100 * 1024 * 1024

    /// The length in bytes that each text stays below.
    static let textBytesMax = 16 * 1024 * 1024

    /// Checks the length of a text in bytes.
    ///
    /// - Throws: 16493 for ``textBytesMax`` or more.
    static func checkText(_ count: Int) throws(StoreError) {
        guard count < textBytesMax else {
            throw .location(16493, "Tried to create string longer than 16MB")
        }
    }

    /// Returns the array of values.
    ///
    /// - Throws: 10334 for more than ``bytesMax``.
    package static func array(_ values: [BSONValue]) throws(StoreError) -> BSONValue {
        var count = 5
        for (index, value) in values.enumerated() {
            try WorkBudget.spend()
            count += 2 + BSONWriter.digits(index) + BSONWriter.count(value)
            try check(count)
        }
        return .array(BSONArray(values))
    }

    /// Checks a size.
    ///
    /// - Throws: 10334 for more than ``bytesMax``.
    package static func check(_ count: Int) throws(StoreError) {
        guard count <= bytesMax else { throw tooLarge(count) }
    }

    /// Returns a value after checking its size.
    ///
    /// - Throws: 10334 for more than ``bytesMax``.
    static func checked(_ value: BSONValue) throws(StoreError) -> BSONValue {
        try check(BSONWriter.count(value))
        return value
    }

    /// Returns the error for a value of too many bytes.
    package static func tooLarge(_ count: Int) -> StoreError {
        let hex = String(count, radix: 16, uppercase: true)
        return StoreError(
            .documentTooLarge,
            "BSONObj size: \(count) (0x\(hex)) is invalid. Size must be between 0 and "
                + "16793600(16MB)")
    }

    /// Whether a value is nested deeper than values may be.
    static func isTooDeep(_ value: BSONValue, limit: Int = depthMax) -> Bool {
        switch value {
        case .document(let document): document.withCursor { isTooDeep(&$0, limit: limit) }
        case .array(let array): array.document.withCursor { isTooDeep(&$0, limit: limit) }
        default: false
        }
    }

    private static func isTooDeep(_ cursor: inout BSONCursor, limit: Int) -> Bool {
        guard limit > 0 else { return true }
        while let element = cursor.next() {
            _ = WorkBudget.isOver()
            guard element.value.type == .document || element.value.type == .array else { continue }
            var inner = BSONCursor(element.value)
            if isTooDeep(&inner, limit: limit - 1) { return true }
        }
        return false
    }

    /// The error for a value or an expression that is nested too deeply.
    static var tooDeep: StoreError {
        StoreError(
            .overflow,
            "BSONObj exceeded maximum nested object depth: \(depthMax)")
    }
}
