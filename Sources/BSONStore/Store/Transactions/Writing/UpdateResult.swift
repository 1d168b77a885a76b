/// The counts of an update and, on request, the documents before and after it.
public struct UpdateResult: Sendable, Hashable {
    /// How many documents matched the filter.
    public internal(set) var matchedCount = 0
    /// How many of them were changed.
    public internal(set) var modifiedCount = 0
    /// The `_id` of the document that was inserted because none matched.
    public internal(set) var upsertedID: BSONValue?
    /// The changed or inserted documents, before and after; empty unless requested.
    public private(set) var images: [DocumentImages] = []
    /// The last document that matched but did not change.
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
