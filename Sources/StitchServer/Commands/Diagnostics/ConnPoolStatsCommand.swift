internal import BSONStore

/// Reports the connections to other servers, of which there are none.
///
/// Source: MongoDB manual, "connPoolStats".
enum ConnPoolStatsCommand {
    static let definition = CommandDefinition(
        "connPoolStats", aliases: [], [],
        fields: [:], required: [],
        privileges: .access(.monitoring), underRules: .refused, gateway: .here,
        statements: nil, cursor: .none,
        .server { _ in
            .reply([
                "numClientConnections": 0, "numAScopedConnections": 0, "totalInUse": 0,
                "totalAvailable": 0, "totalLeased": 0, "totalCreated": 0, "totalRefreshing": 0,
                "totalRefreshed": 0, "pools": [:], "hosts": [:], "replicaSets": [:],
            ])
        })
}
