internal import BSONStore

extension RemoteChange {
    /// The largest document that is taken from the history, in bytes; larger ones are fetched, a few at
    /// a time.
    private static let toldBytesMax = 16 * 1024

    /// Returns the document that the change reports, if it certainly is a later edition than the one
    /// here, so that it need not be fetched; `nil` where the remote has to be asked.
    ///
    /// The history may lag behind the remote: after a conflict the device has the remote's newer edition,
    /// or has written one itself, before the history reports the older. Only the counter of a lineage,
    /// which grows with each write, tells them apart. Writes of other tools leave it as it is, and a
    /// restored document has an earlier one, so those are fetched. So is what has a change here, or an
    /// attempt that may still arrive: it may be a conflict, about which the newest edition decides.
    func document(succeeding record: SyncRecord) -> BSONDocument? {
        guard let content, content.byteCount <= Self.toldBytesMax, !isDelete, !leftView,
            case .version(let version)? = version,
            case .version(let known) = record.version, record.base != .absent,
            record.rowID != nil, !record.isPending, !record.isDeletedHere, record.staleMark == 0,
            record.pause == nil, record.attempt == nil, record.unresolved.isEmpty,
            version.counter > known.counter, version.lineage.hasSameBytes(as: known.lineage)
        else { return nil }
        return content
    }
}
