import BSONStore

/// Collects the dotted paths that a filter, a sort or a pipeline names, to make an index on each.
struct FixtureFields {
    private(set) var paths: Set<String> = []

    /// Adds what a filter names: `{"a": {"$elemMatch": {"b": 1}}}` names a and a.b.
    mutating func add(filter value: BSONValue?, below prefix: String = "") {
        switch value {
        case .document(let document):
            for (key, value) in document {
                if key.hasPrefix("$") {
                    add(filter: value, below: prefix)
                } else {
                    let path = prefix.isEmpty ? key : "\(prefix).\(key)"
                    paths.insert(path)
                    add(filter: value, below: path)
                }
            }
        case .array(let array):
            for member in array { add(filter: member, below: prefix) }
        default: break
        }
    }

    /// Adds what the stages of a pipeline select, sort and join by.
    mutating func add(pipeline value: BSONValue?) {
        switch value {
        case .document(let document):
            for (key, value) in document {
                switch key {
                case "$match", "restrictSearchWithMatch", "query": add(filter: value)
                case "$sort", "sortBy":
                    for name in value.documentValue?.keys ?? [] { paths.insert(name) }
                case "localField", "foreignField", "connectToField", "connectFromField":
                    if let name = value.stringValue { paths.insert(name) }
                default: add(pipeline: value)
                }
            }
        case .array(let array):
            for member in array { add(pipeline: member) }
        default: break
        }
    }
}

/// The indexes that a collection of fixtures has.
enum FixtureIndexes: String, Sendable, CaseIterable {
    /// That of the `_id`.
    case none
    /// One on each field that the case names.
    case fields
    /// One over all fields.
    case wildcard

    /// Makes the indexes; what no index can be made for stays without one.
    func create(
        _ fields: FixtureFields, _ collation: BSONDocument?, on namespace: Namespace,
        _ transaction: WriteTransaction
    ) throws {
        let paths =
            switch self {
            case .none: [] as [String]
            case .fields: fields.paths.sorted()
            case .wildcard: ["$**"]
            }
        for path in paths where path != "_id" {
            var specification: BSONDocument = ["key": [path: 1]]
            if let collation, collation["locale"] != "simple" {
                specification.append("collation", .document(collation))
            }
            do {
                try transaction.createIndex(namespace, try IndexDefinition(specification))
            } catch let error as StoreError {
                // A path with an empty part, a collation that is none, an index too many.
                let expected: Set<Int32> = [2, 9, 14, 67, 85, 86, 161, 40413, 40414, 40415]
                guard expected.contains(error.code.rawValue) else { throw error }
            }
        }
    }
}
