internal import BSONStore

/// Why a document is synced; the raw value is stored.
enum SyncReason: Int64 {
    /// A query of a subscription matches it. Without such a query it is removed from the device.
    case query = 0
    /// The app wrote it on this device.
    case localWrite = 1
    /// The app requested its id.
    case request = 2
}
