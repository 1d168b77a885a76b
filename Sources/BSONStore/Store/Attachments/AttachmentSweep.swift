/// A place with buckets of files: a store, or a server to which commands are sent.
package protocol AttachmentSweepPlace {
    /// The time for which the id of a removed file is kept from uploads, in milliseconds: an upload may
    /// have read the chunks before they were removed, and store the file's document afterwards.
    static var quarantineMS: Int64 { get }

    /// Returns the first documents that match, without the content of chunks.
    func find(
        _ namespace: Namespace, _ filter: BSONDocument, sort: BSONDocument, limit: Int
    ) throws -> [BSONDocument]

    /// Inserts a document, unless there is one with its `_id`; returns whether it did.
    func insert(_ namespace: Namespace, _ document: BSONDocument) throws -> Bool

    /// Changes the first document that matches, and returns whether there was one.
    func update(
        _ namespace: Namespace, _ filter: BSONDocument, _ update: BSONDocument
    ) throws -> Bool

    /// Removes all documents that match.
    func remove(_ namespace: Namespace, _ filter: BSONDocument) throws

    /// Removes some chunks of a file that is being removed, and returns their number.
    ///
    /// - Parameter removal: the filter of the file's document while it is being removed. A place that
    ///   keeps no quarantine removes nothing without it, in the same transaction.
    func removeChunks(
        of file: BSONValue, in bucket: AttachmentBucket, during removal: BSONDocument
    ) throws -> Int
}

/// The removal of files to which no document refers, in a bucket.
///
/// A file without a reference is marked with `metadata.orphanSince`. A later run removes it when the
/// mark is older than a grace, since a device may have sent the file before the document. A file that
/// is referred to again loses the mark. Files without a place in `metadata` belong to other programs and
/// stay. Chunks without a file are those of an upload; they are removed a day after the last one.
///
/// A removal first claims the file's `_id` by `metadata.claimedAt`, and decides again: from the claim on
/// no upload continues or completes the file, and no device learns that the remote has it, so that
/// nothing can change the decision. Then an empty document with `metadata.removedAt` replaces the
/// file's, the chunks are removed, and at last that document.
///
/// Each step is small, conditional on the step before, and may be repeated: several gateways may run at
/// the same time, and a later run finishes what an earlier one began.
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
                try isAbandoned(file),
                try place.insert(bucket.files, claim(of: file))
            else { return }
            try decideChunks(of: file, claimedAt: now, &counts)
        }
    }

    /// Calls a body with the first document of each value of a field, in their order.
    private func forEach(
        in namespace: Namespace, _ field: String, _ body: (BSONDocument) throws -> Void
    ) throws {
        // Only drivers' files have ids of other types.
        let least: [BSONValue] = [
            .binary(BSONBinary([])), .objectID(BSONObjectID(bigEndianHigh: 0, low: 0)),
        ]
        for first in least {
            var filter: BSONDocument = [field: ["$gte": first]]
            while let found = try place.find(namespace, filter, sort: [field: 1], limit: 1).first,
                let id = found[field], id.type == first.type
            {
                if AttachmentSpot.isID(id) { try body(found) }
                filter = [field: ["$gt": id]]
            }
        }
    }

    private func judge(_ file: BSONDocument, _ counts: inout Counts) throws {
        guard let id = file["_id"], let metadata = file["metadata"]?.documentValue else { return }
        if case .datetime(let time)? = metadata["removedAt"] {
            return try finish(id, removedAt: time, &counts)
        }
        if case .datetime(let time)? = metadata["claimedAt"] {
            // The run that set a younger claim may still be at work.
            guard isOver(Place.quarantineMS, since: time) else { return }
            guard metadata["collection"] != nil else {
                return try decideChunks(of: id, claimedAt: time, &counts)
            }
            return try decideFile(file, claimedAt: time, &counts)
        }
        guard let isReferred = try isReferred(file) else { return }
        guard let since = metadata["orphanSince"] else {
            guard !isReferred else { return }
            let own: BSONDocument = ["_id": id, Self.claimedAt: ["$exists": false]]
            if try place.update(bucket.files, own, ["$set": [Self.mark: .datetime(now)]]) {
                counts.marked += 1
            }
            return
        }
        // Another gateway may have changed the file meanwhile.
        let marked: BSONDocument = [
            "_id": id, Self.mark: since, Self.claimedAt: ["$exists": false],
        ]
        if isReferred {
            if try place.update(bucket.files, marked, ["$unset": [Self.mark: 1]]) {
                counts.unmarked += 1
            }
        } else if case .datetime(let time) = since, isOver(graceMS, since: time),
            try place.update(bucket.files, marked, ["$set": [Self.claimedAt: .datetime(now)]])
        {
            try decideFile(file, claimedAt: now, &counts)
        }
    }

    // MARK: - Removing

    /// Removes a claimed file, unless a document has come to refer to it.
    private func decideFile(
        _ file: BSONDocument, claimedAt time: BSONDatetime, _ counts: inout Counts
    ) throws {
        let id = file["_id"] ?? .null
        let claimed: BSONDocument = ["_id": id, Self.claimedAt: .datetime(time)]
        if try isReferred(file) ?? true {
            let restored: BSONDocument = ["$unset": [Self.claimedAt: 1, Self.mark: 1]]
            if try place.update(bucket.files, claimed, restored) { counts.unmarked += 1 }
        } else if try place.update(bucket.files, claimed, removing) {
            counts.removedFiles += 1
            try finish(id, removedAt: now, &counts)
        }
    }

    /// Removes the chunks of a claimed upload, unless one was added.
    private func decideChunks(
        of file: BSONValue, claimedAt time: BSONDatetime, _ counts: inout Counts
    ) throws {
        let claimed: BSONDocument = ["_id": file, Self.claimedAt: .datetime(time)]
        if try isAbandoned(file) {
            guard try place.update(bucket.files, claimed, removing) else { return }
            try finish(file, removedAt: now, &counts)
        } else {
            try place.remove(bucket.files, claimed)
        }
    }

    /// Removes the chunks of a removed file, and its `_id` once no upload can be under way.
    private func finish(
        _ file: BSONValue, removedAt time: BSONDatetime, _ counts: inout Counts
    ) throws {
        let removal: BSONDocument = ["_id": file, Self.removedAt: .datetime(time)]
        while true {
            let count = try place.removeChunks(of: file, in: bucket, during: removal)
            guard count > 0 else { break }
            counts.removedChunks += count
        }
        if isOver(Place.quarantineMS, since: time) { try place.remove(bucket.files, removal) }
    }

    /// The claim of an upload that has no document yet; drivers see an empty file.
    private func claim(of file: BSONValue) -> BSONDocument {
        [
            "_id": file, "length": 0, "chunkSize": .int32(Int32(AttachmentBucket.chunkSize)),
            "uploadDate": .datetime(now), "metadata": ["claimedAt": .datetime(now)],
        ]
    }

    /// The update that makes a claimed file one that is being removed.
    private var removing: BSONDocument {
        [
            "$set": ["length": .int64(0), "metadata": ["removedAt": .datetime(now)]],
            "$unset": ["filename": 1],
        ]
    }

    // MARK: - Deciding

    /// Whether the file's document refers to it; `nil` for the file of another program.
    private func isReferred(_ file: BSONDocument) throws -> Bool? {
        guard let id = AttachmentSpot.referenceID(of: file),
            let metadata = file["metadata"]?.documentValue,
            let collection = metadata["collection"]?.stringValue,
            let documentID = metadata["document"]
        else { return nil }
        let document = try place.find(
            Namespace(bucket.database, collection), ["_id": ["$eq": documentID]], sort: [:],
            limit: 1
        ).first
        // The document may refer to another content by now, whose file has the same id in its reference.
        let content: [UInt8]? =
            if case .binary(let hash)? = metadata["sha256"] { hash.bytes } else { nil }
        return document.map { document in
            Attachment.all(in: document).contains { reference in
                reference.id == id && (content ?? reference.sha256) == reference.sha256
            }
        } ?? false
    }

    /// Whether no chunk was added for a day.
    private func isAbandoned(_ file: BSONValue) throws -> Bool {
        let last = try place.find(bucket.chunks, ["files_id": file], sort: ["n": -1], limit: 1)
        guard case .objectID(let id)? = last.first?["_id"] else { return false }
        return Int64(id.timestampSeconds) * 1_000
            <= now.milliseconds - AttachmentSweepLimits.uploadMS
    }

    private func isOver(_ milliseconds: Int64, since time: BSONDatetime) -> Bool {
        time.milliseconds <= now.milliseconds - milliseconds
    }

    private static var mark: String { "metadata.orphanSince" }
    private static var claimedAt: String { "metadata.claimedAt" }
    private static var removedAt: String { "metadata.removedAt" }
}

