internal import BSONStore

extension RemoteChange {
    /// The largest document that is taken from the history, in bytes; larger ones are fetched, a few at
    /// a time.
    private static let toldBytesMax = 16 * 1024

    /// Whether the change made the edition that follows a version: the next one of its lineage.
    ///
    /// The history may lag behind the device, which has the remote's newer edition after a conflict, or
    /// one of its own: then the change does not follow what is here. The same holds for the writes of
    /// other tools, which leave the version as it is, and for restored documents.
    func follows(_ version: VersionField?) -> Bool {
        guard case .version(let next)? = self.version, case .version(let known)? = version else {
            return false
        }
        let (counter, isOver) = known.counter.addingReportingOverflow(1)
        return !isOver && next.counter == counter
            && next.lineage.hasSameBytes(as: known.lineage)
    }

    /// The document after the change, if it is told and small enough to be taken.
    var toldDocument: BSONDocument? {
        guard isTold, let content, content.byteCount <= Self.toldBytesMax, !isDelete, !leftView
        else { return nil }
        return content
    }
}

extension SyncRecord {
    /// Whether the record's document can be taken from the history without a look at the remote's
    /// newest edition, which decides about conflicts and lost answers.
    var takesToldDocuments: Bool {
        rowID != nil && base != .absent && !isPending && !isDeletedHere && staleMark == 0
            && pause == nil && attempt == nil && unresolved.isEmpty
    }
}
