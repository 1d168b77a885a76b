internal import BSONStore

/// Reports the default read and write concerns.
enum GetDefaultRWConcernCommand {
    static let rule = CommandDefinition(
        "getDefaultRWConcern", [.adminOnly], fields: ["inMemory": .flag],
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
