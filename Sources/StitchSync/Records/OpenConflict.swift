internal import BSONStore

/// A conflict before its resolution, with the handler's arguments and the record.
struct OpenConflict: Sendable {
    let record: SyncRecord
    let base: BSONDocument?
    let local: BSONDocument?
    let remote: RemoteEdition
    let mayHaveLanded: Bool
}
