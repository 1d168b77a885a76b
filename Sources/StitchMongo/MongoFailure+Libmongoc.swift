#if MongoRemote
    internal import BSONStore
    internal import StitchCommands
    internal import StitchMongoC

    extension MongoFailure {
        /// Converts libmongoc's error and the reply, if any.
        init(_ error: bson_error_t, reply: BSONDocument?) {
            var error = error
            let text = withUnsafePointer(to: &error.message) { tuple in
                tuple.withMemoryRebound(to: CChar.self, capacity: 504) { String(cString: $0) }
            }
            let labels = Set(reply?["errorLabels"]?.arrayValue?.compactMap(\.stringValue) ?? [])
            self.init(kind: .server, code: 0, message: text, labels: labels)
            self.reply = reply
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
