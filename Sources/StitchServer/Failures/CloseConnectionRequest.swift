internal import BSONStore

/// A test's request to close the connection without a reply.
struct CloseConnectionRequest: Error {}
