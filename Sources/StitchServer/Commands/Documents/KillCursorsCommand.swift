internal import BSONStore

/// Ends cursors.
enum KillCursorsCommand {
    static let definition = CommandDefinition(
        "killCursors", aliases: [], [.inTransaction, .stable],
        fields: ["cursors": .array], required: ["cursors"],
        privileges: .cursor, underRules: .harmless, gateway: .here,
        statements: nil, cursor: .closes, .store(run))

    private static func run(_ call: CommandCall, _ backend: StoreBackend) throws -> CommandOutcome {
        _ = try call.collection()
        // A user with the role `root` may end other users' cursors.
        let user = call.connection.state.withLock { $0.user }
        let owner = user?.isBoundless == true ? nil : call.cursorOwner
        var killed: [BSONValue] = []
        var missing: [BSONValue] = []
        for (index, value) in (call.array("cursors") ?? []).enumerated() {
            try WorkBudget.spend()
            guard case .int64(let id) = value else {
                throw CommandFailure(
                    .typeMismatch,
                    "BSON field 'killCursors.cursors.\(index)' is the wrong type "
                        + "'\(value.type.alias)', expected type 'long'")
            }
            // As in MongoDB, the id alone names the cursor, whatever collection the command names.
            if backend.cursors.kill(id, by: owner) {
                killed.append(value)
            } else {
                missing.append(value)
            }
        }
        return .reply([
            "cursorsKilled": .array(BSONArray(killed)),
            "cursorsNotFound": .array(BSONArray(missing)), "cursorsAlive": [],
            "cursorsUnknown": [],
        ])
    }
}
