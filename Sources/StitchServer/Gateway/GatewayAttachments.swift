internal import BSONStore
internal import StitchRules

/// The commands on files beside documents at a gateway: the upstream has the document and the bucket.
///
/// Several gateways may store the same file at a time. The unique index of chunks decides which of two
/// equal chunks stays, and the file's document is inserted once.
struct GatewayAttachments {
    let link: UpstreamLink
    let call: CommandCall
    /// The user's rules; `nil` for none.
    let ruleGuard: RuleAccessPolicy?

    /// The number of chunks that are removed by one command.
    private static let removedAtOnce = 1_000

    /// Answers the command.
    ///
    /// - Throws: the errors of the arguments and of the upstream.
    func answer() throws -> CommandOutcome {
        let request = try AttachmentRequest(call)
        switch call.name {
        case AttachmentCommands.put.name:
            let (bytes, offset) = try request.bytes()
            guard try isAllowed(request) else { return request.reply(nil) }
            return request.reply(try put(bytes, at: offset, request))
        case AttachmentCommands.get.name:
            let part = try request.part()
            guard try isAllowed(request) else { return AttachmentRequest.reply(nil) }
            let memory = try AttachmentRequest.holding(part)
            return try withExtendedLifetime(memory) {
                AttachmentRequest.reply(try read(part, request))
            }
        default:
            return request.reply(try isAllowed(request) ? try state(request) : nil)
        }
    }

    private func isAllowed(_ request: AttachmentRequest) throws -> Bool {
        var query = UpstreamQuery(filter: ["_id": ["$eq": request.place.documentID]], limit: 1)
        query.collation = ["locale": "simple"]
        return request.isAllowed(
            try first(of: query, in: request.place.namespace), under: ruleGuard)
    }

    private func first(
        of query: UpstreamQuery, in namespace: Namespace
    ) throws -> BSONDocument? {
        var query = query
        query.limit = 1
        query.isSmall = true
        var found: BSONDocument?
        try link.find(namespace, query, for: call) { found = $0 }
        return found
    }

    // MARK: - The bucket

    private func file(_ request: AttachmentRequest) throws -> BSONDocument? {
        var query = UpstreamQuery(filter: ["_id": .objectID(request.place.attachment.id)])
        // What another gateway has just stored counts.
        query.isCommitted = false
        return try first(of: query, in: request.bucket.files)
    }

    private func state(_ request: AttachmentRequest) throws -> AttachmentBucket.State {
        let place = request.place
        if let file = try file(request) {
            return AttachmentBucket.state(of: place, file: file, lastChunk: nil)
        }
        var query = UpstreamQuery(
            filter: AttachmentBucket.chunksFilter(of: place.attachment.id))
        query.projection = AttachmentBucket.lastChunkFields
        query.sort = ["n": -1]
        query.isCommitted = false
        let last = try first(of: query, in: request.bucket.chunks)
        return AttachmentBucket.state(of: place, file: nil, lastChunk: last)
    }

    private func put(
        _ bytes: [UInt8], at offset: Int64, _ request: AttachmentRequest
    ) throws -> AttachmentBucket.State {
        let state = try state(request)
        let bucket = request.bucket
        guard state == .partial(offset),
            let chunks = AttachmentChunks(bytes, at: offset, of: request.place)
        else { return state }
        if offset == 0 {
            for command in bucket.indexCommands { _ = try send(command, bucket) }
        }
        // After a duplicate nothing is added, so that no chunk is missing before a stored one. At
        // the end all chunks are known.
        let isDuplicate =
            try !chunks.documents.isEmpty
            && insert(chunks.documents, into: bucket.chunks, isOrdered: !chunks.areLast, bucket)
        guard chunks.areLast else {
            return try isDuplicate ? self.state(request) : .partial(chunks.end)
        }
        return try complete(request)
    }

    private func complete(_ request: AttachmentRequest) throws -> AttachmentBucket.State {
        let (place, bucket) = (request.place, request.bucket)
        var query = UpstreamQuery(
            filter: AttachmentBucket.chunksFilter(of: place.attachment.id))
        query.sort = ["n": 1]
        query.isCommitted = false
        var check = AttachmentCheck()
        try link.find(bucket.chunks, query, for: call) { check.add($0) }
        guard check.proves(place.attachment) else {
            // Those that were read: another device may have begun anew.
            for ids in check.chunkIDs.chunks(of: Self.removedAtOnce) {
                _ = try send(AttachmentBucket.removal(of: Array(ids), from: bucket.chunks), bucket)
            }
            return try self.state(request)
        }
        let isDuplicate = try insert(
            [AttachmentBucket.file(place)], into: bucket.files, isOrdered: true, bucket)
        return try isDuplicate ? self.state(request) : .complete
    }

    private func read(
        _ part: AttachmentRequest.Part, _ request: AttachmentRequest
    ) throws -> [UInt8]? {
        guard let file = try file(request), AttachmentBucket.describes(file, request.place) else {
            return nil
        }
        var piece = AttachmentPiece(
            of: file, request.place, from: part.offset, count: part.count)
        guard let numbers = piece.numbers else { return [] }
        var query = UpstreamQuery(
            filter: AttachmentBucket.chunksFilter(of: request.place.attachment.id, numbers))
        query.sort = ["n": 1]
        query.isCommitted = false
        try link.find(request.bucket.chunks, query, for: call) { try piece.add($0) }
        return try piece.whole()
    }

    // MARK: - Sending

    /// Inserts documents.
    ///
    /// - Returns: whether one of them is there already.
    private func insert(
        _ documents: [BSONDocument], into namespace: Namespace, isOrdered: Bool,
        _ bucket: AttachmentBucket
    ) throws -> Bool {
        let reply = try send(
            AttachmentBucket.insertion(of: documents, into: namespace, isOrdered: isOrdered),
            bucket)
        return AttachmentBucket.errors(in: reply).isDuplicate
    }

    private func send(_ command: BSONDocument, _ bucket: AttachmentBucket) throws -> BSONDocument {
        try link.changeBucket(command, on: bucket.database, for: call)
    }
}

extension UpstreamLink {
    /// Runs a command that changes a bucket of files, by a majority: what is read next must have it.
    ///
    /// - Returns: the reply; a duplicate key in it is no error.
    /// - Throws: the upstream's errors, and the first other error in the reply.
    func changeBucket(
        _ command: BSONDocument, on database: String, for call: CommandCall?
    ) throws -> BSONDocument {
        var command = command
        command.append("writeConcern", ["w": "majority"])
        let reply = try run(command, on: database, repeatedAs: .write, for: call)
        if let error = AttachmentBucket.errors(in: reply).other {
            throw CommandFailure(
                Int32(clamping: error["code"]?.int64Value ?? 8),
                error["errmsg"]?.stringValue ?? "the file was not stored")
        }
        return reply
    }
}
