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
