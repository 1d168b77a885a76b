/// A place with buckets of files: a store, or a server to which commands are sent.
package protocol AttachmentSweepPlace {
    /// Returns the first documents that match, without the content of chunks.
    func find(
        _ namespace: Namespace, _ filter: BSONDocument, sort: BSONDocument, limit: Int
    ) throws -> [BSONDocument]

    /// Changes the first document that matches.
    func update(_ namespace: Namespace, _ filter: BSONDocument, _ update: BSONDocument) throws

    /// Removes all documents that match, and returns their number.
    func remove(_ namespace: Namespace, _ filter: BSONDocument) throws -> Int
}

/// The removal of files to which no document refers, in a bucket.
///
/// A file without a reference is marked with `metadata.orphanSince`. A later run removes it when the
/// mark is older than a grace, since a device may have sent the file before the document. A file that
/// is referred to again loses the mark. Files without a place in `metadata` belong to other programs and
/// stay. Chunks without a file are those of an upload; they are removed a day after the last one.
///
/// Each step is small, and may be repeated: several gateways may run at the same time.
package struct AttachmentSweep<Place: AttachmentSweepPlace> {
    /// The files and chunks that a run changed.
    package struct Counts: Sendable, Hashable {
        package var marked = 0
        package var unmarked = 0
        package var removedFiles = 0
        package var removedChunks = 0

        package init() {}
    }

    private let place: Place
    private let bucket: AttachmentBucket
    private let now: BSONDatetime
    private let graceMS: Int64

    /// - Parameters:
    ///   - now: the time by which marks are set and compared.
    ///   - graceMS: the time for which a file stays without a reference, in milliseconds.
    package init(
        _ bucket: AttachmentBucket, at place: Place, now: BSONDatetime,
        graceMS: Int64 = AttachmentSweepLimits.graceMS
    ) {
        self.bucket = bucket
        self.place = place
        self.now = now
        self.graceMS = graceMS
    }

    /// Runs once over all files and chunks of the bucket, and adds what it changed to counts.
    package func run(_ counts: inout Counts) throws {
        try forEach(in: bucket.files, "_id") { file in try judge(file, &counts) }
        try forEach(in: bucket.chunks, "files_id") { chunk in
            let file = chunk["files_id"] ?? .null
            guard try place.find(bucket.files, ["_id": file], sort: [:], limit: 1).isEmpty,
                try isAbandoned(file)
            else { return }
            counts.removedChunks += try removeChunks(of: file)
        }
    }

    /// Calls a body with the first document of each value of a field, in their order.
    private func forEach(
        in namespace: Namespace, _ field: String, _ body: (BSONDocument) throws -> Void
    ) throws {
        var filter = BSONDocument()
        while let found = try place.find(namespace, filter, sort: [field: 1], limit: 1).first {
            guard case .objectID(let id)? = found[field] else {
                // Only drivers' files have other ids; all of them come before or after.
                guard filter.isEmpty else { return }
                filter = [field: ["$gte": .objectID(BSONObjectID(bigEndianHigh: 0, low: 0))]]
                continue
            }
            try body(found)
            filter = [field: ["$gt": .objectID(id)]]
        }
    }

    private func judge(_ file: BSONDocument, _ counts: inout Counts) throws {
        guard case .objectID(let id)? = file["_id"], let metadata = file["metadata"]?.documentValue,
            let collection = metadata["collection"]?.stringValue,
            let documentID = metadata["document"]
        else { return }
        let document = try place.find(
            Namespace(bucket.database, collection), ["_id": ["$eq": documentID]], sort: [:],
            limit: 1
        ).first
        let isReferred = document.map { Attachment.all(in: $0).contains { $0.id == id } } ?? false
        let mark = "metadata.orphanSince"
        let own: BSONDocument = ["_id": .objectID(id)]
        guard let since = metadata["orphanSince"] else {
            guard !isReferred else { return }
            try place.update(bucket.files, own, ["$set": [mark: .datetime(now)]])
            counts.marked += 1
            return
        }
        if isReferred {
            try place.update(bucket.files, own, ["$unset": [mark: 1]])
            counts.unmarked += 1
        } else if case .datetime(let time) = since,
            time.milliseconds <= now.milliseconds - graceMS
        {
            // Another gateway may have found a reference meanwhile.
            let marked: BSONDocument = ["_id": .objectID(id), mark: since]
            guard try place.remove(bucket.files, marked) > 0 else { return }
            counts.removedFiles += 1
            counts.removedChunks += try removeChunks(of: .objectID(id))
        }
    }

    /// Whether no chunk was added for a day.
    private func isAbandoned(_ file: BSONValue) throws -> Bool {
        let last = try place.find(bucket.chunks, ["files_id": file], sort: ["n": -1], limit: 1)
        guard case .objectID(let id)? = last.first?["_id"] else { return false }
        return Int64(id.timestampSeconds) * 1_000
            <= now.milliseconds - AttachmentSweepLimits.uploadMS
    }

    private func removeChunks(of file: BSONValue) throws -> Int {
        var count = 0
        while true {
            let ids = try place.find(
                bucket.chunks, ["files_id": file], sort: ["n": 1],
                limit: AttachmentSweepLimits.chunksAtOnce
            ).compactMap { $0["_id"] }
            guard !ids.isEmpty else { return count }
            count += try place.remove(
                bucket.chunks, ["_id": ["$in": .array(BSONArray(ids))]])
        }
    }
}

/// The limits of the removal of files.
package enum AttachmentSweepLimits {
    /// The time for which a file stays without a reference: an hour, in milliseconds.
    package static let graceMS: Int64 = 3_600_000
    /// The time for which the chunks of an upload stay: a day, in milliseconds.
    package static let uploadMS: Int64 = 86_400_000
    /// The number of chunks that are removed in one transaction.
    package static let chunksAtOnce = 64
}

/// A store as a place with buckets of files; each change is a transaction of its own.
package struct StoredAttachments: AttachmentSweepPlace {
    private let store: DocumentStore

    package init(_ store: DocumentStore) { self.store = store }

    /// Runs once over all buckets of the store.
    package func sweep(
        now: BSONDatetime, graceMS: Int64 = AttachmentSweepLimits.graceMS
    ) throws -> AttachmentSweep<Self>.Counts {
        let databases = try store.read { try $0.collections() }
            .filter(AttachmentBucket.holds).map(\.database)
        var counts = AttachmentSweep<Self>.Counts()
        for name in Set(names: databases) {
            let bucket = AttachmentBucket(database: name.text)
            try AttachmentSweep(bucket, at: self, now: now, graceMS: graceMS).run(&counts)
        }
        return counts
    }

    package func find(
        _ namespace: Namespace, _ filter: BSONDocument, sort: BSONDocument, limit: Int
    ) throws -> [BSONDocument] {
        let order = sort.isEmpty ? nil : try SortOrder(sort)
        return try store.read {
            try $0.find(
                namespace, filter: Filter(filter),
                options: FindOptions(sort: order, limit: limit))
        }
    }

    package func update(
        _ namespace: Namespace, _ filter: BSONDocument, _ update: BSONDocument
    ) throws {
        _ = try store.write {
            try $0.updateOne(namespace, filter: Filter(filter), update: Update(update))
        }
    }

    package func remove(_ namespace: Namespace, _ filter: BSONDocument) throws -> Int {
        try store.write { try $0.deleteMany(namespace, filter: Filter(filter)) }
    }
}
