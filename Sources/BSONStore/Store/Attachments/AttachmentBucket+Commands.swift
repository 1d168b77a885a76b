// The bucket by MongoDB's commands, for those who send them to another server.
extension AttachmentBucket {
    /// The index by which a file's chunks are found, each once.
    package static let chunksIndex: BSONDocument = [
        "name": "files_id_1_n_1", "key": ["files_id": 1, "n": 1], "unique": true,
    ]
    /// The index by which drivers find files.
    package static let filesIndex: BSONDocument = [
        "name": "filename_1_uploadDate_1", "key": ["filename": 1, "uploadDate": 1],
    ]

    /// The largest number of bytes that a server stores or returns at once.
    package static let pieceSizeMax = chunkSize * chunksPerMessageMax

    /// Whether a collection is one of a bucket, which only the server itself changes under rules.
    package static func holds(_ namespace: Namespace) -> Bool {
        let bucket = AttachmentBucket(database: namespace.database)
        return [bucket.files, bucket.chunks].contains {
            $0.collection.hasSameBytes(as: namespace.collection)
        }
    }

    /// The commands that create the indexes.
    package var indexCommands: [BSONDocument] {
        [(chunks, Self.chunksIndex), (files, Self.filesIndex)].map { namespace, index in
            ["createIndexes": .string(namespace.collection), "indexes": [.document(index)]]
        }
    }

    /// Returns a command that inserts documents.
    ///
    /// - Parameter isOrdered: whether nothing is inserted after a duplicate.
    package static func insertion(
        of documents: [BSONDocument], into namespace: Namespace, isOrdered: Bool
    ) -> BSONDocument {
        [
            "insert": .string(namespace.collection), "ordered": .bool(isOrdered),
            "documents": .array(BSONArray(documents.map { .document($0) })),
        ]
    }

    /// Returns a command that removes documents by their `_id`s.
    package static func removal(of ids: [BSONValue], from namespace: Namespace) -> BSONDocument {
        [
            "delete": .string(namespace.collection),
            "deletes": [["q": ["_id": ["$in": .array(BSONArray(ids))]], "limit": 0]],
        ]
    }

    /// Returns the filter of a file's chunks by their numbers.
    package static func chunksFilter(
        of file: BSONValue, _ numbers: ClosedRange<Int64> = 0...Int64.max
    ) -> BSONDocument {
        [
            "files_id": file,
            "n": ["$gte": .int64(numbers.lowerBound), "$lte": .int64(numbers.upperBound)],
        ]
    }

    /// The fields of the last chunk that tell how much of a file is stored.
    package static let lastChunkFields: BSONDocument = ["n": 1, "place": 1]

    /// Returns the filter of the documents of the files that a place may have; there are two at most.
    package static func filesFilter(of place: AttachmentPlace) -> BSONDocument {
        ["_id": ["$in": .array(BSONArray(AttachmentSpot.ids(of: place)))]]
    }

    /// Returns how much of a file is stored where a file is not completed in one transaction; `nil` if
    /// the chunks are those of another upload.
    ///
    /// If all chunks are there, but not the file's document, the last chunk is expected again.
    ///
    /// - Parameter last: the last chunk, with ``lastChunkFields``; `nil` for none.
    package static func state(
        of place: AttachmentPlace, lastChunk last: BSONDocument?
    ) -> State? {
        guard let last else { return .partial(0) }
        guard isOf(place, last), let number = last["n"]?.int64Value else { return nil }
        let size = Int64(chunkSize)
        let countMax = max(0, place.attachment.length - 1) / size
        return .partial(min(number + 1, countMax) * size)
    }

    /// Returns the first error in a reply to an insertion that is no duplicate key, and whether there
    /// was a duplicate.
    package static func errors(
        in reply: BSONDocument
    ) -> (isDuplicate: Bool, other: BSONDocument?) {
        let errors = (reply["writeErrors"]?.arrayValue ?? []).compactMap(\.documentValue)
        let others = errors.filter { $0["code"]?.int64Value != 11_000 }
        return (
            errors.count > others.count, others.first ?? reply["writeConcernError"]?.documentValue
        )
    }
}
