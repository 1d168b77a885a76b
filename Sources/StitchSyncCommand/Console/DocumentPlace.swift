import BSONStore
import StitchSync

/// The place of a document for the commands that a text advises: the file, the collection and the
/// id.
struct DocumentPlace: Sendable {
    /// The store's file, as the user named it.
    let store: String
    /// The collection.
    let namespace: Namespace
    /// The document's `_id`.
    let id: BSONValue

    /// The collection and the `_id` for people.
    var name: String { "\(namespace) \(id.extendedJSON(.relaxed))" }

    /// Returns a command about the document.
    func command(_ verb: String) -> String {
        "`stitchsync \(verb) \(store) \(namespace) \(Self.word(id.extendedJSON(.relaxed)))`"
    }

    /// The command that resumes the document's sync.
    var resumption: String {
        "`stitchsync resume \(store) \(namespace) --ids "
            + "\(Self.word("[\(id.extendedJSON(.relaxed))]"))`"
    }

    /// Returns a word as a shell reads it.
    private static func word(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") || byte == UInt8(ascii: "-")
        }
        return isPlain ? text : "'" + text.replacing("'", with: #"'\''"#) + "'"
    }
}

extension SyncStop {
    /// Returns why the collection stopped, and the commands that continue it.
    func explanation(store: String, _ namespace: Namespace) -> String {
        let cause =
            code == .collectionDropped
            ? "the remote dropped or renamed the collection"
            : found == .notMade
                ? "the remote does not have the collection that was synced before"
                : "the remote is another one than before"
        return "\(cause); nothing is sent or deleted, and "
            + "\(documentCount.counted("document is", plural: "documents are")) kept: sync with "
            + "the original remote again, or choose with `stitchsync resolve \(store) \(namespace) "
            + "--remote adopt` (or `replace`)"
    }
}
