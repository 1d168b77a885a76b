/// The variables during the evaluation of one expression.
struct ExpressionContext {
    let current: BSONDocument
    let frame: ExpressionFrame
    var values: [BSONValue?]
    let collation: Collation?
    /// The index of the current document.
    var index: IndexedDocument?
    private var searches = 0
    /// The array of which an element was read last.
    private var array: IndexedArray?

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
    /// Returns the value at a path of the current document; `nil` if there is none.
    mutating func value(at path: ExpressionPath) -> BSONValue? {
        if let index { return path.value(in: index) }
        searches += 1
        if searches > IndexedDocument.searchesMax { index = IndexedDocument(current) }
        return path.value(in: current)
    }

    /// Returns the value at a path of `$$ROOT`; `nil` if there is none.
    mutating func rootValue(at path: ExpressionPath) -> BSONValue? {
        // Usually both are the same, and then the same bytes.
        current == frame.root ? value(at: path) : path.value(in: frame.root)
    }

    /// Returns the element of an array at a position, counted from the end if negative; `nil`
    /// outside.
    mutating func element(at position: Int, of array: BSONArray) -> BSONValue? {
        if array.document.byteCount <= IndexedDocument.smallBytesMax {
            return array[position < 0 ? array.count + position : position]
        }
        let index = self.array.flatMap { $0.isOf(array) ? $0 : nil } ?? IndexedArray(array)
        self.array = index
        return index[position]
    }

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
