package import BSONStore

/// A remote that takes the conflicts of devices.
package protocol ConflictCollector: Sendable {
    /// Sends conflicts of one collection; the remote ignores those that it has already.
    func share(_ conflicts: [BSONDocument], in namespace: Namespace) async throws(RemoteError)
}
