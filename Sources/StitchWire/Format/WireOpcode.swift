/// The supported kinds of messages in MongoDB's wire protocol.
///
/// Source: MongoDB manual, "MongoDB Wire Protocol".
package enum WireOpcode: Int32, Sendable, Hashable, CaseIterable {
    /// The answer to an OP_QUERY.
    case reply = 1
    /// The message in which old drivers send their handshake.
    case query = 2004
    /// A message of another kind, compressed.
    case compressed = 2012
    /// A command or its answer.
    case message = 2013
}
