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
        "`\(words(verb)) \(ShellWord(id.extendedJSON(.relaxed)))`"
    }

    /// The command that resumes the document's sync.
    var resumption: String { "`\(resumptionWords)`" }

    /// The words of the command that resumes the document's sync.
    var resumptionWords: String {
        "\(words("resume")) --ids \(ShellWord("[\(id.extendedJSON(.relaxed))]"))"
    }

    /// Returns the beginning of a command about the collection.
    func words(_ verb: String) -> String {
        "stitchsync \(verb) \(ShellWord(store)) \(ShellWord(namespace.description))"
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
            + "the original remote again, or choose with `stitchsync resolve \(ShellWord(store)) "
            + "\(ShellWord(namespace.description)) --remote adopt` (or `replace`)"
    }
}
