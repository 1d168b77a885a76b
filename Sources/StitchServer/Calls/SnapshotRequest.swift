internal import BSONStore

/// The snapshot that a command reads.
struct SnapshotRequest: Sendable, Hashable {
    /// The time of the snapshot.
    let time: BSONTimestamp
    /// Whether to create the snapshot from the current state.
    let isNew: Bool

    /// Reads the read concern of a command; `nil` without the level `snapshot`.
    ///
    /// - Throws: 72 (InvalidOptions) with MongoDB's texts.
    init?(_ body: BSONDocument, _ signature: CommandSignature, _ clock: ClusterClock)
        throws(CommandFailure)
    {
        let concern = body["readConcern"]?.documentValue
        let time = concern?["atClusterTime"]
        guard concern?["level"]?.stringValue == "snapshot" else {
            guard time == nil else {
                throw CommandFailure(
                    .invalidOptions,
                    "readConcern.atClusterTime is only valid with readConcern level snapshot")
            }
            return nil
        }
        guard body["autocommit"] == nil else { return nil }
        // A cursor keeps reading the state of its first command.
        switch signature.cursor {
        case .continues, .closes: return nil
        case .none, .opens: break
        }
        guard signature.traits.contains(.takesSnapshot) else {
            throw CommandFailure(
                .invalidOptions,
                "Command \(signature.name) does not support { readConcern: { level: \"snapshot\", "
                    + "provenance: \"clientSupplied\" } } :: caused by :: read concern not "
                    + "supported")
        }
        guard concern?["afterClusterTime"] == nil || time == nil else {
            throw CommandFailure(
                .invalidOptions,
                "Specifying a timestamp for readConcern snapshot in a causally consistent session "
                    + "is not allowed. See documentation for more information.")
        }
        guard let time else {
            self.time = clock.advance()
            isNew = true
            return
        }
        guard case .timestamp(let given) = time else {
            throw CommandFailure(
                .typeMismatch,
                "BSON field 'readConcern.atClusterTime' is the wrong type "
                    + "'\(time.type.alias)', expected type 'timestamp'")
        }
        self.time = given
        isNew = false
    }

    static func text(_ time: BSONTimestamp) -> String {
        "Timestamp(\(time.seconds), \(time.increment))"
    }
}
