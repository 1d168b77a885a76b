internal import BSONStore

/// The stored form of an event; a number is never used again for another event.
extension HistoryEvent {
    /// The number of the event, and a detail of it.
    var code: (event: UInt8, detail: UInt8) {
        switch self {
        case .written(let change): (0, change.rawValue)
        case .sent(let change, _): (1, change.rawValue)
        case .applied: (2, 0)
        case .unanswered: (3, 0)
        case .notMatched: (4, 0)
        case .recovered: (5, 0)
        case .notFound(let mayApplyLater): (6, mayApplyLater ? 1 : 0)
        case .received(let change): (7, change.rawValue)
        case .enteredView: (8, 0)
        case .leftView: (9, 0)
        case .resolved(let resolution, _): (10, resolution.rawValue)
        case .refused: (11, 0)
        case .reverted: (12, 0)
        case .paused: (13, 0)
        case .resumed: (14, 0)
        case .becameStale: (15, 0)
        case .synced: (16, 0)
        case .desynced: (17, 0)
        case .foundEqual: (18, 0)
        case .conflictWaits: (19, 0)
        }
    }

    /// The further details; `nil` for an event without any.
    var details: BSONDocument? {
        switch self {
        case .unanswered(let message): ["message": .string(message.cut)]
        case .paused(let reason):
            ["code": .string(reason.code.rawValue), "message": .string(reason.message.cut)]
        case .refused(let refusal): refusal.document
        case .written, .sent, .applied, .notMatched, .recovered, .notFound, .received, .enteredView,
            .leftView, .resolved, .reverted, .resumed, .becameStale, .synced, .desynced,
            .foundEqual, .conflictWaits:
            nil
        }
    }

    /// The fields of a conflict, which are stored apart so that they can be removed when the
    /// document leaves the device.
    var fields: BSONDocument? {
        guard case .resolved(_, let fields) = self, !fields.isEmpty else { return nil }
        return ["fields": .array(BSONArray(fields.map { .document($0.document) }))]
    }

    /// Reads a stored event; `nil` for one that this library does not know.
    ///
    /// - Parameter fields: the stored ``fields``.
    init?(_ stored: StoredHistoryEntry, attempt: Int, fields: BSONDocument?) throws {
        let details = try stored.details.map { try BSONDocument(validating: $0) } ?? [:]
        let change = Change(rawValue: stored.detail)
        let message = details["message"]?.stringValue ?? ""
        let event: HistoryEvent? =
            switch stored.event {
            case 0: change.map(HistoryEvent.written)
            case 1: change.map { .sent($0, attempt: attempt) }
            case 2: .applied
            case 3: .unanswered(message)
            case 4: .notMatched
            case 5: .recovered
            case 6: .notFound(mayApplyLater: stored.detail == 1)
            case 7: change.map(HistoryEvent.received)
            case 8: .enteredView
            case 9: .leftView
            case 10:
                HistoryResolution(rawValue: stored.detail).map {
                    .resolved($0, HistoryField.list(fields?["fields"]))
                }
            case 11: .refused(HistoryRefusal(details))
            case 12: .reverted
            case 13:
                (details["code"]?.stringValue).flatMap(SyncError.Code.init).map {
                    .paused(PauseReason($0, message))
                }
            case 14: .resumed
            case 15: .becameStale
            case 16: .synced
            case 17: .desynced
            case 18: .foundEqual
            case 19: .conflictWaits
            default: nil
            }
        guard let event else { return nil }
        self = event
    }

    /// The maximum number of bytes of a stored value or text.
    static let valueBytesMax = 256
    /// The maximum number of stored fields of one conflict or refusal.
    static let fieldsMax = 16
}

extension HistoryRefusal {
    /// Describes a remote's error.
    init(_ error: RemoteError) {
        let write = error.compensatingWrite
        let fields: [String] =
            if case .fieldsDenied(let fields)? = write?.cause { fields } else { [] }
        self.init(
            cause: write?.cause.name, role: write?.role,
            fields: Array(fields.prefix(HistoryEvent.fieldsMax)),
            message: write?.reason ?? error.description)
    }

    fileprivate init(_ document: BSONDocument) {
        self.init(
            cause: document["cause"]?.stringValue, role: document["role"]?.stringValue,
            fields: document["fields"]?.arrayValue?.compactMap(\.stringValue) ?? [],
            message: document["message"]?.stringValue ?? "")
    }

    fileprivate var document: BSONDocument {
        var document: BSONDocument = ["message": .string(message.cut)]
        if let cause { document.append("cause", .string(cause)) }
        if let role { document.append("role", .string(role.cut)) }
        if !fields.isEmpty {
            document.append("fields", .array(BSONArray(fields.map { .string($0.cut) })))
        }
        return document
    }
}

extension HistoryField {
    fileprivate var document: BSONDocument {
        var document: BSONDocument = ["name": .string(name)]
        for (key, value) in [
            ("base", base), ("local", local), ("remote", remote), ("result", result),
        ] {
            if let value { document.append(key, value) }
        }
        return document
    }

    fileprivate static func list(_ value: BSONValue?) -> [HistoryField] {
        (value?.arrayValue.map(Array.init) ?? []).compactMap { value in
            guard let field = value.documentValue, let name = field["name"]?.stringValue else {
                return nil
            }
            return HistoryField(
                name: name, base: field["base"], local: field["local"], remote: field["remote"],
                result: field["result"])
        }
    }
}

extension String {
    /// The text, cut to a maximum number of bytes.
    var cut: String {
        guard utf8.count > HistoryEvent.valueBytesMax else { return self }
        return String(decoding: utf8.prefix(HistoryEvent.valueBytesMax), as: UTF8.self) + "…"
    }
}

extension HistoryEvent.Change {
    /// Describes the change from one edition to another.
    init(from before: BSONDocument?, to after: BSONDocument?) {
        self = after == nil ? .delete : before == nil ? .insert : .update
    }
}

extension AttemptBatch.Kind {
    /// The change that the attempt makes at the remote.
    var change: HistoryEvent.Change {
        switch self {
        case .insert: .insert
        case .update: .update
        case .delete: .delete
        }
    }
}
