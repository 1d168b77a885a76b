internal import BSONStore
internal import StitchRules

/// The way in which a gateway answers a command whose row says that it concerns the upstream.
///
/// It is decided here: from the command's row, its arguments, and whether rules bind the user. What
/// concerns the gateway itself, such as sessions and users, `GatewayBackend.run` answers before.
enum UpstreamRoute {
    /// A change stream, from the gateway's feed, which all of its clients share.
    case stream
    /// The record of deletions, which the gateways keep.
    case deletions
    /// A file beside a document, in the upstream's bucket.
    case attachments
    /// Upstream as it is, since no rules bind the user.
    case forwarded
    /// Upstream, as a query of the collection in which gateways keep what the server fills.
    case serverCollection(ServerCollection)
    /// The names of collections or databases, of those upstream that the user may know of.
    case collections, databases
    /// On a store with the definitions of the command's collections. When a query there reads
    /// documents, the upstream sends them, or counts them (``UpstreamCandidates``).
    case reading
    /// A pipeline with `$merge`: it reads like ``reading``, and merges into an excerpt that has the
    /// target's documents, since each change is judged by the document before it.
    case merging
    /// One write, on an excerpt with the documents that its query finds.
    case single
    /// A list of writes, each on an excerpt with the documents that its query finds; inserts that are
    /// all allowed need none.
    case statements(StatementList)

    /// Decides.
    ///
    /// - Throws: 13 (Unauthorized) for what the user may not do under rules, the error of a write to
    ///   a collection that the server fills, and those of a pipeline that cannot be read.
    init(
        _ definition: CommandDefinition, _ call: CommandCall, _ ruleGuard: RuleAccessPolicy?
    ) throws {
        if definition.gateway == .deletions {
            self = .deletions
        } else if definition.gateway == .attachments {
            self = .attachments
        } else if definition.gateway == .upstreamOrStream,
            try AggregateRequest(call).changeStream() != nil
        {
            self = .stream
        } else if ruleGuard == nil {
            if let collection = call.serverCollection {
                guard call.readsServerCollection else { throw collection.isReadOnly }
                self = .serverCollection(collection)
            } else {
                self = .forwarded
            }
        } else {
            switch definition.underRules {
            case .refused, .harmless, .reads(.tombstones), .attachments:
                throw RestrictedUse.refusal(call)
            case .reads(.collections): self = .collections
            case .reads(.databases): self = .databases
            case .reads(.documents):
                self = call.mayWrite(definition) ? .merging : .reading
            case .writes: self = definition.statements.map { .statements($0) } ?? .single
            }
        }
    }
}
