internal import BSONStore

/// The faults that tests inject by `configureFailPoint`.
final class FailPoints: Sendable {
    /// One injected fault, and how often it will still occur.
    struct Point: Sendable {
        var mode: Mode
        var data: BSONDocument
        var timesEntered: Int64 = 0
    }

    /// When a fault occurs.
    enum Mode: Sendable, Equatable {
        case off
        case always
        case times(Int)
        case skip(Int)
    }

    /// The names of the supported fail points.
    static let known: Set<String> = [
        "failCommand", "failGetMoreAfterCursorCheckout", "maxTimeAlwaysTimeOut",
        "maxTimeNeverTimeOut", "onPrimaryTransactionalWrite",
    ]

    private let points = Locked<[String: Point]>([:])

    /// Sets a fault; returns how often it had occurred before.
    func set(_ name: String, _ mode: Mode, _ data: BSONDocument) -> Int64 {
        points.withLock { points in
            let before = points[name]?.timesEntered ?? 0
            points[name] = Point(mode: mode, data: data, timesEntered: before)
            return before
        }
    }

    /// Returns the fault to inject into a command, and counts it.
    func fault(
        _ name: String, if isMeant: (BSONDocument) -> Bool
    ) -> BSONDocument? {
        points.withLock { points in
            guard var point = points[name], point.mode != .off, isMeant(point.data) else {
                return nil
            }
            defer { points[name] = point }
            switch point.mode {
            case .off: return nil
            case .always: break
            case .times(let times): point.mode = times > 1 ? .times(times - 1) : .off
            case .skip(let count) where count > 0:
                point.mode = .skip(count - 1)
                return nil
            case .skip: break
            }
            point.timesEntered += 1
            return point.data
        }
    }
}
