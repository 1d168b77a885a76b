internal import BSONStore

/// Puts the time in the place of empty timestamps that a client writes.
///
/// Source: MongoDB manual, "Timestamps"; the server's `insert.cpp` and `object_replace_executor.cpp`.
struct EmptyTimestamps {
    private let clock: ClusterClock
    private let isOff: Bool

    init(_ call: CommandCall) {
        clock = call.server.clock
        isOff = call.flag("bypassEmptyTsReplacement")
    }

    /// A whole document with the time in its fields, not in those of documents in it and not as its
    /// `_id`.
    func filled(_ document: BSONDocument) -> BSONDocument {
        // Few documents have the type's byte anywhere, so that their fields need not be read.
        guard !isOff, document.withUnsafeBytes({ $0.contains(Self.type) }),
            document.contains(where: Self.isEmpty)
        else { return document }
        return BSONDocument(
            document.map { field in
                (field.key, Self.isEmpty(field) ? .timestamp(clock.advance()) : field.value)
            })
    }

    /// An update with the time in what takes the place of a document; others stay as they are.
    func filled(update: BSONValue) -> BSONValue {
        guard case .document(let document) = update, document.keys.first?.first != "$" else {
            return update
        }
        return .document(filled(document))
    }

    private static let type: UInt8 = 0x11

    private static func isEmpty(_ field: BSONDocument.Element) -> Bool {
        guard case .timestamp(let time) = field.value, field.key != "_id" else { return false }
        return time.seconds == 0 && time.increment == 0
    }
}
