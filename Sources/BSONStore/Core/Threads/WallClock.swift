#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// The system's clock for updates.
package enum WallClock {
    private static let last = Locked(BSONTimestamp(seconds: 0, increment: 0))

    /// Milliseconds since 1970.
    package static var now: BSONDatetime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return BSONDatetime(
            milliseconds: Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// Returns a timestamp of this second that is greater than all earlier ones.
    package static func timestamp() -> BSONTimestamp {
        let seconds = UInt32(truncatingIfNeeded: now.milliseconds / 1_000)
        return last.withLock { last in
            last =
                last.seconds < seconds
                ? BSONTimestamp(seconds: seconds, increment: 1)
                : BSONTimestamp(seconds: last.seconds, increment: last.increment &+ 1)
            return last
        }
    }

    /// Returns the document with empty timestamps replaced by the current time, as MongoDB stores
    /// it.
    ///
    /// Only top-level fields other than `_id` count. Source: MongoDB manual, "BSON Types",
    /// "Timestamps".
    package static func fillingTimestamps(in document: BSONDocument) -> BSONDocument {
        // Few documents contain this type byte anywhere; for the others, no field is read.
        let type = Int32(BSONType.timestamp.rawValue)
        let hasByte = document.withUnsafeBytes { bytes in
            bytes.baseAddress.flatMap { memchr($0, type, bytes.count) } != nil
        }
        guard hasByte else { return document }
        let keys = document.withCursor { cursor in
            var keys: [String] = []
            while let element = cursor.next() {
                guard element.value.type == .timestamp, element.value.int64 == 0 else { continue }
                keys.append(String(decoding: element.key, as: UTF8.self))
            }
            return keys
        }
        var filled = document
        for key in keys where key != "_id" { filled[key] = .timestamp(timestamp()) }
        return filled
    }
}
