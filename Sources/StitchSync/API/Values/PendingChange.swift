internal import BSONStore

/// The kind of difference between the local document and the confirmed one.
///
/// No operation is stored: the engine computes the difference of base and local at each upload.
///
/// ```swift
/// for rejected in try await todos.rejectedWrites.all() where rejected.change == .delete {
///     print("\(rejected.documentID) could not be deleted")
/// }
/// ```
public enum PendingChange: String, Sendable, Hashable, CaseIterable {
    /// Both are equal: nothing to upload.
    case none
    /// The document exists locally and not in the base.
    case insert
    /// The document exists in both and differs.
    case update
    /// The document exists in the base and not locally.
    case delete
}
