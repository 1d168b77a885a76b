/// Counts what an update did, with the documents before and after.
public struct UpdateResult: Sendable, Hashable {
    /// How many documents passed the filter.
    public internal(set) var matchedCount = 0
    /// How many of them are different now.
    public internal(set) var modifiedCount = 0
    /// The `_id` of the document that was inserted because none passed.
    public internal(set) var upsertedID: BSONValue?
    /// The documents that were changed or inserted, before and after.
    public private(set) var images: [DocumentImages] = []
    /// The last document that passed but stayed as it was.
    package internal(set) var unchanged: BSONDocument?
    private let keepsImages: Bool

    init(keepsImages: Bool = true) { self.keepsImages = keepsImages }

    mutating func keep(before: BSONDocument?, after: BSONDocument?) {
        if keepsImages { images.append(DocumentImages(before: before, after: after)) }
    }
}
