internal import BSONStore

/// A remote document without its version field, and the field.
struct RemoteEdition: Sendable {
    let document: BSONDocument?
    let version: VersionField

    /// Takes the field out of an answer to a look for one document.
    ///
    /// - Throws: `SyncError` of code `.unusableDocument` when the answer is another document.
    init(_ answer: BSONDocument?, of id: BSONValue) throws(SyncError) {
        if let answer, !answer.documentID.isSameID(as: id) {
            throw SyncError(.unusableDocument, "asked for _id \(id), got \(answer.documentID)")
        }
        let parts = answer?.parted(from: DocumentVersion.fieldName)
        document = parts?.rest
        version = VersionField(parts?.first)
    }
}
