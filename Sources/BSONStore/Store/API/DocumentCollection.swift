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
/// ## Filters and updates
///
/// A *filter* is a condition in MongoDB's query language; an empty one matches every document. An
/// *update* holds MongoDB's update operators, such as `$set`. `upsert` inserts a document when none
/// matches: the values that the filter requires, with the update applied. `arrayFilters` selects
/// the array elements to change: one filter for each `$[name]` in the update's paths, with
/// conditions on the field `name`. `Docs/QUERIES.md` lists the operators.
///
/// ## Two forms of each write
///
/// Every call that writes has two forms with the same name, parameters, result and errors. Without
/// `await` it commits on the calling thread, which waits for other writers. With `await` it commits
/// on the store's writer thread, together with other waiting calls, and blocks no thread of Swift's
/// pool; in asynchronous code Swift chooses this form.
///
/// ```swift
/// try people.insertOne(["_id": 2])        // in a synchronous function
/// try await people.insertOne(["_id": 2])  // in an asynchronous one
/// ```
///
/// ## Errors
///
/// All calls throw ``StoreError`` with MongoDB's codes and messages: for an invalid argument, for a
/// refused document, and for a file that cannot be read or written. A call that throws has changed
/// nothing, with three exceptions, which may be refused in the middle, as in MongoDB:
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
/// These three change nothing, too, when the file cannot be written.
public struct DocumentCollection: Sendable {
    /// The store that the collection is in.
    public let store: DocumentStore
    /// The collection's name.
    public let namespace: Namespace
}
