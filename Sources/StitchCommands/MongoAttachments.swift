package import BSONStore
package import StitchSync

/// The files beside documents in MongoDB's own GridFS, by plain commands and without access rules.
///
/// Several devices may store the same file at a time. The unique index of chunks decides which of two
/// equal chunks stays, and the file's document is inserted once.
package struct MongoAttachments: RemoteAttachments {
    private let collections: MongoCollections

    /// The number of chunks that are removed by one command.
    private static let removedAtOnce = 1_000

    package init(_ collections: MongoCollections) { self.collections = collections }

    package func state(
        of place: AttachmentPlace
    ) async throws(RemoteError) -> RemoteAttachmentState {
        RemoteAttachmentState(try await known(place).state)
    }

    package func put(
        _ bytes: [UInt8], at offset: Int64, of place: AttachmentPlace
    ) async throws(RemoteError) -> RemoteAttachmentState {
        let (state, file) = try await known(place)
        guard state == .partial(offset),
            let chunks = AttachmentChunks(bytes, at: offset, of: place, in: file)
        else { return RemoteAttachmentState(state) }
        let bucket = Self.bucket(place)
        if offset == 0 {
            for command in bucket.indexCommands { _ = try await send(command, place) }
        }
        var isDuplicate = false
        if !chunks.documents.isEmpty {
            // After a duplicate nothing is added, so that no chunk is missing before a stored one.
            // At the end all chunks are known.
            isDuplicate = try await insert(
                chunks.documents, into: bucket.chunks, isOrdered: !chunks.areLast, place)
        }
        if chunks.areLast { return RemoteAttachmentState(try await complete(place, file)) }
        return isDuplicate
            ? RemoteAttachmentState(try await stored(place).state) : .partial(chunks.end)
    }

    package func read(
        _ place: AttachmentPlace, from offset: Int64, count: Int
    ) async throws(RemoteError) -> [UInt8]? {
        let (isReferred, spot) = try await both {
            () async throws(RemoteError) in
            try await self.isReferred(place)
        } and: { () async throws(RemoteError) in
            try await self.spot(of: place)
        }
        guard isReferred, case .complete(let file) = spot else { return nil }
        let id = file["_id"] ?? .null
        var piece = AttachmentPiece(
            of: file, place, from: offset, count: min(count, AttachmentBucket.pieceSizeMax))
        guard let numbers = piece.numbers else { return [] }
        while !piece.isWhole {
            let chunks = try await chunks(
                of: place, id, piece.nextNumber...numbers.upperBound)
            guard !chunks.isEmpty else { break }
            for chunk in chunks {
                do throws(StoreError) {
                    try piece.add(chunk)
                } catch {
                    throw Self.remoteError(error)
                }
            }
        }
        do throws(StoreError) {
            return try piece.whole()
        } catch {
            throw Self.remoteError(error)
        }
    }

    /// Returns how much of a file is stored, as ``stored(_:)`` does; `foreign` if the document does not
    /// refer to it.
    private func known(
        _ place: AttachmentPlace
    ) async throws(RemoteError) -> (state: AttachmentBucket.State, id: BSONValue) {
        let (isReferred, stored) = try await both {
            () async throws(RemoteError) in
            try await self.isReferred(place)
        } and: { () async throws(RemoteError) in
            try await self.stored(place)
        }
        return isReferred ? stored : (.foreign, .null)
    }

    /// Returns the answers to two requests that are under way at once: on a slow way they take the time of
    /// one.
    private func both<First: Sendable, Second: Sendable>(
        _ first: @escaping @Sendable () async throws(RemoteError) -> First,
        and second: @escaping @Sendable () async throws(RemoteError) -> Second
    ) async throws(RemoteError) -> (First, Second) {
        async let one = result(first)
        async let other = result(second)
        let (first, second) = await (one, other)
        return (try first.get(), try second.get())
    }

    private func result<R>(
        _ request: () async throws(RemoteError) -> R
    ) async -> Result<R, RemoteError> {
        do throws(RemoteError) {
            return .success(try await request())
        } catch {
            return .failure(error)
        }
    }

    /// Whether the document refers to the file.
    private func isReferred(_ place: AttachmentPlace) async throws(RemoteError) -> Bool {
        let found = try await collections.collection(place.namespace).find(
            ids: [place.documentID])
        guard case .found(let document)? = found.first else { return false }
        return place.attachment.reference(in: document) != nil
    }

    // MARK: - The bucket

    private static func bucket(_ place: AttachmentPlace) -> AttachmentBucket {
        AttachmentBucket(database: place.namespace.database)
    }

    private func spot(of place: AttachmentPlace) async throws(RemoteError) -> AttachmentSpot {
        AttachmentSpot(
            of: place,
            among: try await find(
                AttachmentBucket.filesFilter(of: place), sort: [:], limit: 2,
                in: Self.bucket(place).files))
    }

    /// Returns how much of a file is stored, and the `_id` by which it is.
    private func stored(
        _ place: AttachmentPlace
    ) async throws(RemoteError) -> (state: AttachmentBucket.State, id: BSONValue) {
        let usual = AttachmentSpot.usualID(of: place)
        let (spot, usualLast) = try await both {
            () async throws(RemoteError) in
            try await self.spot(of: place)
        } and: { () async throws(RemoteError) in
            try await self.lastChunk(of: usual, place)
        }
        switch spot {
        case .complete(let file): return (.complete, file["_id"] ?? .null)
        case .open(let ids):
            for id in ids {
                let last = try await id == usual ? usualLast : lastChunk(of: id, place)
                if let state = AttachmentBucket.state(of: place, lastChunk: last) {
                    return (state, id)
                }
            }
            return (.foreign, .null)
        }
    }

    private func lastChunk(
        of file: BSONValue, _ place: AttachmentPlace
    ) async throws(RemoteError) -> BSONDocument? {
        try await find(
            AttachmentBucket.chunksFilter(of: file), sort: ["n": -1], limit: 1,
            projection: AttachmentBucket.lastChunkFields, in: Self.bucket(place).chunks
        ).first
    }

    private func complete(
        _ place: AttachmentPlace, _ file: BSONValue
    ) async throws(RemoteError) -> AttachmentBucket.State {
        let bucket = Self.bucket(place)
        var check = AttachmentCheck()
        while true {
            let chunks = try await chunks(of: place, file, check.nextNumber...Int64.max)
            guard !chunks.isEmpty else { break }
            for chunk in chunks { check.add(chunk) }
        }
        guard check.proves(place.attachment) else {
            // Those that were read: another device may have begun anew.
            var ids = check.chunkIDs[...]
            while !ids.isEmpty {
                let some = Array(ids.prefix(Self.removedAtOnce))
                _ = try await send(
                    AttachmentBucket.removal(of: some, from: bucket.chunks), place)
                ids = ids.dropFirst(some.count)
            }
            return try await stored(place).state
        }
        let isDuplicate = try await insert(
            [AttachmentBucket.file(place, id: file)], into: bucket.files, isOrdered: true, place)
        return isDuplicate ? try await stored(place).state : .complete
    }

    // MARK: - Sending

    /// Returns the first of some chunks, in the order of their numbers.
    private func chunks(
        of place: AttachmentPlace, _ file: BSONValue, _ numbers: ClosedRange<Int64>
    ) async throws(RemoteError) -> [BSONDocument] {
        try await find(
            AttachmentBucket.chunksFilter(of: file, numbers), sort: ["n": 1],
            limit: AttachmentBucket.chunksPerMessage, in: Self.bucket(place).chunks)
    }

    /// Returns the first documents that match, as many as one reply holds.
    private func find(
        _ filter: BSONDocument, sort: BSONDocument, limit: Int, projection: BSONDocument = [:],
        in namespace: Namespace
    ) async throws(RemoteError) -> [BSONDocument] {
        let reply = try await collections.collection(namespace).read([
            "find": .string(namespace.collection), "filter": .document(filter),
            "sort": .document(sort), "projection": .document(projection),
            "limit": .int32(Int32(clamping: limit)), "singleBatch": true,
        ])
        let batch = reply["cursor"]?.documentValue?["firstBatch"]?.arrayValue ?? []
        return batch.compactMap(\.documentValue)
    }

    /// Inserts documents.
    ///
    /// - Returns: whether one of them is there already.
    private func insert(
        _ documents: [BSONDocument], into namespace: Namespace, isOrdered: Bool,
        _ place: AttachmentPlace
    ) async throws(RemoteError) -> Bool {
        let reply = try await send(
            AttachmentBucket.insertion(of: documents, into: namespace, isOrdered: isOrdered),
            place)
        return AttachmentBucket.errors(in: reply).isDuplicate
    }

    private func send(
        _ command: BSONDocument, _ place: AttachmentPlace
    ) async throws(RemoteError) -> BSONDocument {
        var command = command
        command.append("writeConcern", ["w": "majority"])
        // Without a number, by which a driver repeats it: a duplicate is no error.
        let reply = try await collections.collection(place.namespace).read(command)
        guard let error = AttachmentBucket.errors(in: reply).other else { return reply }
        var failure = MongoFailure(
            kind: .server, code: Int(error["code"]?.int64Value ?? 8),
            message: error["errmsg"]?.stringValue ?? "the file was not stored")
        failure.reply = reply
        throw failure.remoteError
    }

    private static func remoteError(_ error: StoreError) -> RemoteError {
        RemoteError(.rejected, code: Int(error.code.rawValue), error.message)
    }
}
