package import BSONStore

/// A conflict with its outcome, stored for tools, not for the engine.
package struct JournaledConflict: Sendable, Hashable {
    /// The outcome of a conflict.
    package enum Answer: Sendable, Hashable {
        /// The local edition was kept.
        case useLocal
        /// The remote edition was taken.
        case useRemote
        /// This document was stored on both sides.
        case use(BSONDocument)
        /// The document was deleted on both sides.
        case delete
        /// The handler or its answer failed for this reason, and the document was paused.
        case failed(String)
        /// The conflict waits, since there was no handler.
        case waits
    }

    /// The document's collection.
    package let namespace: Namespace
    /// The document's `_id`.
    package let documentID: BSONValue
    /// The confirmed edition; `nil` where the remote never held the document.
    package let base: BSONDocument?
    /// The local edition; `nil` for a delete.
    package let local: BSONDocument?
    /// The remote edition without its version field; `nil` for a delete.
    package let remote: BSONDocument?
    /// The version field of the base.
    package let baseVersion: BSONValue?
    /// The version field of the remote edition.
    package let remoteVersion: BSONValue?
    /// Whether the remote's edition may contain the local change already.
    package let mayHaveLanded: Bool
    /// The outcome of the conflict.
    package let answer: Answer
    /// The time of the outcome, by this device's clock.
    package let time: BSONDatetime
}

extension JournaledConflict {
    var byteCount: Int {
        let answered = if case .use(let document) = answer { document.byteCount } else { 0 }
        return [base, local, remote].reduce(answered) { $0 + ($1?.byteCount ?? 0) }
    }
}

extension JournaledConflict {
    /// The names of the fields in which a document holds a conflict.
    struct Keys {
        /// The document's `_id`.
        let documentID: String
        /// The time of the outcome.
        let time: String
        /// Whether the remote's edition may contain the local change already.
        let mayHaveLanded: String
        /// The name of the answer.
        let answer: String
        /// The document that the answer stores on both sides.
        let used: String
        /// The reason of a failure.
        let reason: String

        /// The fields of a device's journal.
        static let journal = Keys(
            documentID: "_id", time: "at", mayHaveLanded: "landed", answer: "answer",
            used: "used", reason: "reason")
        /// The fields of a conflict that a device shared with the server.
        static let shared = Keys(
            documentID: "documentID", time: "time", mayHaveLanded: "mayHaveLanded",
            answer: "decision", used: "result", reason: "code")
    }

    /// Reads a conflict; `nil` for another document.
    init?(_ document: BSONDocument, _ keys: Keys, in namespace: Namespace) {
        guard let id = document[keys.documentID], case .datetime(let time) = document[keys.time],
            let answer = Answer(document, keys)
        else { return nil }
        self.init(
            namespace: namespace, documentID: id, base: document["base"]?.documentValue,
            local: document["local"]?.documentValue, remote: document["remote"]?.documentValue,
            baseVersion: document["baseVersion"], remoteVersion: document["remoteVersion"],
            mayHaveLanded: document[keys.mayHaveLanded]?.boolValue ?? false, answer: answer,
            time: time)
    }

    /// Reads a conflict as the server returns it; `nil` where a role hid an edition, or for another
    /// document.
    ///
    /// - Throws: `StoreError` for an invalid namespace.
    package init?(shared document: BSONDocument) throws {
        guard let name = document["namespace"]?.stringValue, document["hidden"] == nil else {
            return nil
        }
        self.init(document, .shared, in: try Namespace(parsing: name))
    }
}

extension JournaledConflict.Answer {
    /// The answer's name in fixtures.
    package var name: String {
        switch self {
        case .useLocal: "useLocal"
        case .useRemote: "useRemote"
        case .use: "use"
        case .delete: "delete"
        case .failed: "fail"
        case .waits: "waits"
        }
    }

    fileprivate init?(_ document: BSONDocument, _ keys: JournaledConflict.Keys) {
        switch document[keys.answer]?.stringValue {
        case "useLocal": self = .useLocal
        case "useRemote": self = .useRemote
        case "delete": self = .delete
        case "waits": self = .waits
        case "fail": self = .failed(document[keys.reason]?.stringValue ?? "")
        case "use":
            guard let used = document[keys.used]?.documentValue else { return nil }
            self = .use(used)
        default: return nil
        }
    }
}
