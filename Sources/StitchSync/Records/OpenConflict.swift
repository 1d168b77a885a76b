internal import BSONStore

/// A conflict as it was found: what the handler is shown, and the record that it was found for.
struct OpenConflict: Sendable {
    let record: SyncRecord
    let base: BSONDocument?
    let local: BSONDocument?
    let remote: RemoteEdition
    let mayHaveLanded: Bool
}
