/// All roads.
enum Roads {
    /// Returns the roads of every area, in the order of the table.
    static func all(_ servers: SweptServers) -> [Road] {
        let local = [
            ValueRoads.all, StoreRoads.all, IndexRoads.all, QueryRoads.all, UpdateRoads.all,
            StageRoads.all, ExpressionRoads.all, TypedRoads.all, RulesRoads.all,
        ]
        let synced = [
            SyncRoads.all, SubscriptionRoads.all, ConflictRoads.all, AttachmentRoads.all,
        ]
        return local.flatMap(\.self) + synced.flatMap(\.self)
            + ServerRoads(servers: servers).all + ToolRoads.all
    }
}
