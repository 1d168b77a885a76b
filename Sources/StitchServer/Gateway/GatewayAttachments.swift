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
            return request.reply(try isAllowed(request) ? try standing(request).state : nil)
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

    private func spot(_ request: AttachmentRequest) throws -> AttachmentSpot {
        var query = UpstreamQuery(filter: AttachmentBucket.filesFilter(of: request.place))
        // What another gateway has just stored counts.
        query.isCommitted = false
        query.isSmall = true
        var files: [BSONDocument] = []
        try link.find(request.bucket.files, query, for: call) { files.append($0) }
        return AttachmentSpot(of: request.place, among: files)
    }

    /// Returns how much of the file is stored, and the `_id` by which it is.
    private func standing(
        _ request: AttachmentRequest
    ) throws -> (state: AttachmentBucket.State, id: BSONValue) {
        switch try spot(request) {
        case .complete(let file): return (.complete, file["_id"] ?? .null)
        case .open(let ids):
            for id in ids {
                var query = UpstreamQuery(filter: AttachmentBucket.chunksFilter(of: id))
                query.projection = AttachmentBucket.lastChunkFields
                query.sort = ["n": -1]
                query.isCommitted = false
                let last = try first(of: query, in: request.bucket.chunks)
                if let state = AttachmentBucket.state(of: request.place, lastChunk: last) {
                    return (state, id)
                }
            }
            return (.foreign, .null)
        }
    }

    private func put(
        _ bytes: [UInt8], at offset: Int64, _ request: AttachmentRequest
    ) throws -> AttachmentBucket.State {
        let (state, file) = try standing(request)
        let bucket = request.bucket
        guard state == .partial(offset),
            let chunks = AttachmentChunks(bytes, at: offset, of: request.place, in: file)
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
            return try isDuplicate ? standing(request).state : .partial(chunks.end)
        }
        return try complete(request, file)
    }

    private func complete(
        _ request: AttachmentRequest, _ file: BSONValue
    ) throws -> AttachmentBucket.State {
        let (place, bucket) = (request.place, request.bucket)
        var query = UpstreamQuery(filter: AttachmentBucket.chunksFilter(of: file))
        query.sort = ["n": 1]
        query.isCommitted = false
        var check = AttachmentCheck()
        try link.find(bucket.chunks, query, for: call) { check.add($0) }
        guard check.proves(place.attachment) else {
            // Those that were read: another device may have begun anew.
            for ids in check.chunkIDs.chunks(of: Self.removedAtOnce) {
                _ = try send(AttachmentBucket.removal(of: Array(ids), from: bucket.chunks), bucket)
            }
            return try standing(request).state
        }
        let isDuplicate = try insert(
            [AttachmentBucket.file(place, id: file)], into: bucket.files, isOrdered: true, bucket)
        return try isDuplicate ? standing(request).state : .complete
    }

    private func read(
        _ part: AttachmentRequest.Part, _ request: AttachmentRequest
    ) throws -> [UInt8]? {
        guard case .complete(let file) = try spot(request) else { return nil }
        var piece = AttachmentPiece(
            of: file, request.place, from: part.offset, count: part.count)
        guard let numbers = piece.numbers else { return [] }
        var query = UpstreamQuery(
            filter: AttachmentBucket.chunksFilter(of: file["_id"] ?? .null, numbers))
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
