internal import BSONStore
internal import StitchRules

extension SyncTransaction {
    /// Throws when a write is certainly not allowed; going back to the base always is.
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
