internal import BSONStore

/// Reports the configuration of the replica set.
enum ReplSetGetConfigCommand {
    static let definition = CommandDefinition(
        "replSetGetConfig", aliases: [], [.adminOnly],
        fields: nil, required: [],
        privileges: .access(.monitoring), underRules: .refused, gateway: .here,
        statements: nil, cursor: .none,
        .server { call in
            .reply([
                "config": [
                    "_id": .string(call.server.settings.replicaSet), "version": 1, "term": 1,
                    "members": [
                        [
                            "_id": 0, "host": .string(call.connection.local),
                            "arbiterOnly": false, "hidden": false, "priority": 1.0, "votes": 1,
                            "tags": [:],
                        ]
                    ], "protocolVersion": .int64(1),
                    "writeConcernMajorityJournalDefault": true, "settings": [:],
                ]
            ])
        })
}
