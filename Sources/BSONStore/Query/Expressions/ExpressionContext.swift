/// The variables during the evaluation of one expression.
struct ExpressionContext {
    let current: BSONDocument
    let frame: ExpressionFrame
    var values: [BSONValue?]
    let collation: Collation?

    init(
        current: BSONDocument, frame: ExpressionFrame, slotCount: Int, collation: Collation?
    ) {
        self.current = current
        self.frame = frame
        self.collation = collation ?? frame.collation
        values = frame.values
        if values.count < slotCount {
            values += repeatElement(nil, count: slotCount - values.count)
        }
    }
}

extension ExpressionContext {
    /// Orders two values, texts by the collation; missing counts as undefined.
    ///
    /// Once the budget is over, all values are equal, so that sorting ends too; the caller throws
    /// then.
    func compare(_ left: BSONValue?, _ right: BSONValue?) -> BSONOrder {
        if WorkBudget.isOver() { return .equal }
        let (left, right) = (left ?? .undefined, right ?? .undefined)
        return collation?.compare(left, right) ?? BSONOrder.compare(left, right)
    }

    /// Orders two values as ``compare(_:_:)`` does.
    ///
    /// - Throws: 50, 11600, 11601 once the work must end.
    func compareWithinBudget(
        _ left: BSONValue?, _ right: BSONValue?
    ) throws(StoreError) -> BSONOrder {
        let order = compare(left, right)
        try WorkBudget.spend()
        return order
    }
}
