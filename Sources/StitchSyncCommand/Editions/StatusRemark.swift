import BSONStore

/// What keeps documents from being in step with the remote, with the command that helps.
struct StatusRemark: Sendable {
    /// The state in one or two words, such as `paused`.
    let state: String
    /// The collection; `nil` for the whole store.
    let namespace: Namespace?
    /// The document's `_id`; `nil` where several documents are meant.
    let documentID: BSONValue?
    /// The cause and the commands, which stand between backticks.
    let text: String

    /// The remark of a store that no remote knows.
    static let neverSynced = StatusRemark(
        state: "never synced", namespace: nil, documentID: nil,
        text: "no collection of this store was synced with a remote")

    /// The collection and the `_id` for people.
    var place: String {
        guard let namespace else { return "" }
        let id = documentID.map { " \($0.extendedJSON(.relaxed))" } ?? ""
        return "\(namespace)\(id)"
    }

    /// The remark as a line of `status`.
    var line: String { [state, place, text].filter { !$0.isEmpty }.joined(separator: ": ") }

    /// The remark as one JSON object.
    var object: BSONDocument {
        [
            "state": .string(state),
            "collection": namespace.map { .string($0.description) } ?? .null,
            "_id": documentID.map { .document(["value": $0]) } ?? .null, "text": .string(text),
        ]
    }
}
