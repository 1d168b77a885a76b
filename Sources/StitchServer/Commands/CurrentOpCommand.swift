internal import BSONStore

/// Lists the cursors that are open.
enum CurrentOpCommand {
    static let rule = CommandRule(
        "currentOp", [.adminOnly], fields: nil,
        .store { call, store in
            let cursors = store.cursors.all.map { cursor in
                BSONValue.document([
                    "type": "idleCursor", "ns": .string(cursor.namespace.description),
                ])
            }
            return .reply(["inprog": .array(BSONArray(cursors))])
        })
}
