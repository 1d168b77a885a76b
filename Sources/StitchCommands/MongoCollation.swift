internal import BSONStore

/// The collation of what sync asks and writes.
enum MongoCollation {
    /// Compares the bytes of texts, whatever the default collation of the collection.
    ///
    /// Without it a collection that ignores case would find `foo` for the `_id` `FOO`, and a
    /// condition on an old value would hold for another client's edit of its case.
    static let simple: BSONDocument = ["locale": "simple"]
}
