package import BSONStore
package import StitchSync

/// The failure of a command: the server's answer, or the way to it.
package struct MongoFailure: Error, Sendable, Hashable {
    /// The origin of the failure.
    package enum Kind: Sendable, Hashable {
        /// The server answered with an error code.
        case server
        /// The collection of the change stream was dropped or renamed.
        case collectionDropped
        /// No server could be reached, or the connection broke.
        case network
        /// All connections that the caller may use were in use for too long; nothing was sent.
        case busy
        /// The authentication failed.
        case authentication
        /// A request or reply is invalid.
        case protocolError
        /// The URI or an option is invalid.
        case usage
    }

    package var kind: Kind
    package var code: Int = 0
    package var message: String
    package var labels: Set<String> = []
    /// The server's reply, if one came.
    package var reply: BSONDocument?

    package init(kind: Kind, code: Int = 0, message: String, labels: Set<String> = []) {
        self.kind = kind
        self.code = code
        self.message = message
        self.labels = labels
    }
}

extension MongoFailure {
    /// The corresponding error for the engine.
    package var remoteError: RemoteError {
        RemoteError(MongoErrorClass.decide(self), code: code, message)
    }
}
