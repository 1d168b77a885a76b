/// The reason why a write is refused, by a server or on a device.
///
/// Rules *deny* a write: the cases up to ``fieldsDenied(_:)``, and ``notAllowed``. The device itself
/// refuses one that no subscription asks for, and a remote one with content that it cannot store.
///
/// ```swift
/// if case .fieldsDenied(let paths) = error.compensatingWrite?.cause {
///     print("not writable: \(paths)")
/// }
/// ```
public enum DenialCause: Sendable, Hashable {
    /// The user has no role for the collection.
    case noRole
    /// The role that applies does not support sync.
    case roleNotSyncable
    /// The document does not match the role's write filter, before the write or as its result.
    case writeFilter(isOfResult: Bool)
    /// The role does not allow the insert.
    case insertDenied
    /// The role does not allow the delete.
    case deleteDenied
    /// The role does not allow writes of the document.
    case writeDenied
    /// The role does not allow writes of these fields, named by their paths.
    case fieldsDenied([String])
    /// No subscription matches the document, before or after the write.
    case outOfView
    /// The collection has no subscription.
    case noSubscription
    /// Not a rule, but the content: it is invalid or violates a unique index.
    case invalid
    /// Not a rule, but the content: the document is too large.
    case tooLarge
    /// The rule is not reported: the write would replace something that is hidden from the user, the
    /// user may no longer see the document, or the remote named no rule.
    case notAllowed

    /// The cause's name in an error's `errInfo` and in stored rejected writes.
    public var name: String {
        switch self {
        case .noRole: "noRole"
        case .roleNotSyncable: "roleNotSyncable"
        case .writeFilter(isOfResult: false): "writeFilter"
        case .writeFilter(isOfResult: true): "writeFilterAfter"
        case .insertDenied: "insertDenied"
        case .deleteDenied: "deleteDenied"
        case .writeDenied: "writeDenied"
        case .fieldsDenied: "fieldsDenied"
        case .outOfView: "outOfView"
        case .noSubscription: "noSubscription"
        case .invalid: "invalid"
        case .tooLarge: "tooLarge"
        case .notAllowed: "notAllowed"
        }
    }

    /// Reads a cause from its name; `nil` for an unknown one.
    ///
    /// - Parameter fields: the paths of the fields that the role makes read-only.
    package init?(name: String, fields: [String]) {
        let causes = Self.withoutFields + [.fieldsDenied(fields)]
        guard let cause = causes.first(where: { $0.name == name }) else { return nil }
        self = cause
    }

    private static let withoutFields: [Self] = [
        .noRole, .roleNotSyncable, .writeFilter(isOfResult: false), .writeFilter(isOfResult: true),
        .insertDenied, .deleteDenied, .writeDenied, .outOfView, .noSubscription, .invalid,
        .tooLarge, .notAllowed,
    ]
}
