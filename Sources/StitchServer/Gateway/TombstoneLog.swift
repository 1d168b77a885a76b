internal import BSONStore
internal import StitchRules

/// The deletions that gateways saw.
struct TombstoneLog {
    let link: UpstreamLink

    /// Answers `stitchsyncTombstones`.
    ///
    /// Nothing is known yet: no gateway fills the collection. Null says just that, and never explains
    /// an absence.
    func answer(_ call: CommandCall, _ ruleGuard: RuleAccessPolicy?) throws -> BSONDocument {
        let ids = call.array("ids") ?? []
        return ["tombstones": .array(BSONArray(ids.map { _ in .null }))]
    }
}
