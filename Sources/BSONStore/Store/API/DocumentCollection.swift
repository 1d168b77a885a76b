/// A handle for reading and writing one collection; each call is a transaction of its own.
///
/// ```swift
/// let people = store.collection(Namespace("app", "people"))
/// try people.insertOne(["_id": 1, "name": "Ada"])
/// try people.updateOne(["_id": 1], ["$set": ["age": 36]])
/// let adults = try people.find(["age": ["$gte": 18]])
/// ```
///
/// The handle is a value that holds the store and the collection's name. The first insert creates
/// the collection; until then it reads as empty. To combine several calls in one transaction, use
/// `DocumentStore/write(_:)`.
///
/// The methods have the names and meanings of MongoDB's drivers. They read (`find`, `findOne`,
/// `forEach`, `count`, `distinct`), write (`insertOne` to `deleteMany`), find and change one
/// document (`findOneAndUpdate`, `findOneAndReplace`, `findOneAndDelete`), perform several writes
/// (`bulkWrite`) and observe (`observe`).
///
/// ## When a write of several documents is refused
///
/// The store may refuse one document of several, for example because of a unique index. What
/// remains of the call then differs, as in MongoDB:
///
/// - `insertMany(_:ordered:)`: the refused document is not added. The call
///   stops, or adds the rest if it is not `ordered`, and then throws the refusal. The error's
///   `writes` lists the added and the refused documents.
/// - `updateMany(_:_:upsert:arrayFilters:)`: the refused document is not
///   changed. The call stops and throws the refusal; documents changed before stay changed. The
///   error's `writes` counts them.
/// - `bulkWrite(_:ordered:)`: the refused write, which may be of many documents,
///   changes none of them. The call stops, or performs the other writes if it is not `ordered`, and
///   returns the refusals in its result.
///
/// Every other call changes nothing when it throws. That also holds for these three when the file
/// cannot be written.
public struct DocumentCollection: Sendable {
    /// The store that the collection is in.
    public let store: DocumentStore
    /// The collection's name.
    public let namespace: Namespace
}
