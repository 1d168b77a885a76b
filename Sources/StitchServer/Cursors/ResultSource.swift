internal import BSONStore

/// A source of documents that were all found when the cursor was opened.
enum ResultSource: CursorSource {
    case list(ListSource)
    case spool(SpoolSource)

    var memoryBytes: Int {
        switch self {
        case .list(let source): source.memoryBytes
        case .spool(let source): source.memoryBytes
        }
    }

    var isSpooled: Bool { if case .spool = self { true } else { false } }

    mutating func next(_ limits: BatchLimits, _ call: CommandCall) throws -> CursorBatch {
        switch self {
        case .list(var source):
            // Else the enum would keep a copy of the list during the change.
            self = .list(ListSource([]))
            defer { self = .list(source) }
            return source.next(limits, call)
        case .spool(var source):
            defer { self = .spool(source) }
            return try source.next(limits, call)
        }
    }
}
