public import BSONStore

/// One step in the story of a document, as the device's journal keeps it.
///
/// ```swift
/// for entry in try await todos.history(of: 1) { print(entry) }
/// // 2026-11-29 12:00:00 written here: insert
/// // 2026-11-29 12:00:01 sent as operation 7f.1, attempt 1
/// // 2026-11-29 12:00:01 applied by the remote as version 0, operation 7f.1
/// ```
public struct HistoryEntry: Sendable, Hashable {
    /// The number of the entry in the store, which grows with each entry.
    public let number: Int64
    /// The time by this device's clock.
    public let time: BSONDatetime
    /// What happened.
    public let event: HistoryEvent
    /// The attempt that the event concerns.
    public let operation: OperationID?
    /// The document's version at the remote before the event; `nil` for none.
    public let versionBefore: HistoryVersion?
    /// The document's version at the remote after the event; `nil` for none.
    public let versionAfter: HistoryVersion?
}

/// The version of a document at the remote, in a story.
public struct HistoryVersion: Sendable, Hashable, CustomStringConvertible {
    /// The number of writes since the insert.
    public let counter: Int64
    /// The attempt that wrote the version; `nil` where another tool did.
    public let operation: OperationID?

    /// The counter and the instance that wrote the version: `4 of instance 7f`.
    public var description: String {
        guard let operation else { return "\(counter)" }
        return "\(counter) of instance \(String(operation.instance, radix: 16))"
    }
}

extension HistoryEntry: CustomStringConvertible {
    /// The time and the event in one line.
    public var description: String { "\(Self.text(of: time)) \(text)" }

    /// The event in words, without its time.
    public var text: String {
        switch event {
        case .written(let change): "written here: \(change)"
        case .sent(let change, let attempt):
            "sent\(operationText), attempt \(attempt): \(change)"
        case .applied: "applied by the remote\(resultText)"
        case .unanswered(let message): "not confirmed\(operationText): \(message)"
        case .notMatched:
            "not applied\(operationText): the remote holds another version, which is fetched"
        case .foundEqual: "found equal on both sides\(changeText)"
        case .conflictWaits: "conflict found, which waits for a conflict handler\(changeText)"
        case .recovered:
            "found at the remote after a lost answer\(resultText)"
        case .notFound(mayApplyLater: true):
            "not found at the remote\(operationText), which may still apply it"
        case .notFound(mayApplyLater: false):
            "not found at the remote\(operationText), so it was not applied"
        case .received(let change): "applied here: the remote's \(change)\(changeText)"
        case .enteredView: "entered the view\(changeText)"
        case .leftView: "left the view"
        case .resolved(let resolution, let fields):
            "conflict resolved: \(resolution.text)\(changeText)"
                + (fields.isEmpty ? "" : " (\(fields.map(\.name).joined(separator: ", ")))")
        case .refused(let refusal): "refused\(operationText): \(refusal)"
        case .reverted: "reverted here to the version that the remote confirmed"
        case .paused(let reason): "paused, \(reason): call resumeSync(of:)"
        case .resumed: "resumed"
        case .becameStale: "stale: the remote's document has to be fetched"
        case .synced: "sync began by its id"
        case .desynced: "sync ended"
        }
    }

    private var operationText: String { operation.map { " as operation \($0)" } ?? "" }

    private var resultText: String {
        guard let version = versionAfter?.counter else { return operationText }
        return " as version \(version)" + (operation.map { ", operation \($0)" } ?? "")
    }

    private var changeText: String {
        switch (versionBefore, versionAfter) {
        case (nil, nil): ""
        case (let before?, nil): ", from version \(before)"
        case (nil, let after?): ", as version \(after)"
        case (let before?, let after?): ", from version \(before.counter) to \(after)"
        }
    }

    /// Returns a time to the second in UTC.
    private static func text(of time: BSONDatetime) -> String {
        let date = ExtendedJSONDate(milliseconds: time.milliseconds)
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(date.year)-\(two(date.month))-\(two(date.day)) "
            + "\(two(date.hour)):\(two(date.minute)):\(two(date.second))"
    }
}

extension HistoryResolution {
    /// The resolution in words.
    var text: String {
        switch self {
        case .local: "the local edition was kept"
        case .remote: "the remote edition was taken"
        case .merged: "merged by the handler"
        case .deleted: "deleted"
        }
    }
}

extension HistoryRefusal: CustomStringConvertible {
    /// The cause, the role, the fields and the message.
    public var description: String {
        var text = message
        if let cause { text += "; cause \(cause)" }
        if let role { text += "; role \(role)" }
        if !fields.isEmpty { text += "; fields \(fields.joined(separator: ", "))" }
        return text
    }
}
