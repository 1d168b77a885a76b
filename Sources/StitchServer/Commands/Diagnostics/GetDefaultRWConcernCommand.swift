internal import BSONStore

/// Reports the default read and write concerns.
enum GetDefaultRWConcernCommand {
    static let definition = CommandDefinition(
        "getDefaultRWConcern", aliases: [], [.adminOnly],
        fields: ["inMemory": .flag], required: [],
        privileges: .access(.monitoring), underRules: .refused, gateway: .here,
        statements: nil, cursor: .none,
        .server { call in
            .reply([
                "defaultReadConcern": ["level": "local"],
                "defaultWriteConcern": ["w": "majority", "wtimeout": 0],
                "defaultWriteConcernSource": "implicit",
                "defaultReadConcernSource": "implicit",
                "localUpdateWallClockTime": .datetime(.now),
            ])
        })
}
