internal import BSONStore

/// The earlier instances of the store's file (`sync_instances`) in one transaction, with the number
/// of operations that each has named.
struct FormerInstances {
    let connection: SQLiteConnection

    /// The largest number of instances that are kept, apart from the first one.
    private static let countMax = 1_000

    /// Keeps the present instance, which a new one replaces.
    func keepPresent() throws {
        try connection.executeOnce(
            """
            INSERT OR REPLACE INTO sync_instances(instance, operations)
            SELECT instance, operations FROM sync_instance
            """)
        try connection.executeOnce(
            """
            DELETE FROM sync_instances
            WHERE id <= (SELECT max(id) FROM sync_instances) - \(Self.countMax)
                AND id > (SELECT min(id) FROM sync_instances)
            """)
    }

    /// Returns the device's name: the first instance and the present one.
    func identity() throws(StoreError) -> DeviceIdentity {
        let present = try connection.int64("SELECT instance FROM sync_instance") ?? 0
        let first = try connection.int64("SELECT instance FROM sync_instances ORDER BY id LIMIT 1")
        return DeviceIdentity(
            first: UInt64(bitPattern: first ?? present), instance: UInt64(bitPattern: present))
    }

    /// Returns the number of operations of each earlier instance.
    func operations() throws -> [UInt64: UInt64] {
        let statement = try connection.prepare("SELECT instance, operations FROM sync_instances")
        var found: [UInt64: UInt64] = [:]
        while try statement.step() {
            found[UInt64(bitPattern: statement.int64(0))] = UInt64(bitPattern: statement.int64(1))
        }
        return found
    }
}
