#if MongoRemote
    internal import BSONStore
    internal import StitchMongoC
    internal import StitchSync

    /// Says what libmongoc or the server found wrong with a command.
    struct MongoFailure: Error, Sendable, Hashable {
        /// Where the failure comes from.
        enum Kind: Sendable, Hashable {
            /// The server answered with a code.
            case server
            /// The collection whose history was asked for was dropped or renamed.
            case collectionDropped
            /// No server could be reached, or the connection broke.
            case network
            /// The sign-in failed.
            case authentication
            /// A request or reply cannot be understood.
            case protocolError
            /// The URI or an option is wrong.
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
        /// What the engine does about it.
        var remoteError: RemoteError {
            RemoteError(MongoErrorClass.decide(self), code: code, message)
        }
    }

    extension MongoFailure {
        /// Reads libmongoc's error, and the reply when there was one.
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
                // A sign-in that fails hides in the words of a server that cannot be selected.
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
