internal import BSONStore

/// A remote document without its version field, and the field.
struct RemoteEdition: Sendable {
    let document: BSONDocument?
    let version: VersionField

    /// Separates the version field from a fetched document.
    ///
    /// - Throws: `SyncError` of code `.unusableDocument` when the answer has another `_id` or is
    ///   nested too deeply for a store.
    init(_ answer: BSONDocument?, of id: BSONValue) throws(SyncError) {
        if let answer, !answer.documentID.isSameID(as: id) {
            throw SyncError(
                .unusableDocument,
                "the remote answered with document \(answer.documentID) for the requested \(id)")
        }
        if let answer, Self.isTooDeep(answer) {
            throw SyncError(.unusableDocument, "the document \(id) is nested too deeply")
        }
        let parts = answer?.parted(from: DocumentVersion.fieldName)
        document = parts?.rest
        version = VersionField(parts?.first)
    }

    /// Returns whether a document is nested too deeply for a store, which could not read it again.
    static func isTooDeep(_ document: BSONDocument) -> Bool {
        // A level needs at least a length, an element's type and name, and the end.
        guard document.byteCount > BSONLimits().depthMax * 7 else { return false }
        return document.withUnsafeBytes { bytes in
            do throws(BSONError) {
                let limits = BSONLimits(documentBytesMax: bytes.count)
                try BSONValidator.validate(bytes, limits: limits)
                return false
            } catch {
                return error.code == .tooDeep
            }
        }
    }
}
