internal import BSONStore

/// Reports the state of the replica set, whose only member is the server.
enum ReplSetGetStatusCommand {
    static let definition = CommandDefinition(
        "replSetGetStatus", aliases: [], [.adminOnly],
        fields: nil, required: [],
        privileges: .access(.monitoring), underRules: .refused, gateway: .here,
        statements: nil, cursor: .none,
        .server { call in
            let time = call.server.clock.now
            let standing = call.server.member.standing
            let state: BSONValue = standing.isPrimary ? 1 : 2
            let moment: BSONValue = ["ts": .timestamp(time), "t": .int64(standing.term)]
            return .reply([
                "set": .string(call.server.settings.replicaSet), "date": .datetime(.now),
                "myState": state, "term": .int64(standing.term),
                "heartbeatIntervalMillis": .int64(2_000), "majorityVoteCount": 1,
                "writeMajorityCount": 1, "votingMembersCount": 1,
                "writableVotingMembersCount": 1,
                "optimes": ["lastCommittedOpTime": moment, "appliedOpTime": moment],
                "members": [
                    [
                        "_id": 0, "name": .string(call.connection.local), "health": 1.0,
                        "state": state,
                        "stateStr": .string(standing.isPrimary ? "PRIMARY" : "SECONDARY"),
                        "uptime": .int64(call.server.uptime.components.seconds),
                        "optime": moment, "self": true, "configVersion": 1, "configTerm": 1,
                    ]
                ],
            ])
        })
}
