internal import BSONStore
internal import StitchRules

extension SyncTransaction {
    /// Checks that the remote may allow a write; a return to the base is always allowed.
    ///
    /// - Throws: `SyncError` of code `.writeRefused`.
    func checkStrictly(
        from base: BSONDocument?, to after: BSONDocument?
    ) throws(SyncError) {
        guard let strict, !contentEqual(base, after),
            let write = strict.judge(from: base, to: after, in: namespace)
        else { return }
        throw SyncError(
            .writeRefused, write.reason, namespace: namespace, documentID: write.primaryKey,
            underlying: CompensatingWriteError([write]))
    }
}
