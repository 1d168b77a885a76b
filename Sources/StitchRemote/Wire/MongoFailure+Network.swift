#if Remote
    internal import BSONStore
    internal import StitchCommands

    extension MongoFailure {
        /// The failure of a cancelled call.
        static var cancelled: MongoFailure { .network("the call was cancelled") }

        /// The failure of calls after the end.
        static var closed: MongoFailure { .network("the remote was closed") }

        /// A failure of the way to the server.
        static func network(_ reason: String) -> MongoFailure {
            MongoFailure(kind: .network, message: reason, labels: ["NetworkError"])
        }

        /// A reply or message that breaks the protocol.
        static func broken(_ reason: String) -> MongoFailure {
            MongoFailure(kind: .protocolError, message: reason)
        }

        /// Reads a reply: the reply itself where its `ok` is 1.
        ///
        /// - Throws: the server's error.
        static func check(_ reply: BSONDocument) throws(MongoFailure) -> BSONDocument {
            guard let ok = reply["ok"]?.int64Value else {
                throw broken("a reply has no field ok")
            }
            guard ok != 1 else { return reply }
            var failure = MongoFailure(
                kind: .server,
                code: reply["code"]?.int64Value.map { Int(truncatingIfNeeded: $0) } ?? 0,
                message: reply["errmsg"]?.stringValue ?? "the server gives no reason",
                labels: labels(reply))
            failure.reply = reply
            throw failure
        }

        /// The labels of a reply.
        static func labels(_ reply: BSONDocument) -> Set<String> {
            Set(reply["errorLabels"]?.arrayValue?.compactMap(\.stringValue) ?? [])
        }
    }
#endif
