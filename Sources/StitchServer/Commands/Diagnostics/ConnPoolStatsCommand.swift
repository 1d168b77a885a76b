internal import BSONStore

/// Reports the connections to other servers, of which there are none.
///
/// Source: MongoDB manual, "connPoolStats".
enum ConnPoolStatsCommand {
    static let rule = CommandDefinition(
        "connPoolStats", fields: [:],
        .server { _ in
            .reply([
                "numClientConnections": 0, "numAScopedConnections": 0, "totalInUse": 0,
                "totalAvailable": 0, "totalLeased": 0, "totalCreated": 0, "totalRefreshing": 0,
                "totalRefreshed": 0, "pools": [:], "hosts": [:], "replicaSets": [:],
            ])
        })
}
