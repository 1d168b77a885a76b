import BenchmarkDriver

/// An operation that is measured through a driver and without one.
enum ServerRow: String, CaseIterable {
    case ping = "ping"
    case insert = "insert"
    case findByID = "find by _id"
    case findIndexed = "find 10 by an index"
    case update = "update by _id"
    case aggregate = "aggregate 1,000 documents"
    case cursor = "cursor over 10,000 documents"
    case insertMany = "insert 500"
    case count = "count 100 of 10,000"

    /// The operation's number in the driver's program.
    var driverRow: driver_row {
        switch self {
        case .ping: DRIVER_PING
        case .insert: DRIVER_INSERT
        case .findByID: DRIVER_FIND_BY_ID
        case .findIndexed: DRIVER_FIND_INDEXED
        case .update: DRIVER_UPDATE
        case .aggregate: DRIVER_AGGREGATE
        case .cursor: DRIVER_CURSOR
        case .insertMany: DRIVER_INSERT_500
        case .count: DRIVER_COUNT
        }
    }

    /// How often it is done on each connection.
    var count: Int {
        switch self {
        case .ping, .findByID, .findIndexed: 3_000
        case .insert, .update: 1_000
        case .aggregate: 200
        case .cursor, .insertMany: 20
        case .count: 100
        }
    }
}
