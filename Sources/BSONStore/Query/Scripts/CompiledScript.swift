/// A parsed script of `$where`, `$function` and similar operators, which runs any number of times.
///
/// `BSONScript` implements it; apps leave that module out unless they enable the trait `Scripts`.
package protocol CompiledScript: Sendable {
    /// Whether a document passes; the script sees it as `this` and `obj`.
    ///
    /// - Throws: 139 (JSInterpreterFailure) for an error that the script throws, 50
    ///   (MaxTimeMSExpired) if it exceeds its time.
    func accepts(_ document: BSONDocument) throws(StoreError) -> Bool

    /// Returns the script's result for arguments.
    ///
    /// - Parameter scope: the values that the script sees by name.
    /// - Throws: as ``accepts(_:)``, and an error if the result cannot be stored.
    func value(
        of arguments: [BSONValue], scope: BSONDocument
    ) throws(StoreError) -> BSONValue

    /// Returns the documents of `k` and `v` that the script emits; it sees a document as `this`.
    ///
    /// - Throws: as ``value(of:scope:)``; 31220 for a wrong call of `emit`.
    func emits(
        of document: BSONDocument, scope: BSONDocument
    ) throws(StoreError) -> [BSONDocument]
}
