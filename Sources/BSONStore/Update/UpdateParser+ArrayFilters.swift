extension UpdateParser {
    /// Reads array filters by the name that their keys begin with.
    static func parse(
        arrayFilters: [BSONDocument]
    ) throws(StoreError) -> [String: Filter] {
        var filters: [String: Filter] = [:]
        for document in arrayFilters {
            let filter = try Filter(document)
            guard let name = try name(in: filter.predicate) else {
                throw StoreError(
                    .failedToParse,
                    "Cannot use an expression without a top-level field name in arrayFilters")
            }
            guard filters[name] == nil else {
                throw StoreError(
                    .failedToParse,
                    "Found multiple array filters with the same top-level field name \(name)")
            }
            filters[name] = filter
        }
        return filters
    }

    /// Every placeholder needs a filter and every filter a placeholder.
    static func check(
        _ filters: [String: Filter], areUsedBy modifiers: [UpdateModifier]
    ) throws(StoreError) {
        var used: Set<String> = []
        for modifier in modifiers {
            for name in modifier.path.filterNames {
                guard filters[name] != nil else {
                    throw StoreError(
                        .badValue,
                        "No array filter found for identifier '\(name)' in path "
                            + "'\(modifier.path)'")
                }
                used.insert(name)
            }
        }
        for name in filters.keys.sorted() where !used.contains(name) {
            throw StoreError(
                .failedToParse,
                "The array filter for identifier '\(name)' was not used in the update")
        }
    }

    private static func name(in predicate: Predicate) throws(StoreError) -> String? {
        switch predicate {
        case .field(let path, _): return path.parts.first
        case .special: return nil
        case .not(let part): return try name(in: part)
        case .all(let parts), .any(let parts):
            var found: String?
            for part in parts {
                let name = try name(in: part)
                guard found == nil || name == nil || name == found else {
                    throw StoreError(
                        .failedToParse,
                        "Error parsing array filter :: caused by :: Expected a single top-level "
                            + "field name, found '\(found ?? "")' and '\(name ?? "")'")
                }
                found = found ?? name
            }
            return found
        }
    }
}

/// Reads the operand of `$push`.
enum PushParser {
    /// A value, or a document of modifiers around `$each`.
    static func parse(_ operand: BSONValue) throws(StoreError) -> UpdateOperation.Push {
        guard let document = operand.documentValue, let each = document["$each"] else {
            return UpdateOperation.Push(values: [operand])
        }
        guard let array = each.arrayValue else {
            throw StoreError(
                .badValue,
                "The argument to $each in $push must be an array but it was of type: "
                    + "\(each.type.alias)")
        }
        var push = UpdateOperation.Push(values: array.values)
        for (key, value) in document {
            switch key {
            case "$each": continue
            case "$slice": push.slice = try integer("$slice", value)
            case "$position": push.position = try integer("$position", value)
            case "$sort": push.sort = try sort(value)
            default:
                throw StoreError(.badValue, "Unrecognized clause in $push: \(key)")
            }
        }
        return push
    }

    private static func integer(
        _ key: String, _ value: BSONValue
    ) throws(StoreError) -> Int {
        guard let number = value.wholeNumber, let number = Int(exactly: number) else {
            throw StoreError(
                .badValue,
                "The value for \(key) must be an integer value but was given type: "
                    + "\(value.type.alias)")
        }
        return number
    }

    private static func sort(_ value: BSONValue) throws(StoreError) -> SortOrder {
        let invalid = StoreError(
            .badValue,
            "The $sort is invalid: use 1/-1 to sort the whole element, or {field:1/-1} to sort "
                + "embedded fields")
        if let document = value.documentValue {
            guard !document.isEmpty else { throw invalid }
            return try SortOrder(document)
        }
        switch value.wholeNumber {
        case 1: return SortOrder(keys: [SortOrder.Key(path: .itself, isDescending: false)])
        case -1: return SortOrder(keys: [SortOrder.Key(path: .itself, isDescending: true)])
        default: throw invalid
        }
    }
}

extension BSONType {
    /// The name that MongoDB gives the type in `$type` and in errors.
    var alias: String {
        switch self {
        case .double: "double"
        case .string: "string"
        case .document: "object"
        case .array: "array"
        case .binary: "binData"
        case .undefined: "undefined"
        case .objectID: "objectId"
        case .bool: "bool"
        case .datetime: "date"
        case .null: "null"
        case .regularExpression: "regex"
        case .dbPointer: "dbPointer"
        case .javascript: "javascript"
        case .symbol: "symbol"
        case .javascriptWithScope: "javascriptWithScope"
        case .int32: "int"
        case .timestamp: "timestamp"
        case .int64: "long"
        case .decimal128: "decimal"
        case .minKey: "minKey"
        case .maxKey: "maxKey"
        }
    }
}
