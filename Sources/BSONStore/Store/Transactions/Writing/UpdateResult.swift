/// The counts of an update and, where the store was asked for them, the documents before and after it.
public struct UpdateResult: Sendable, Hashable {
    /// How many documents matched the filter.
    public internal(set) var matchedCount = 0
    /// How many of them are different now.
    public internal(set) var modifiedCount = 0
    /// The `_id` of the document that was inserted because none passed.
    public internal(set) var upsertedID: BSONValue?
    /// The documents that were changed or inserted, before and after; empty where they are not kept.
    public private(set) var images: [DocumentImages] = []
    /// The last document that passed but stayed as it was.
    package internal(set) var unchanged: BSONDocument?
    private let keepsImages: Bool

    init(keepsImages: Bool = true) { self.keepsImages = keepsImages }

    /// Makes a result of counts, without documents.
    package init(matchedCount: Int, modifiedCount: Int, upsertedID: BSONValue?) {
        self.init(keepsImages: false)
        self.matchedCount = matchedCount
        self.modifiedCount = modifiedCount
        self.upsertedID = upsertedID
    }

    mutating func keep(before: BSONDocument?, after: BSONDocument?) {
        if keepsImages { images.append(DocumentImages(before: before, after: after)) }
    }
}
