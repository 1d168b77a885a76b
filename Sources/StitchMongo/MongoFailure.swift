#if MongoRemote
    internal import BSONStore
    internal import StitchMongoC
    internal import StitchSync

    /// An error of libmongoc or the server for a command.
    struct MongoFailure: Error, Sendable, Hashable {
        /// The origin of the failure.
        enum Kind: Sendable, Hashable {
            /// The server answered with an error code.
            case server
            /// The collection of the change stream was dropped or renamed.
            case collectionDropped
            /// No server could be reached, or the connection broke.
            case network
            /// The authentication failed.
            case authentication
            /// A request or reply is invalid.
            case protocolError
            /// The URI or an option is invalid.
            case usage
        }

        var kind: Kind
        var code: Int = 0
        var message: String
        var labels: Set<String> = []

        init(kind: Kind, code: Int = 0, message: String, labels: Set<String> = []) {
            self.kind = kind
            self.code = code
            self.message = message
            self.labels = labels
        }
    }

    extension MongoFailure {
        /// The corresponding error for the engine.
        var remoteError: RemoteError {
            RemoteError(MongoErrorClass.decide(self), code: code, message)
        }
    }

    extension MongoFailure {
        /// Converts libmongoc's error and the reply, if any.
        init(_ error: bson_error_t, reply: BSONDocument?) {
            var error = error
            let text = withUnsafePointer(to: &error.message) { tuple in
                tuple.withMemoryRebound(to: CChar.self, capacity: 504) { String(cString: $0) }
            }
            labels = Set(reply?["errorLabels"]?.arrayValue?.compactMap(\.stringValue) ?? [])
            message = text
            switch error.domain {
            case UInt32(MONGOC_ERROR_SERVER.rawValue), UInt32(MONGOC_ERROR_WRITE_CONCERN.rawValue):
                kind = .server
                code = Int(error.code)
            case UInt32(MONGOC_ERROR_SERVER_SELECTION.rawValue),
                UInt32(MONGOC_ERROR_STREAM.rawValue):
                // A server selection error reports a failed authentication only in its text.
                kind = text.contains("uthentication failed") ? .authentication : .network
            case UInt32(MONGOC_ERROR_CLIENT.rawValue)
            where error.code == MONGOC_ERROR_CLIENT_AUTHENTICATE.rawValue:
                kind = .authentication
                code = 18
            case UInt32(MONGOC_ERROR_SASL.rawValue), UInt32(MONGOC_ERROR_SCRAM.rawValue):
                kind = .authentication
                code = 18
            case UInt32(MONGOC_ERROR_COMMAND.rawValue)
            where error.code == MONGOC_ERROR_COMMAND_INVALID_ARG.rawValue:
                kind = .usage
            case UInt32(MONGOC_ERROR_BSON.rawValue), UInt32(MONGOC_ERROR_PROTOCOL.rawValue):
                kind = .protocolError
            case UInt32(MONGOC_ERROR_CLIENT.rawValue) where labels.isEmpty && reply?["ok"] == nil:
                kind = .usage
            default:
                kind = .server
                code = Int(error.code)
            }
        }
    }
#endif
