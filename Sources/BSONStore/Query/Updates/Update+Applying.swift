extension Update {
    /// Returns the document after the update, `nil` if nothing changes.
    ///
    /// - Parameter filter: the filter that found the document; it determines the element for `$` in
    ///   a path.
    /// - Throws: `immutableField` (66), `pathNotViable` (28), `typeMismatch` (14), 17419 or
    ///   `documentTooLarge` (10334) for a result of more than 16 MiB, and others with MongoDB's
    ///   text.
    public func apply(
        to document: BSONDocument, matching filter: Filter = .all
    ) throws(StoreError) -> BSONDocument? {
        let after: BSONDocument?
        // The server compares a document with its replacement before it adds the `_id`.
        var isOther = false
        switch kind {
        case .replacement(let replacement):
            after = try Self.replacing(document, by: filled(replacement))
            isOther = writesEqualReplacement && replacement["_id"] == nil
        case .operators(let tree):
            after = try run(tree, on: document, isInsert: false) {
                PositionalOperator.find(in: document, filter)
            }
        case .pipeline(let pipeline):
            let result = try pipeline.apply(to: document)
            after = try Self.replacing(document, by: result, allowsDollars: true)
            isOther = writesEqualReplacement && result["_id"] == nil
        }
        guard let after, isOther || after != document else { return nil }
        guard after.byteCount <= UpdateLimits.commandBytesMax else {
            throw UpdateLimits.tooLarge(after.byteCount)
        }
        guard after.byteCount <= UpdateLimits.bytesMax else {
            throw StoreError(
                .updatedDocumentTooLarge,
                "Resulting document after update is larger than \(UpdateLimits.bytesMax)",
                documentID: document["_id"])
        }
        return after
    }

    /// Checks the filter of an upsert, which as in MongoDB is refused whether or not it finds a
    /// document.
    ///
    /// - Throws: 224 for `$expr` at any level.
    package static func checkUpsert(_ filter: Filter) throws(StoreError) {
        try UpsertEqualities.check(filter.document)
    }

    /// Returns the document that an upsert inserts if the filter finds none.
    ///
    /// A document without an `_id` gets one when it is inserted.
    ///
    /// - Throws: `notSingleValueField` (54), 224 for a filter with `$expr`, 17420 for a document of
    ///   more than 16 MiB, and the errors of ``apply(to:matching:)``.
    public func insertion(for filter: Filter) throws(StoreError) -> BSONDocument {
        try UpsertEqualities.check(filter.document)
        let made: BSONDocument
        switch kind {
        case .replacement(let replacement):
            let start = try UpsertEqualities.document(filter.predicate, onlyID: true)
            made = try Self.replacing(start, by: filled(replacement), isInsert: true)
        case .operators(let tree):
            let start = try UpsertEqualities.document(filter.predicate)
            made = try run(tree, on: start, isInsert: true) { nil } ?? start
        case .pipeline(let pipeline):
            let start = try UpsertEqualities.document(filter.predicate)
            made = try Self.replacing(start, by: try pipeline.apply(to: start), isInsert: true)
        }
        try Self.checkInsertion(made)
        return Self.withIDInFront(made)
    }

    /// Returns a replacement with its empty timestamps set, as MongoDB does.
    private func filled(_ replacement: BSONDocument) -> BSONDocument {
        keepsEmptyTimestamps ? replacement : WallClock.fillingTimestamps(in: replacement)
    }

    private func run(
        _ tree: UpdateTree, on document: BSONDocument, isInsert: Bool,
        _ findPosition: () -> Int?
    ) throws(StoreError) -> BSONDocument? {
        // Searched once, and only if a path needs it.
        let position = tree.isPositional ? findPosition() : nil
        try WorkBudget.check()
        var updating = UpdateApplier(
            document,
            UpdateApplier.Context(
                filters: tree.filters, position: { position }, isInsert: isInsert,
                collation: collation))
        return try updating.run(tree.root)
    }

    /// Replaces a document by another, keeping its `_id`.
    static func replacing(
        _ document: BSONDocument, by replacement: BSONDocument, isInsert: Bool = false,
        allowsDollars: Bool = false
    ) throws(StoreError) -> BSONDocument {
        if !isInsert, !allowsDollars {
            for key in replacement.keys { try checkTopLevel(key) }
        }
        if let id = replacement["_id"] { try checkID(id) }
        guard let id = document["_id"] else { return withIDInFront(replacement) }
        guard let given = replacement["_id"] else {
            return appending(replacement, to: id)
        }
        guard BSONOrder.compare(given, id) == .equal else {
            throw StoreError(
                .immutableField,
                "After applying the update, the (immutable) field '_id' was found to have been "
                    + "altered to _id: \(ShellText.text(of: given))", documentID: id)
        }
        return withIDInFront(replacement)
    }

    /// Checks a top-level key: only those of a DBRef may begin with a dollar.
    ///
    /// - Throws: `dollarPrefixedFieldName` (52).
    static func checkTopLevel(_ key: String) throws(StoreError) {
        guard key.hasBytePrefix("$"), !["$ref", "$id", "$db"].contains(key) else { return }
        throw StoreError(
            .dollarPrefixedFieldName,
            "The dollar ($) prefixed field '\(key)' in '\(key)' is not allowed in the context of an "
                + "update's replacement document. Consider using an aggregation pipeline with "
                + "$replaceWith.")
    }

    /// Checks an `_id` that an update sets.
    ///
    /// - Throws: `invalidIDField` (53), `dollarPrefixedFieldName` (52).
    private static func checkID(_ id: BSONValue) throws(StoreError) {
        switch id {
        case .array, .undefined, .regularExpression:
            throw StoreError(
                .invalidIDField, "The '_id' value cannot be of type \(id.type.alias)")
        case .document(let document):
            guard let key = document.keys.first(where: { $0.hasBytePrefix("$") }) else { return }
            throw StoreError(
                .dollarPrefixedFieldName,
                "_id fields may not contain '$'-prefixed fields: \(key) is not valid for storage.")
        default: return
        }
    }

    private static func checkInsertion(_ document: BSONDocument) throws(StoreError) {
        if let id = document["_id"] { try checkID(id) }
        guard document.byteCount <= UpdateLimits.bytesMax else {
            throw StoreError(
                .upsertedDocumentTooLarge,
                "Document to upsert is larger than \(UpdateLimits.bytesMax)")
        }
    }

    /// Returns the document with its `_id`, if it has one, as the first field.
    private static func withIDInFront(_ document: BSONDocument) -> BSONDocument {
        guard let first = document.firstElement, first.key != "_id", let id = document["_id"] else {
            return document
        }
        return appending(document, to: id)
    }

    /// Returns a document of an `_id` and the fields of another document, except its `_id`.
    private static func appending(_ document: BSONDocument, to id: BSONValue) -> BSONDocument {
        let start: BSONDocument = ["_id": id]
        var builder = BSONDocumentBuilder(reservingBytes: start.byteCount + document.byteCount)
        start.withCursor { cursor in
            while let element = cursor.next() { builder.append(element) }
        }
        document.withCursor { cursor in
            while let element = cursor.next() {
                if !"_id".utf8.elementsEqual(element.key) { builder.append(element) }
            }
        }
        return builder.finish()
    }
}
