package import BSONStore

/// A command from a client.
package struct WireRequest: Sendable {
    /// The kind of message, which determines the form of the answer.
    package enum Form: Sendable, Hashable {
        /// An OP_MSG with its flags.
        case message(WireFlags)
        /// An OP_QUERY to a collection, `admin.$cmd` for commands.
        case query(collection: String)
    }

    /// Documents sent outside the command, as if they were an array in one of its fields.
    package struct Sequence: Sendable {
        /// The field's name.
        package let field: String
        /// The documents.
        package let documents: [BSONDocument]

        /// Makes a sequence.
        package init(field: String, documents: [BSONDocument]) {
            self.field = field
            self.documents = documents
        }
    }

    /// The client's number of the message.
    package let requestID: Int32
    /// The kind of message.
    package let form: Form
    /// The command.
    package let body: BSONDocument
    /// The documents of the command's arrays.
    package let sequences: [Sequence]

    /// The compression of the message and of its answer; `nil` for none.
    package var compressor: WireCompressor?

    /// Makes a request.
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

    /// Whether the client expects an answer.
    package var wantsReply: Bool {
        switch form {
        case .message(let flags): !flags.contains(.moreToCome)
        case .query: true
        }
    }

    /// Whether the server may send further answers unasked.
    package var allowsExhaust: Bool {
        switch form {
        case .message(let flags): flags.contains(.exhaustAllowed)
        case .query: false
        }
    }
}
