/// The merged documents; the fields of later ones win.
final class MergeObjectsState: AccumulatorState {
    private var merged = EditedDocument()

    override func add(_ value: BSONValue?, _: BSONDocument) throws(StoreError) -> Int {
        guard let value, !value.isNullish else { return 0 }
        guard case .document(let document) = value else {
            throw .location(
                40400,
                "$mergeObjects requires object inputs, but input \(ExpressionText.text(of: value)) "
                    + "is of type \(value.type.alias)")
        }
        let before = merged.byteCount
        for (key, value) in document {
            try WorkBudget.spend()
            merged.set(key, to: value)
        }
        return merged.byteCount - before
    }

    override func result() -> BSONValue? { .document(merged.finished()) }
}
