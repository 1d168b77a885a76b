/// Bounds what expressions may make.
enum ExpressionLimits {
    /// Expressions are nested at most so deep, as are the values that they make.
    static let depthMax = 100
    /// Values have at most so many bytes while they are computed; those of a result are less.
    static let bytesMax = 64 * 1024 * 1024
    /// Ranges take at most so many bytes of memory.
    static let memoryBytesMax = 100 * 1024 * 1024

    /// The array of values.
    ///
    /// - Throws: 10334 for more than ``bytesMax``.
    static func array(_ values: [BSONValue]) throws(StoreError) -> BSONValue {
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
    static func check(_ count: Int) throws(StoreError) {
        guard count <= bytesMax else { throw tooLarge(count) }
    }

    /// Passes a value on that has a size it may have.
    ///
    /// - Throws: 10334 for more than ``bytesMax``.
    static func checked(_ value: BSONValue) throws(StoreError) -> BSONValue {
        try check(BSONWriter.count(value))
        return value
    }

    /// The error for a value of too many bytes.
    static func tooLarge(_ count: Int) -> StoreError {
        let hex = String(count, radix: 16, uppercase: true)
        return StoreError(
            .documentTooLarge,
            "BSONObj size: \(count) (0x\(hex)) is invalid. Size must be between 0 and "
                + "16793600(16MB)")
    }

    /// Whether containers are nested deeper in a value than values may be.
    static func isTooDeep(_ value: BSONValue, limit: Int = depthMax) -> Bool {
        switch value {
        case .document(let document):
            limit == 0 || document.contains { isTooDeep($0.value, limit: limit - 1) }
        case .array(let array):
            limit == 0 || array.contains { isTooDeep($0, limit: limit - 1) }
        default: false
        }
    }

    /// The error for a value or an expression that is nested too deeply.
    static var tooDeep: StoreError {
        StoreError(
            .overflow,
            "BSONObj exceeded maximum nested object depth: \(depthMax)")
    }
}
