/// Numbers the kinds of messages of MongoDB's wire protocol that are understood.
///
/// Source: MongoDB manual, "MongoDB Wire Protocol".
package enum WireOpcode: Int32, Sendable, Hashable, CaseIterable {
    /// An answer to an OP_QUERY.
    case reply = 1
    /// The message by which old drivers say hello.
    case query = 2004
    /// A message of another kind, compressed.
    case compressed = 2012
    /// A command or its answer.
    case message = 2013
}
