/// A document that may be stored: a valid `_id` is its first field, and its size is within the
/// limit.
struct StorableDocument {
    /// The largest size of a document in bytes.
    static let bytesMax = BSONLimits().documentBytesMax
    /// The largest size of an id of a clustered collection in bytes.
    private static let clusteredIDBytesMax = 8 * 1024 * 1024

    let document: BSONDocument
    let id: BSONValue
    /// The order-preserving key of the id.
    let key: [UInt8]

    /// Checks a document and moves its `_id` to the front; adds one if missing.
    init(_ document: BSONDocument, in namespace: Namespace) throws(StoreError) {
        if let id = Self.leadingID(of: document) {
            self.document = document
            self.id = id
        } else {
            self.document = try Self.withIDInFront(document)
            self.id = self.document["_id"] ?? .null
        }
        try Self.check(id, in: namespace)
        key = BSONKey.encode(id)
        try Self.check(self.document, id, in: namespace)
    }

    /// The error of a clustered collection for a duplicate id that MongoDB cannot read from its
    /// key; `nil` for all other ids.
    ///
    /// Source: functional-tests, clustered_collections/test_clustered_collections_id_constraints.py
    private var unreadableID: StoreError? {
        let text = "E11000 duplicate key: \(ShellText.text(of: id))"
        if id.isNaN { return .location(50_819, text) }
        let isInfinite =
            switch id {
            case .double(let value): value.isInfinite
            case .decimal128(let value): value.kind == .infinite
            default: false
            }
        return isInfinite ? .location(50_826, text) : nil
    }

    static func leadingID(of document: BSONDocument) -> BSONValue? {
        document.withCursor { cursor in
            guard let first = cursor.next(), first.hasKey("_id") else { return nil }
            return BSONValue(copying: first.value)
        }
    }

    private static func withIDInFront(
        _ document: BSONDocument
    ) throws(StoreError) -> BSONDocument {
        var ordered = BSONDocument()
        ordered.append("_id", document["_id"] ?? .objectID(BSONObjectID()))
        for (key, value) in document where key != "_id" { ordered.append(key, value) }
        return ordered
    }

    /// Checks MongoDB's rules for an id.
    ///
    /// Source: the server's `fixDocumentForInsert`.
    static func check(_ id: BSONValue, in namespace: Namespace) throws(StoreError) {
        let refused: String
        switch id {
        case .document(let fields):
            guard let field = fields.first(where: { $0.key.hasBytePrefix("$") }) else { return }
            throw StoreError(
                .dollarPrefixedFieldName,
                "_id fields may not contain '$'-prefixed fields: \(field.key) is not valid for "
                    + "storage.", namespace: namespace)
        case .array: refused = "can't use an array for _id"
        case .undefined: refused = "can't use a undefined for _id"
        case .regularExpression: refused = "can't use a regex for _id"
        default: return
        }
        throw StoreError(.badValue, refused, namespace: namespace)
    }

    /// Checks that the id is small enough to be the key of a clustered collection.
    ///
    /// - Throws: 5894900 for more than 8 MiB, with the bytes that frame the id in a key.
    ///
    /// Source: functional-tests, clustered_collections/test_clustered_collections_id_constraints.py
    func checkClusteredID(in namespace: Namespace) throws(StoreError) {
        let byteCount: Int
        switch id {
        case .string(let text): byteCount = text.utf8.count + 2
        case .binary(let binary): byteCount = binary.bytes.count + 7
        default: return
        }
        guard byteCount > Self.clusteredIDBytesMax else { return }
        var error = StoreError.location(
            5_894_900,
            "RecordId size of \(byteCount) bytes is above the limit of "
                + "\(Self.clusteredIDBytesMax) bytes")
        error.namespace = namespace
        throw error
    }

    /// Checks size and depth of a document before it is written.
    static func check(
        _ document: BSONDocument, _ id: BSONValue, in namespace: Namespace
    ) throws(StoreError) {
        guard document.byteCount <= bytesMax else {
            throw StoreError(
                .documentTooLarge,
                "object to insert too large. size in bytes: \(document.byteCount), max size: "
                    + "\(bytesMax)", namespace: namespace, documentID: id)
        }
        do throws(BSONError) {
            try document.withUnsafeBytes { (bytes) throws(BSONError) in
                try BSONValidator.validate(bytes)
            }
        } catch {
            throw StoreError(
                error.code == .tooDeep ? .overflow : .invalidBSON,
                "The document cannot be stored", namespace: namespace,
                documentID: id, underlying: error)
        }
    }

    /// Returns MongoDB's error for a document whose `_id` exists.
    func duplicateID(in table: CollectionTable, _ cause: StoreError) -> StoreError {
        let namespace = table.namespace
        if table.isClustered, let error = unreadableID { return error }
        var error = StoreError(
            .duplicateKey,
            "E11000 duplicate key error collection: \(namespace) index: _id_ dup key: "
                + "{ _id: \(ShellText.text(of: id)) }",
            namespace: namespace, documentID: id, sqliteCode: cause.sqliteCode)
        error.keyPattern = ["_id": 1]
        error.keyValue = ["_id": id]
        return error
    }
}

extension BSONValue {
    /// Whether a document of a collection can have the value as its `_id`.
    package var isStorableID: Bool {
        do throws(StoreError) {
            try StorableDocument.check(self, in: Namespace("", ""))
            return true
        } catch {
            return false
        }
    }
}

extension BSONDocument {
    /// Returns the document as a collection stores it: with its `_id`, or a new one, in front.
    ///
    /// - Throws: MongoDB's errors for what no collection stores: an invalid `_id`, more than 16 MiB,
    ///   invalid BSON.
    package func storable(in namespace: Namespace) throws(StoreError) -> BSONDocument {
        try StorableDocument(self, in: namespace).document
    }
}
