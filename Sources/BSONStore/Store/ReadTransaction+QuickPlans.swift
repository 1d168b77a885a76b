extension ReadTransaction {
    /// Plans as ``plan(_:_:_:_:)`` does; at once where a filter asks for one value of a field that
    /// one index alone can look up.
    func quickPlan(
        _ namespace: Namespace, _ filter: Filter, _ sort: SortOrder?, _ options: FindOptions
    ) throws(StoreError) -> QueryPlan {
        if sort == nil, options.hint == nil, options.min.isEmpty, options.max.isEmpty,
            filter.collation == nil, case .field(let path, .compare(.equal, let value)) =
                filter.predicate,
            let key = Self.plainKey(of: value), let name = path.parts.first, name != "_id"
        {
            let name = path.parts.count == 1 ? name : path.description
            let found = try onTable(namespace) { (table) throws(StoreError) -> StoredIndex? in
                guard table.isPlain else { return nil }
                return Self.sole(
                    name, try connection.indexCache.indexes(of: table.id, connection))
            }
            if let index = found ?? nil, !path.holdsNumber {
                return QueryPlan(access: .index(IndexScan(index, equal: key)), isSorted: true)
            }
        }
        return try plan(namespace, filter, sort, options)
    }

    /// The index that begins with a field and has one key for each document, where no other index
    /// could help.
    private static func sole(_ name: String, _ indexes: [StoredIndex]) -> StoredIndex? {
        var sole: StoredIndex?
        for index in indexes {
            let definition = index.definition
            guard index.wildcard == nil else { return nil }
            guard !definition.isHidden, let key = definition.keys.first, key.path == name else {
                continue
            }
            guard sole == nil, key.kind == .ascending, definition.isFiled, !index.isMultikey,
                index.filter == nil, index.collation == nil
            else { return nil }
            sole = index
        }
        return sole
    }

    /// The key of a value that equals exactly what has the same key; `nil` for other values.
    private static func plainKey(of value: BSONValue) -> [UInt8]? {
        switch value {
        case .double(let number): number.isNaN ? nil : BSONKey.encode(value)
        case .string, .objectID, .bool, .datetime, .int32, .timestamp, .int64:
            BSONKey.encode(value)
        case .document, .array, .binary, .undefined, .null, .regularExpression, .dbPointer,
            .javascript, .symbol, .javascriptWithScope, .decimal128, .minKey, .maxKey:
            nil
        }
    }
}

extension IndexScan {
    /// Reads the documents whose first field has one value, which decides whether they pass.
    init(_ index: StoredIndex, equal key: [UInt8]) {
        let range = Range(lower: key, upper: IndexBounds.successor(key))
        self.init(
            index, groups: [[range]], bounds: [], isReversed: false, isSorted: true, isExact: true)
    }
}
