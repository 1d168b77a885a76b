internal import BSONStore

/// Tells the state of the replica set, whose only member the server is.
enum ReplSetGetStatusCommand {
    static let rule = CommandRule(
        "replSetGetStatus", [.adminOnly], fields: nil,
        .server { call in
            let time = call.server.clock.now
            let moment: BSONValue = ["ts": .timestamp(time), "t": .int64(1)]
            return .reply([
                "set": .string(call.server.settings.replicaSet), "date": .datetime(.now),
                "myState": 1, "term": .int64(1), "heartbeatIntervalMillis": .int64(2_000),
                "majorityVoteCount": 1, "writeMajorityCount": 1, "votingMembersCount": 1,
                "writableVotingMembersCount": 1,
                "optimes": ["lastCommittedOpTime": moment, "appliedOpTime": moment],
                "members": [
                    [
                        "_id": 0, "name": .string(call.connection.local), "health": 1.0,
                        "state": 1, "stateStr": "PRIMARY",
                        "uptime": .int64(call.server.uptime.components.seconds),
                        "optime": moment, "self": true, "configVersion": 1, "configTerm": 1,
                    ]
                ],
            ])
        })
}
