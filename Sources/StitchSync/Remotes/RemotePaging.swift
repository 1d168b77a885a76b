package import BSONStore

/// Cuts what a filter finds into pages by `_id`, over all types that an `_id` can have.
///
/// MongoDB's `$gt` compares within a type only: what is of a later type is asked for by itself.
package enum RemotePaging {
    /// The types in the order in which MongoDB sorts them, those together that it compares.
    private static let types: [[BSONType]] = [
        [.minKey], [.undefined], [.null], [.double, .int32, .int64, .decimal128],
        [.string, .symbol], [.document], [.array], [.binary], [.objectID], [.bool], [.datetime],
        [.timestamp], [.regularExpression], [.dbPointer], [.javascript], [.javascriptWithScope],
        [.maxKey],
    ]

    /// The filters whose results, one after the other, come behind an `_id`; each is to be sorted by
    /// `_id`.
    package static func filters(_ filter: BSONDocument, after last: BSONValue?) -> [BSONDocument] {
        guard let last else { return [filter] }
        let place = types.firstIndex { $0.contains(last.type) } ?? types.count - 1
        let later = types[(place + 1)...].joined()
        // Nothing is greater than NaN, which sorts before all numbers.
        let isNaN =
            switch last {
            case .double(let value): value.isNaN
            case .decimal128(let value): value.kind == .nan
            default: false
            }
        let behind: BSONDocument = isNaN ? ["$gte": .double(-.infinity)] : ["$gt": last]
        let sameType = both(["_id": .document(behind)], filter)
        guard !later.isEmpty else { return [sameType] }
        // The types by MongoDB's numbers, of which minKey's is -1.
        let numbers = BSONArray(later.map { .int32(Int32(Int8(bitPattern: $0.rawValue))) })
        return [sameType, both(["_id": ["$type": .array(numbers)]], filter)]
    }

    private static func both(_ place: BSONDocument, _ filter: BSONDocument) -> BSONDocument {
        ["$and": [.document(place), .document(filter)]]
    }

    /// A page ends once its documents are so many bytes.
    package static let bytesMax = 4 * 1024 * 1024

    /// Gathers a page from what the filters find, which may end what it finds once that is
    /// ``bytesMax``.
    package static func page<E: Error>(
        _ filter: BSONDocument, after last: BSONValue?, limit: Int,
        _ find: (BSONDocument, Int) throws(E) -> [BSONDocument]
    ) throws(E) -> RemotePage {
        var documents: [BSONDocument] = []
        for filter in filters(filter, after: last) {
            documents += try find(filter, limit - documents.count)
            if documents.count >= limit || documents.reduce(0, { $0 + $1.byteCount }) >= bytesMax {
                return RemotePage(documents: documents, isLast: false)
            }
        }
        return RemotePage(documents: documents, isLast: true)
    }
}
