#if MongoRemote
    internal import BSONStore
    internal import StitchMongoC

    /// Runs commands on one client of libmongoc, for one thread at a time.
    struct MongoClient: @unchecked Sendable {
        let handle: OpaquePointer

        /// How a command is sent and repeated.
        enum Kind: Sendable {
            /// To the primary; repeated once when the connection fails (retryable reads).
            case read
            /// To the primary; repeated once under the same number (retryable writes).
            case write
            /// To the server that was selected before, never repeated.
            case pinned
        }

        /// Sends a command and gives its reply, also one that tells of write errors.
        ///
        /// - Throws: ``MongoFailure`` when there is no reply or its `ok` is not 1.
        func run(
            _ command: BSONDocument, on database: String, _ kind: Kind,
            in session: MongoSession? = nil
        ) throws(MongoFailure) -> BSONDocument {
            let request = CDocument(command)
            let options = CDocument([:])
            try session?.append(to: options.handle)
            var error = bson_error_t()
            return try CDocument.reply { (reply) throws(MongoFailure) in
                let isDone: Bool
                switch kind {
                case .read:
                    isDone = mongoc_client_read_command_with_opts(
                        handle, database, request.handle, nil, options.handle, reply, &error)
                case .write:
                    isDone = mongoc_client_write_command_with_opts(
                        handle, database, request.handle, options.handle, reply, &error)
                case .pinned:
                    isDone = mongoc_client_command_with_opts(
                        handle, database, request.handle, nil, options.handle, reply, &error)
                }
                let answer = CDocument.copy(of: reply)
                // A write concern that was not met is a failure to libmongoc, and a reply to us.
                guard isDone || answer?["ok"]?.int64Value == 1 else {
                    throw MongoFailure(error, reply: answer)
                }
                guard let answer else {
                    throw MongoFailure(kind: .protocolError, message: "the reply is no valid BSON")
                }
                return answer
            }
        }

        /// Whether the primary takes `bulkWrite`, as MongoDB does from 8.0 (wire version 25) on.
        ///
        /// Source: the drivers' specification "Bulk Write".
        func takesBulkWrite() throws(MongoFailure) -> Bool {
            let hello = try withPrimary { server in
                mongoc_server_description_hello_response(server).flatMap(CDocument.copy)
            }
            return hello?["maxWireVersion"]?.int64Value ?? 0 >= 25
        }

        /// Lends the description of the primary, which is looked for when it is not known.
        private func withPrimary<R>(_ body: (OpaquePointer) -> R) throws(MongoFailure) -> R {
            var error = bson_error_t()
            guard let server = mongoc_client_select_server(handle, true, nil, &error) else {
                throw MongoFailure(error, reply: nil)
            }
            defer { mongoc_server_description_destroy(server) }
            return body(server)
        }

        /// Begins a session on the primary, for commands that belong together.
        func session() throws(MongoFailure) -> MongoSession {
            let serverID = try withPrimary { mongoc_server_description_id($0) }
            var error = bson_error_t()
            guard let session = mongoc_client_start_session(handle, nil, &error) else {
                throw MongoFailure(error, reply: nil)
            }
            return MongoSession(handle: session, serverID: serverID)
        }
    }

    /// Holds a session of a client and the server that its commands go to.
    struct MongoSession: @unchecked Sendable {
        let handle: OpaquePointer
        let serverID: UInt32

        fileprivate func append(to options: OpaquePointer) throws(MongoFailure) {
            var error = bson_error_t()
            guard mongoc_client_session_append(handle, options, &error) else {
                throw MongoFailure(error, reply: nil)
            }
            bson_append_int32(options, "serverId", 8, Int32(bitPattern: serverID))
        }

        /// Ends the session; the client must still be there.
        func end() { mongoc_client_session_destroy(handle) }
    }

    /// Owns a document of libbson.
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

        /// Lends storage for a reply, which libmongoc sets up.
        ///
        /// Debian's libbson wants it on a 128-byte boundary.
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

        /// Returns the document of libbson as ours; `nil` when it is not valid.
        static func copy(of document: OpaquePointer) -> BSONDocument? {
            guard let bytes = bson_get_data(document) else { return nil }
            let length = UnsafeRawPointer(bytes).loadUnaligned(as: Int32.self)
            let copy = Array(
                UnsafeBufferPointer(start: bytes, count: Int(Int32(littleEndian: length))))
            do throws(BSONError) {
                return try BSONDocument(validating: copy, limits: .ofReplies)
            } catch {
                return nil
            }
        }
    }

    extension BSONLimits {
        /// Bounds of replies, which hold documents inside of others.
        fileprivate static var ofReplies: BSONLimits {
            var limits = BSONLimits()
            limits.documentBytesMax = 48_000_000
            limits.depthMax += 8
            return limits
        }
    }
#endif
