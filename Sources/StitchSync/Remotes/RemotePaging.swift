package import BSONStore

/// The division of a filter's results into pages by `_id`, over all types of an `_id`.
///
/// MongoDB's `$gt` compares values of one type only, so that later types need a filter of their
/// own.
package enum RemotePaging {
    /// The types in MongoDB's sort order; comparable types form a group.
    private static let types: [[BSONType]] = [
        [.minKey], [.undefined], [.null], [.double, .int32, .int64, .decimal128],
        [.string, .symbol], [.document], [.array], [.binary], [.objectID], [.bool], [.datetime],
        [.timestamp], [.regularExpression], [.dbPointer], [.javascript], [.javascriptWithScope],
        [.maxKey],
    ]

    /// Returns the filters whose results, in order and each sorted by `_id`, follow an `_id`.
    package static func filters(_ filter: BSONDocument, after last: BSONValue?) -> [BSONDocument] {
        guard let last else { return [filter] }
        let place = types.firstIndex { $0.contains(last.type) } ?? types.count - 1
        let later = types[(place + 1)...].joined()
        // Nothing is greater than NaN, which sorts before all numbers.
        let behind: BSONDocument = last.isNaN ? ["$gte": .double(-.infinity)] : ["$gt": last]
        let sameType = both(["_id": .document(behind)], filter)
        guard !later.isEmpty else { return [sameType] }
        // MongoDB's type numbers, where minKey is -1.
        let numbers = BSONArray(later.map { .int32(Int32(Int8(bitPattern: $0.rawValue))) })
        return [sameType, both(["_id": ["$type": .array(numbers)]], filter)]
    }

    private static func both(_ place: BSONDocument, _ filter: BSONDocument) -> BSONDocument {
        ["$and": [.document(place), .document(filter)]]
    }

    /// The number of bytes of documents after which a page ends.
    package static let bytesMax = 4 * 1024 * 1024

    /// Reads a page by the filters; a read may end once its documents reach ``bytesMax``.
    package static func page<E: Error>(
        _ filter: BSONDocument, after last: BSONValue?, limit: Int,
        _ find: (BSONDocument, Int) throws(E) -> [BSONDocument]
    ) throws(E) -> RemotePage {
        var documents: [BSONDocument] = []
        for filter in filters(filter, after: last) {
            documents += try find(filter, limit - documents.count)
            if isFull(documents, limit: limit) {
                return RemotePage(documents: documents, isLast: false)
            }
        }
        return RemotePage(documents: documents, isLast: true)
    }

    /// Reads a page by the filters from a server.
    package static func page<E: Error>(
        _ filter: BSONDocument, after last: BSONValue?, limit: Int,
        _ find: (BSONDocument, Int) async throws(E) -> [BSONDocument]
    ) async throws(E) -> RemotePage {
        var documents: [BSONDocument] = []
        for filter in filters(filter, after: last) {
            documents += try await find(filter, limit - documents.count)
            if isFull(documents, limit: limit) {
                return RemotePage(documents: documents, isLast: false)
            }
        }
        return RemotePage(documents: documents, isLast: true)
    }

    private static func isFull(_ documents: [BSONDocument], limit: Int) -> Bool {
        documents.count >= limit || documents.reduce(0) { $0 + $1.byteCount } >= bytesMax
    }
}
