internal import BSONStore
internal import StitchRules

/// The conflicts that devices share with all gateways, in a capped collection of the upstream.
final class UpstreamConflicts: Sendable {
    /// The code of the upstream for a collection that exists.
    private static let namespaceExists: Int32 = 48

    private let link: UpstreamLink
    private let isPrepared = Locked(false)

    init(_ link: UpstreamLink) { self.link = link }

    /// Stores the conflicts of a command.
    ///
    /// - Throws: the errors of the arguments and of the upstream.
    func take(_ call: CommandCall, _ ruleGuard: RuleAccessPolicy?) throws -> CommandOutcome {
        let conflicts = try StitchsyncShareConflictCommand.conflicts(call, ruleGuard)
        try prepare()
        // A conflict that is sent again is a duplicate, of which the reply only tells.
        _ = try link.run(
            [
                "insert": .string(GatewayDatabase.conflicts.collection), "ordered": false,
                "documents": .array(BSONArray(conflicts.map(BSONValue.document))),
            ], on: GatewayDatabase.name, repeatedAs: .write, for: nil)
        return .reply(["n": .int32(Int32(clamping: conflicts.count))])
    }

    private func prepare() throws {
        guard !isPrepared.withLock({ $0 }) else { return }
        do {
            _ = try link.run(
                [
                    "create": .string(GatewayDatabase.conflicts.collection), "capped": true,
                    "size": .int64(Int64(StoredConflicts.bytesMax)),
                    "max": .int32(Int32(StoredConflicts.countMax)),
                ], on: GatewayDatabase.name, repeatedAs: .read, for: nil)
        } catch let failure as CommandFailure where failure.code == Self.namespaceExists {
            // Another gateway has created it.
        }
        isPrepared.withLock { $0 = true }
    }
}
