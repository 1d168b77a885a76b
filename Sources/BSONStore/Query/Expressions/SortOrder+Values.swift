extension SortOrder {
    /// Returns the value of each key by which a document sorts, as `$meta` shows it.
    ///
    /// Keys that lead through the same array choose their values by themselves.
    func values(of document: BSONDocument, metadata: [String: BSONValue]) -> BSONArray {
        let values = document.withUnsafeBytes { bytes in
            keys.map { (key: Key) -> BSONValue in
                if let name = key.metadata { return metadata[name] ?? .null }
                var best: BSONValue?
                PathTraversal.visit(
                    key.path.parts[...], document: bytes, keepsElements: true
                ) { found in
                    let value = found.map { BSONValue(copying: $0) } ?? .null
                    if best.map({ isBefore(value, $0, key) }) ?? true { best = value }
                }
                return best ?? .null
            }
        }
        return BSONArray(values)
    }

    private func isBefore(_ left: BSONValue, _ right: BSONValue, _ key: Key) -> Bool {
        let order = BSONOrder.compare(
            collation?.key(left) ?? left, collation?.key(right) ?? right)
        return order == (key.isDescending ? .greater : .less)
    }
}
