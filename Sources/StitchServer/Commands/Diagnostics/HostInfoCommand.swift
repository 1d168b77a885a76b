internal import BSONStore

/// Reports facts about the machine.
enum HostInfoCommand {
    static let definition = CommandDefinition(
        "hostInfo", aliases: [], [],
        fields: [:], required: [],
        privileges: .access(.signedIn), underRules: .refused, gateway: .here,
        statements: nil, cursor: .none,
        .server { call in
            .reply([
                "system": [
                    "currentTime": .datetime(.now), "hostname": .string(call.connection.local),
                    "cpuAddrSize": 64, "memSizeMB": .int64(0), "memLimitMB": .int64(0),
                    "numCores": 1, "cpuArch": "x86_64", "numaEnabled": false,
                ], "os": ["type": "Linux", "name": "Linux", "version": "-"], "extra": [:],
            ])
        })
}
