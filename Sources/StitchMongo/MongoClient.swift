#if MongoRemote
    internal import BSONStore
    internal import StitchCommands
    internal import StitchMongoC

    /// A client of libmongoc, which runs commands for one thread at a time.
    struct MongoClient: @unchecked Sendable {
        let handle: OpaquePointer
        /// The user whose share of the pool it is; `nil` for the program's own.
        var user: [UInt8]?

        /// Sends a command to the primary and returns its reply, including one with write errors.
        ///
        /// - Throws: ``MongoFailure`` without a reply or when its `ok` is not 1.
        func run(
            _ command: BSONDocument, on database: String, _ kind: MongoCommandKind
        ) throws(MongoFailure) -> BSONDocument {
            let options = CDocument([:])
            return try reply(to: command) { request, reply, error in
                switch kind {
                case .read:
                    mongoc_client_read_command_with_opts(
                        handle, database, request, nil, options.handle, reply, error)
                case .write:
                    mongoc_client_write_command_with_opts(
                        handle, database, request, options.handle, reply, error)
                }
            }
        }

        /// Sends a command to a session's server and returns its reply; never retries.
        ///
        /// - Throws: ``MongoFailure`` without a reply or when its `ok` is not 1.
        func run(
            _ command: BSONDocument, on database: String, in session: MongoClientSession
        ) throws(MongoFailure) -> BSONDocument {
            let options = CDocument([:])
            try session.append(to: options.handle, serverID: session.serverID)
            return try reply(to: command) { request, reply, error in
                mongoc_client_command_with_opts(
                    handle, database, request, nil, options.handle, reply, error)
            }
        }

        /// Sends a command of a session to the primary, or to a place, and returns its reply.
        ///
        /// - Parameter serverID: the server; `nil` for the primary, to which a read is sent again
        ///   after a failed connection.
        /// - Throws: ``MongoFailure`` without a reply or when its `ok` is not 1.
        func run(
            _ command: BSONDocument, on database: String, _ kind: MongoCommandKind,
            in session: MongoClientSession, serverID: UInt32?
        ) throws(MongoFailure) -> BSONDocument {
            let options = CDocument([:])
            try session.append(to: options.handle, serverID: serverID)
            return try reply(to: command) { request, reply, error in
                switch kind {
                case .read where serverID == nil:
                    mongoc_client_read_command_with_opts(
                        handle, database, request, nil, options.handle, reply, error)
                case .read:
                    mongoc_client_command_with_opts(
                        handle, database, request, nil, options.handle, reply, error)
                case .write:
                    mongoc_client_write_command_with_opts(
                        handle, database, request, options.handle, reply, error)
                }
            }
        }

        private func reply(
            to command: BSONDocument,
            _ send: (OpaquePointer, OpaquePointer, UnsafeMutablePointer<bson_error_t>) -> Bool
        ) throws(MongoFailure) -> BSONDocument {
            let request = CDocument(command)
            var error = bson_error_t()
            return try CDocument.reply { (reply) throws(MongoFailure) in
                let isDone = send(request.handle, reply, &error)
                let answer = CDocument.copy(of: reply)
                if isDone, answer == nil, let fault = CDocument.tooDeep(reply) { throw fault }
                // libmongoc treats an unmet write concern as a failure; here it is a reply.
                guard isDone || answer?["ok"]?.int64Value == 1 else {
                    throw MongoFailure(error, reply: answer)
                }
                guard let answer else {
                    throw MongoFailure(kind: .protocolError, message: "the reply is not valid BSON")
                }
                return answer
            }
        }

        /// Whether the primary supports `bulkWrite`, as MongoDB does since 8.0 (wire version 25).
        ///
        /// Source: the drivers' specification "Bulk Write".
        func takesBulkWrite() throws(MongoFailure) -> Bool {
            try hello()?["maxWireVersion"]?.int64Value ?? 0 >= 25
        }

        /// Whether the primary has a part that MongoDB does not have.
        func knows(_ part: ServerExtension) throws(MongoFailure) -> Bool {
            part.isNamed(in: try hello())
        }

        private func hello() throws(MongoFailure) -> BSONDocument? {
            try withPrimary { server in
                mongoc_server_description_hello_response(server).flatMap { CDocument.copy(of: $0) }
            }
        }

        /// Calls a body with the description of the primary, selecting one if necessary.
        fileprivate func withPrimary<R>(_ body: (OpaquePointer) -> R) throws(MongoFailure) -> R {
            var error = bson_error_t()
            guard let server = mongoc_client_select_server(handle, true, nil, &error) else {
                throw MongoFailure(error, reply: nil)
            }
            defer { mongoc_server_description_destroy(server) }
            return body(server)
        }

        /// Returns the number of the primary.
        func primaryID() throws(MongoFailure) -> UInt32 {
            try withPrimary { mongoc_server_description_id($0) }
        }

        /// Begins a session on the primary, for related commands.
        func session() throws(MongoFailure) -> MongoClientSession {
            try session(on: primaryID())
        }

        /// Begins a session for commands of one server, or of any.
        func session(on serverID: UInt32) throws(MongoFailure) -> MongoClientSession {
            var error = bson_error_t()
            guard let session = mongoc_client_start_session(handle, nil, &error) else {
                throw MongoFailure(error, reply: nil)
            }
            return MongoClientSession(handle: session, serverID: serverID)
        }
    }

    /// A session of a client and the server for its commands.
    struct MongoClientSession: @unchecked Sendable {
        let handle: OpaquePointer
        let serverID: UInt32

        fileprivate func append(
            to options: OpaquePointer, serverID: UInt32?
        ) throws(MongoFailure) {
            var error = bson_error_t()
            guard mongoc_client_session_append(handle, options, &error) else {
                throw MongoFailure(error, reply: nil)
            }
            guard let serverID else { return }
            bson_append_int32(options, "serverId", 8, Int32(bitPattern: serverID))
        }

        /// The id by which commands name the session (`lsid`).
        var id: BSONDocument { CDocument.copy(of: mongoc_client_session_get_lsid(handle)) ?? [:] }

        /// The bytes of the UUID in the session's id.
        var uuid: [UInt8] {
            get throws(MongoFailure) { Array(try storedUUID()) }
        }

        /// Makes later commands name another session.
        ///
        /// libmongoc has no call for it: it ties a session to one client, while the server does not.
        /// So the bytes in the session's own document change; commands copy them.
        func become(_ uuid: [UInt8]) throws(MongoFailure) {
            let stored = try storedUUID()
            precondition(uuid.count == stored.count)
            _ = stored.update(fromContentsOf: uuid)
        }

        /// Has the session, and the later ones for which libmongoc uses its id again, be new ones
        /// for the server.
        func renew() throws(MongoFailure) { try become(Self.newUUID()) }

        /// Returns the bytes of a random UUID.
        static func newUUID() -> [UInt8] {
            var generator = SystemRandomNumberGenerator()
            var bytes = (0..<uuidBytes).map { _ in UInt8.random(in: 0...255, using: &generator) }
            bytes[6] = bytes[6] & 0x0F | 0x40
            bytes[8] = bytes[8] & 0x3F | 0x80
            return bytes
        }

        private static let uuidBytes = 16
        /// The beginning of `{id: UUID}`: its length, the field, and the binary's length and
        /// subtype.
        private static let idStart: [UInt8] =
            [30, 0, 0, 0, 5] + Array("id\0".utf8) + [16, 0, 0, 0, 4]

        private func storedUUID() throws(MongoFailure) -> UnsafeMutableBufferPointer<UInt8> {
            let start = Self.idStart
            guard let id = mongoc_client_session_get_lsid(handle), let bytes = bson_get_data(id),
                UnsafeBufferPointer(start: bytes, count: 4).elementsEqual(start.prefix(4)),
                UnsafeBufferPointer(start: bytes, count: start.count).elementsEqual(start)
            else {
                throw MongoFailure(
                    kind: .protocolError, message: "libmongoc's session ids are not as expected")
            }
            return UnsafeMutableBufferPointer(
                start: UnsafeMutablePointer(mutating: bytes) + start.count, count: Self.uuidBytes)
        }

        /// Begins a transaction, which is committed by a majority.
        ///
        /// - Parameter readsNewest: `true` for a short transaction: it reads the newest state, also what no
        ///   majority has acknowledged, and waits for its commit for at most 10 seconds.
        func startTransaction(readsNewest: Bool) throws(MongoFailure) {
            let options = mongoc_transaction_opts_new()
            let concern = mongoc_write_concern_new()
            let level = mongoc_read_concern_new()
            defer {
                mongoc_read_concern_destroy(level)
                mongoc_write_concern_destroy(concern)
                mongoc_transaction_opts_destroy(options)
            }
            mongoc_write_concern_set_wmajority(concern, -1)
            mongoc_transaction_opts_set_write_concern(options, concern)
            mongoc_read_concern_set_level(level, readsNewest ? "local" : "snapshot")
            mongoc_transaction_opts_set_read_concern(options, level)
            if readsNewest { mongoc_transaction_opts_set_max_commit_time_ms(options, 10_000) }
            var error = bson_error_t()
            guard mongoc_client_session_start_transaction(handle, options, &error) else {
                throw MongoFailure(error, reply: nil)
            }
        }

        /// Commits the transaction; libmongoc repeats the command after a failed connection.
        func commitTransaction() throws(MongoFailure) {
            var error = bson_error_t()
            try CDocument.reply { (reply) throws(MongoFailure) in
                guard mongoc_client_session_commit_transaction(handle, reply, &error) else {
                    throw MongoFailure(error, reply: CDocument.copy(of: reply))
                }
            }
        }

        /// Reverts the transaction, as the server does by itself after a while.
        func abortTransaction() {
            var error = bson_error_t()
            _ = mongoc_client_session_abort_transaction(handle, &error)
        }

        /// Ends the session; the client must still exist.
        func end() { mongoc_client_session_destroy(handle) }
    }

    /// The owner of a libbson document.
    private struct CDocument: ~Copyable {
        let handle: OpaquePointer

        init(_ document: BSONDocument) {
            let made = document.withUnsafeBytes { bytes in
                bson_new_from_data(bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count)
            }
            guard let made else { preconditionFailure("our documents are valid BSON") }
            handle = made
        }

        deinit { bson_destroy(handle) }

        /// Calls a body with storage for a reply, which libmongoc initializes.
        ///
        /// Debian's libbson requires an alignment of 128 bytes.
        static func reply<R>(
            _ body: (OpaquePointer) throws(MongoFailure) -> R
        ) throws(MongoFailure) -> R {
            let storage = UnsafeMutableRawPointer.allocate(byteCount: 128, alignment: 128)
            defer { storage.deallocate() }
            let reply = OpaquePointer(storage)
            bson_init(reply)
            bson_destroy(reply)
            defer { bson_destroy(reply) }
            return try body(reply)
        }

        /// Returns the failure of a reply with a document that is nested too deeply; `nil` for
        /// another one.
        static func tooDeep(_ reply: OpaquePointer) -> MongoFailure? {
            copy(of: reply, limits: .ofDeepReplies).map(DeepDocument.failure)
        }

        /// Converts a libbson document; `nil` when it is invalid.
        static func copy(
            of document: OpaquePointer, limits: BSONLimits = .ofReplies
        ) -> BSONDocument? {
            guard let bytes = bson_get_data(document) else { return nil }
            let length = UnsafeRawPointer(bytes).loadUnaligned(as: Int32.self)
            let copy = Array(
                UnsafeBufferPointer(start: bytes, count: Int(Int32(littleEndian: length))))
            do throws(BSONError) {
                return try BSONDocument(validating: copy, limits: limits)
            } catch {
                return nil
            }
        }
    }

    extension BSONLimits {
        /// The limits of replies, which contain documents inside others.
        fileprivate static var ofReplies: BSONLimits {
            var limits = BSONLimits()
            limits.documentBytesMax = 48_000_000
            limits.depthMax += 8
            return limits
        }

        /// The limits of replies in which a document that is nested too deeply is searched for.
        ///
        /// Source: the server's `bsondepth.h`, whose greatest limit is 250 levels.
        fileprivate static var ofDeepReplies: BSONLimits {
            var limits = ofReplies
            limits.depthMax = 260
            return limits
        }
    }
#endif
