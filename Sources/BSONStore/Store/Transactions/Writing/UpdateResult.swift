/// The counts of an update and, on request, the documents before and after it.
///
/// ```swift
/// let result = try todos.updateMany(["done": true], ["$unset": ["due": ""]])
/// print(result)  // 3 matched, 2 modified
/// ```
public struct UpdateResult: Sendable {
    /// The number of documents that matched the filter.
    public internal(set) var matchedCount = 0
    /// The number of documents that were changed.
    public internal(set) var modifiedCount = 0
    /// The `_id` of the document that was inserted because none matched.
    public internal(set) var upsertedID: BSONValue?
    /// The changed or inserted documents, before and after; empty unless requested.
    public private(set) var images: [DocumentImages] = []
    /// The last document that matched but did not change.
    package internal(set) var unchanged: BSONDocument?
    private let keepsImages: Bool

    init(keepsImages: Bool) { self.keepsImages = keepsImages }

    /// Makes a result from its parts, such as the one that a test expects.
    ///
    /// ```swift
    /// let one = UpdateResult(matchedCount: 1, modifiedCount: 1)
    /// ```
    public init(
        matchedCount: Int = 0, modifiedCount: Int = 0, upsertedID: BSONValue? = nil,
        images: [DocumentImages] = []
    ) {
        self.init(keepsImages: false)
        self.matchedCount = matchedCount
        self.modifiedCount = modifiedCount
        self.upsertedID = upsertedID
        self.images = images
    }

    mutating func keep(before: BSONDocument?, after: BSONDocument?) {
        if keepsImages { images.append(DocumentImages(before: before, after: after)) }
    }
}

extension UpdateResult: Hashable {
    /// Whether the counts, the upserted `_id` and the images are equal.
    public static func == (left: Self, right: Self) -> Bool {
        left.matchedCount == right.matchedCount && left.modifiedCount == right.modifiedCount
            && left.upsertedID == right.upsertedID && left.images == right.images
    }

    /// Hashes the parts that ``==(_:_:)`` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(matchedCount)
        hasher.combine(modifiedCount)
        hasher.combine(upsertedID)
        hasher.combine(images)
    }
}

extension UpdateResult: CustomStringConvertible {
    /// The counts and the upserted `_id`: `1 matched, 1 modified`.
    public var description: String {
        let upserted = upsertedID.map { ", upserted \($0)" } ?? ""
        return "\(matchedCount) matched, \(modifiedCount) modified\(upserted)"
    }
}
