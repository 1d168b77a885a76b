internal import BSONStore

/// Reports the configuration of the replica set.
enum ReplSetGetConfigCommand {
    static let rule = CommandDefinition(
        "replSetGetConfig", [.adminOnly], fields: nil,
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
