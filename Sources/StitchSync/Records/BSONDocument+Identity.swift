package import BSONStore

/// The fields by which a remote tells documents and their versions apart.
extension BSONDocument {
    /// The document without its version field.
    package var withoutVersion: BSONDocument { parted(from: DocumentVersion.fieldName).rest }

    /// The document's `_id`; null when it has none.
    var documentID: BSONValue { self["_id"] ?? .null }

    /// Returns the document with an `_id`: its own, or this one in front where it has none.
    func withID(_ id: BSONValue) -> BSONDocument {
        guard self["_id"] == nil else { return self }
        var document: BSONDocument = ["_id": id]
        for (key, value) in self { document.append(key, value) }
        return document
    }

    /// Returns the document with an `_id` that replaces an equal one of another number type.
    func withSameID(as id: BSONValue) -> BSONDocument {
        guard let own = self["_id"], own != id, own.isSameID(as: id) else { return self }
        var document = self
        document.set("_id", to: id)
        return document
    }

    /// Returns the document with an `_id`: its own, or this one in front where it has none.
    ///
    /// - Throws: `StoreError` of code 66 when the document has another `_id`.
    func identified(_ id: BSONValue) throws(StoreError) -> BSONDocument {
        if let own = self["_id"], !own.isSameID(as: id) {
            throw StoreError(.immutableField, "the document has _id \(own), not \(id)")
        }
        return withID(id)
    }
}

extension BSONValue {
    /// Returns whether two `_id`s are equal, even with different number types.
    func isSameID(as other: BSONValue) -> Bool {
        self == other || BSONKey.encode(self) == BSONKey.encode(other)
    }
}
