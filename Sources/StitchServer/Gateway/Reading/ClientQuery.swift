internal import BSONStore

/// A client's query of one collection, which the rules have not limited yet.
struct ClientQuery: Sendable {
    var filter: BSONDocument = [:]
    /// The collation that the client names; `nil` for the collection's own.
    var collation: BSONDocument?
    var variables: BSONDocument?
    var sort: BSONDocument?
    /// The maximum number of documents, in the order of the sort; 0 for no limit.
    var limit = 0

    /// The query for all documents that the user sees.
    static let all = ClientQuery()

    /// The collation that the client names; an empty one names none.
    var namedCollation: BSONDocument? { collation.flatMap { $0.isEmpty ? nil : $0 } }

    /// Whether texts are compared by a collation.
    func isCollated(in definition: UpstreamCollection) -> Bool {
        namedCollation.map { $0["locale"]?.stringValue != "simple" } ?? definition.hasCollation
    }
}

// MARK: - Queries for certain ids

extension ClientQuery {
    /// The ids of the documents that it may match; `nil` if it may match those of other ids.
    var ids: [BSONValue]? {
        guard collation == nil, let condition = filter["_id"] else { return nil }
        switch condition {
        case .regularExpression, .null, .undefined, .array: return nil
        case .document(let document):
            guard let operation = document.keys.first(where: { $0.hasBytePrefix("$") }) else {
                return [condition]
            }
            switch (operation, document[operation]) {
            case ("$eq", let value?): return Self.isPlain(value) ? [value] : nil
            case ("$in", .array(let values)?):
                let all = Array(values)
                return all.allSatisfy(Self.isPlain) && all.count <= 10_000 ? all : nil
            default: return nil
            }
        default: return [condition]
        }
    }

    private static func isPlain(_ value: BSONValue) -> Bool {
        switch value {
        case .regularExpression, .null, .undefined, .array: false
        default: true
        }
    }
}

// MARK: - Queries of the store on which a client's command runs

extension ClientQuery {
    /// Makes the query that a filter of the store stands for.
    ///
    /// - Parameters:
    ///   - first: the documents that are needed; `nil` for all.
    ///   - variables: those that the command gives to its filters; `nil` where a view has its own.
    init(
        _ filter: Filter, first: FirstDocuments?, variables: BSONDocument?,
        in definition: UpstreamCollection
    ) throws {
        let own = try definition.options["collation"]?.documentValue.flatMap {
            (document) throws(StoreError) -> Collation? in try Collation(document).unlessSimple
        }
        if filter.collation != own {
            collation = filter.collation?.document ?? ["locale": "simple"]
        }
        guard !filter.dependsOnDocument(besides: variables) else { return }
        self.filter = filter.document
        if filter.variableCount > 0 { self.variables = variables }
        if let first, first.order.collation == filter.collation, let sort = first.order.document {
            self.sort = sort
            limit = first.count
        }
    }

    /// Returns bytes that are equal for equal queries of one command.
    func key(in namespace: Namespace) -> [UInt8] {
        BSONKey.encode(
            .document([
                "in": .string(namespace.description), "filter": .document(filter),
                "collation": .document(collation ?? [:]), "sort": .document(sort ?? [:]),
                "limit": .int64(Int64(limit)),
            ]))
    }
}

extension Filter {
    /// Whether it may use variables of a stage, which have other values for each document.
    ///
    /// - Parameter variables: those that the command gives to its filters.
    func dependsOnDocument(besides variables: BSONDocument?) -> Bool {
        variableCount > 0 && variableCount != variables?.count
    }
}

extension SortOrder {
    /// The order as a command has it; `nil` for one that documents alone do not tell.
    fileprivate var document: BSONDocument? {
        guard !isNatural, !keys.isEmpty, !needsMetadata else { return nil }
        var document = BSONDocument()
        for key in keys {
            document.append(key.path.parts.joined(separator: "."), key.isDescending ? -1 : 1)
        }
        return document
    }
}
