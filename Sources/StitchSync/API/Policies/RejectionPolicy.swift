internal import BSONStore

/// The treatment of a local change that the remote refuses permanently.
///
/// ```swift
/// await todos.configure(rejectionPolicy: .ask { rejected in
///     print(rejected.reason)
///     return .keepPaused
/// })
/// ```
public struct RejectionPolicy<Document: Sendable>: Sendable {
    /// A closure that decides about one refused write.
    ///
    /// ```swift
    /// let ask: RejectionPolicy<Todo>.Ask = { rejected in
    ///     rejected.change == .delete ? .revert : .keepPaused
    /// }
    /// ```
    public typealias Ask =
        @Sendable (RejectedWrite<Document>) async throws -> RejectionAnswer<Document>

    let rule: RejectionFacts.Rule
    let ask: Ask?

    private init(_ rule: RejectionFacts.Rule, _ ask: Ask? = nil) {
        self.rule = rule
        self.ask = ask
    }

    /// Reverts changes that rules or subscriptions forbid, and pauses the documents of others.
    ///
    /// The others are refused for their content: by a validator, a unique index or the size limit.
    public static var standard: Self { Self(.standard) }

    /// Reverts every refused change.
    ///
    /// The document returns to the edition that the remote last confirmed. The store keeps the
    /// refused write, see ``SyncCollection/rejectedWrites``.
    public static var revert: Self { Self(.revert) }

    /// Keeps the change and pauses the document, as Stitch does.
    ///
    /// The next local write to it, or ``SyncCollection/resumeSync(of:)``, tries again.
    public static var pause: Self { Self(.pause) }

    /// Pauses the document and calls a closure to decide.
    ///
    /// The engine calls the closure outside any transaction and lock, with the time limit of a
    /// conflict handler. When it throws or takes too long, the document stays paused. After a crash
    /// the engine calls it again. A write of the app to the document meanwhile makes the answer
    /// void.
    public static func ask(_ ask: @escaping Ask) -> Self { Self(.ask, ask) }

    /// Returns the policy for documents of another type.
    func mapped<Other>(
        _ ask: (@escaping Ask) -> RejectionPolicy<Other>.Ask
    ) -> RejectionPolicy<Other> {
        RejectionPolicy<Other>(rule, self.ask.map(ask))
    }
}

/// The app's decision about one refused write.
///
/// ```swift
/// await todos.configure(rejectionPolicy: .ask { rejected in
///     rejected.hasLaterEdits ? .keepPaused : .revert
/// })
/// ```
public enum RejectionAnswer<Document: Sendable>: Sendable {
    /// Revert the change and keep it among the rejected writes.
    case revert
    /// Leave the document paused with the change.
    case keepPaused
    /// Store this document and upload it instead.
    case edit(Document)
}

extension DocumentCoding {
    /// Returns a policy over raw documents that calls one over the app's type.
    func untyped(_ policy: RejectionPolicy<Document>) -> RejectionPolicy<BSONDocument> {
        policy.mapped { ask in
            { [self] rejected in
                switch try await ask(typed(rejected)) {
                case .revert: .revert
                case .keepPaused: .keepPaused
                case .edit(let document):
                    .edit(
                        try write(
                            document,
                            onto: [rejected.latestDocument, rejected.document, rejected.base]))
                }
            }
        }
    }

    /// Returns a rejected write with the app's type.
    ///
    /// - Throws: `EditionDecodingFailure`.
    private func typed(
        _ rejected: RejectedWrite<BSONDocument>
    ) throws(EditionDecodingFailure) -> RejectedWrite<Document> {
        rejected.mapped(
            document: try typed(rejected.document, "refused"),
            laterDocument: try typed(rejected.laterDocument, "local"),
            base: try typed(rejected.base, "base"))
    }

    /// Returns a rejected write with the app's type, without the documents that do not decode.
    func readable(_ rejected: RejectedWrite<BSONDocument>) -> RejectedWrite<Document> {
        var failure: String?
        func read(_ document: BSONDocument?) -> Document? {
            guard let document else { return nil }
            do {
                return try decode(document)
            } catch {
                let cause = DocumentDecodingFailure(error, decoding: document, as: Document.self)
                failure = failure ?? cause.description
                return nil
            }
        }
        var write = rejected.mapped(
            document: read(rejected.document), laterDocument: read(rejected.laterDocument),
            base: read(rejected.base))
        write.decodingFailure = failure
        return write
    }
}

extension RejectedWrite {
    /// Returns the same write with documents of another type.
    fileprivate func mapped<Typed>(
        document: Typed?, laterDocument: Typed?, base: Typed?
    ) -> RejectedWrite<Typed> {
        RejectedWrite<Typed>(
            id: id, namespace: namespace, operationID: operationID, change: change,
            document: document, hasLaterEdits: hasLaterEdits, laterDocument: laterDocument,
            base: base, compensatingWrite: compensatingWrite, code: code, time: time)
    }
}
