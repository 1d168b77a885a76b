internal import BSONStore

/// Says what becomes of a local change that the remote refuses for good.
public struct RejectionPolicy<Document: Sendable>: Sendable {
    /// Answers about one refused write.
    public typealias Ask =
        @Sendable (RejectedWrite<Document>) async throws -> RejectionAnswer<Document>

    let rule: RejectionFacts.Rule
    let ask: Ask?

    private init(_ rule: RejectionFacts.Rule, _ ask: Ask? = nil) {
        self.rule = rule
        self.ask = ask
    }

    /// Takes back what rules or subscriptions refuse; what is refused for its content (a validator,
    /// a unique index, its size) pauses its document.
    public static var standard: Self { Self(.standard) }

    /// Takes back whatever is refused.
    ///
    /// The document is again what the remote confirmed last. What was written is kept among the
    /// rejected writes, see ``SyncCollection/rejectedWrites()``.
    public static var revert: Self { Self(.revert) }

    /// Keeps the change and pauses the document, as Stitch does; the next local write to it, or
    /// ``SyncCollection/resumeSync(of:)``, tries again.
    public static var pause: Self { Self(.pause) }

    /// Pauses the document and asks.
    ///
    /// The closure is called outside of any transaction and under no lock, for as long as a conflict
    /// handler may take; when it throws or takes too long, the document stays paused. After a crash it
    /// is asked again. What the app writes to the document meanwhile makes the question void.
    public static func ask(_ ask: @escaping Ask) -> Self { Self(.ask, ask) }

    /// The same policy for documents of another type.
    func mapped<Other>(
        _ ask: (@escaping Ask) -> RejectionPolicy<Other>.Ask
    ) -> RejectionPolicy<Other> {
        RejectionPolicy<Other>(rule, self.ask.map(ask))
    }
}

/// Says what becomes of one refused write.
public enum RejectionAnswer<Document: Sendable>: Sendable {
    /// It is taken back and kept among the rejected writes.
    case revert
    /// The document stays paused with it.
    case keepPaused
    /// The document becomes this one, which is sent in its place.
    case edit(Document)
}

extension DocumentCoding {
    /// A policy over an app's type as one over raw documents.
    func untyped(_ policy: RejectionPolicy<Document>) -> RejectionPolicy<BSONDocument> {
        policy.mapped { ask in
            { rejected in
                switch try await ask(typed(rejected)) {
                case .revert: .revert
                case .keepPaused: .keepPaused
                case .edit(let document):
                    .edit(try encode(document, rejected.latestDocument ?? rejected.base))
                }
            }
        }
    }

    /// A rejected write with the app's type.
    func typed(_ rejected: RejectedWrite<BSONDocument>) throws -> RejectedWrite<Document> {
        RejectedWrite(
            id: rejected.id, namespace: rejected.namespace, operationID: rejected.operationID,
            change: rejected.change, document: try rejected.document.map(decode),
            hasLaterEdits: rejected.hasLaterEdits,
            laterDocument: try rejected.laterDocument.map(decode),
            base: try rejected.base.map(decode), compensatingWrite: rejected.compensatingWrite,
            code: rejected.code, time: rejected.time)
    }
}
