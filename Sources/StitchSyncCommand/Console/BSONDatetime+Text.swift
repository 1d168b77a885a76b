import BSONStore
import Foundation

extension BSONDatetime {
    /// The time to the second in UTC, as `2026-11-22T01:02:03Z`.
    var text: String {
        let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
        return date.formatted(.iso8601)
    }
}
