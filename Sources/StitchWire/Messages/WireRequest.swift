package import BSONStore

/// Holds a command as a client sent it.
package struct WireRequest: Sendable {
    /// In which kind of message it came, which decides how it is answered.
    package enum Form: Sendable, Hashable {
        /// An OP_MSG with its flags.
        case message(WireFlags)
        /// An OP_QUERY to a collection, `admin.$cmd` for commands.
        case query(collection: String)
    }

    /// Documents that came beside the command, as if they were an array in one of its fields.
    package struct Sequence: Sendable {
        /// The field's name.
        package let field: String
        /// The documents.
        package let documents: [BSONDocument]
    }

    /// The client's number of the message.
    package let requestID: Int32
    /// The kind of message.
    package let form: Form
    /// The command.
    package let body: BSONDocument
    /// What belongs into the command's arrays.
    package let sequences: [Sequence]

    /// How the message was compressed, and how its answer is; `nil` when it was not.
    package var compressor: WireCompressor?

    /// Takes the parts.
    package init(
        requestID: Int32, form: Form, body: BSONDocument, sequences: [Sequence] = [],
        compressor: WireCompressor? = nil
    ) {
        self.requestID = requestID
        self.form = form
        self.body = body
        self.sequences = sequences
        self.compressor = compressor
    }

    /// Whether the client waits for an answer.
    package var wantsReply: Bool {
        switch form {
        case .message(let flags): !flags.contains(.moreToCome)
        case .query: true
        }
    }

    /// Whether answers may follow each other without being asked for.
    package var allowsExhaust: Bool {
        switch form {
        case .message(let flags): flags.contains(.exhaustAllowed)
        case .query: false
        }
    }
}