/// The limits of the removal of files.
package enum AttachmentSweepLimits {
    /// The time for which a file stays without a reference: an hour, in milliseconds.
    package static let graceMS: Int64 = 3_600_000
    /// The time for which the chunks of an upload stay: a day, in milliseconds.
    package static let uploadMS: Int64 = 86_400_000
    /// The time for which a gateway keeps the id of a removed file from uploads: an hour, in milliseconds.
    package static let quarantineMS: Int64 = 3_600_000
    /// The number of chunks that are removed in one transaction.
    package static let chunksAtOnce = 64
}

/// A store as a place with buckets of files; each change is a transaction of its own.
package struct StoredAttachments: AttachmentSweepPlace {
    /// None: a store completes an upload in one transaction.
    package static let quarantineMS: Int64 = 0

    private let store: DocumentStore
    private let turn: WriteTurn

    /// - Parameter turn: the turn of each of its writes.
    package init(_ store: DocumentStore, in turn: WriteTurn = .atOnce) {
        self.store = store
        self.turn = turn
    }

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

    package func insert(_ namespace: Namespace, _ document: BSONDocument) throws -> Bool {
        try turn.write(store) { transaction in
            let id = document["_id"] ?? .null
            guard try transaction.get(namespace, id: id) == nil else { return false }
            try transaction.insert(namespace, document)
            return true
        }
    }

    package func update(
        _ namespace: Namespace, _ filter: BSONDocument, _ update: BSONDocument
    ) throws -> Bool {
        try turn.write(store) {
            try $0.updateOne(namespace, filter: Filter(filter), update: Update(update))
                .matchedCount > 0
        }
    }

    package func remove(_ namespace: Namespace, _ filter: BSONDocument) throws {
        _ = try turn.write(store) { try $0.deleteMany(namespace, filter: Filter(filter)) }
    }

    package func removeChunks(
        of file: BSONValue, in bucket: AttachmentBucket, during removal: BSONDocument
    ) throws -> Int {
        try turn.write(store) { transaction in
            let claims = try transaction.find(
                bucket.files, filter: Filter(removal), options: FindOptions(limit: 1))
            guard !claims.isEmpty else { return 0 }
            let chunks = try transaction.find(
                bucket.chunks, filter: Filter(["files_id": file]),
                options: FindOptions(
                    sort: SortOrder(["n": 1]), limit: AttachmentSweepLimits.chunksAtOnce))
            for chunk in chunks { try transaction.remove(bucket.chunks, id: chunk["_id"] ?? .null) }
            return chunks.count
        }
    }
}
