internal import BSONStore
internal import StitchRules

/// The last writes that rules denied, for operators, without the contents of the writes.
///
/// Clients read them as the virtual collection `stitchsync.denied`. They are in memory; ``storing`` has
/// each stored as well: in the file of a store by `StoredDenials`, upstream of a gateway by `DenialLog`.
final class DeniedWrites: Sendable {
    /// The maximum number of kept entries.
    static let countMax = 10_000
    /// The namespace of the virtual collection.
    static let namespace = Namespace("stitchsync", "denied")
    /// The size limit in bytes: longer document ids are left out, longer names are cut.
    private static let bytesMax = 256

    private struct State: Sendable {
        var entries: [BSONDocument] = []
        /// The number since the start.
        var count = 0
        /// The number of the last entry.
        var last: Int64 = 0
        /// The place of the next entry.
        var next = 0

        mutating func keep(_ entry: BSONDocument) {
            if entries.count < DeniedWrites.countMax {
                entries.append(entry)
            } else {
                entries[next] = entry
                next = (next + 1) % DeniedWrites.countMax
            }
        }
    }

    private let state = Locked(State())
    /// Stores each entry; `nil` where only the memory has them.
    let storing = Locked<(@Sendable (BSONDocument) -> Void)?>(nil)

    /// Adds the entries of earlier runs, oldest first.
    func load(_ earlier: [BSONDocument]) {
        state.withLock { state in
            for entry in earlier.suffix(Self.countMax) {
                state.last = entry["_id"]?.int64Value ?? state.last
                state.keep(entry)
            }
        }
    }

    /// Stores and logs a denied write.
    func note(_ denial: RuleDenial, of user: String, _ log: ServerLog) {
        let id = Self.short(denial.documentID)
        let name = BSONValue.string(String(user.unicodeScalars.prefix(Self.bytesMax)))
        let field = Self.field(denial.cause)
        let role = denial.role.map(BSONValue.string) ?? .null
        log.write(
            .info,
            "denied a write: user \(Self.text(name)), collection "
                + Self.text(.string(denial.namespace.description))
                + ", _id \(id.map(Self.text) ?? "(long)"), role \(Self.text(role)), "
                + "cause \(denial.cause.name)"
                + (field.map { ", field \(Self.text($0))" } ?? ""))
        let entry = state.withLock { state in
            state.count += 1
            state.last += 1
            var entry: BSONDocument = [
                "_id": .int64(state.last), "time": .datetime(.now), "user": name,
                "collection": .string(denial.namespace.description),
            ]
            if let id { entry.append("documentID", id) }
            entry.append("role", role)
            entry.append("cause", .string(denial.cause.name))
            if let field { entry.append("field", field) }
            state.keep(entry)
            return entry
        }
        storing.withLock { $0 }?(entry)
    }

    /// The number of denied writes since the start.
    var count: Int { state.withLock { $0.count } }

    /// The kept entries, oldest first.
    var entries: [BSONDocument] {
        state.withLock { state in
            guard state.entries.count == Self.countMax else { return state.entries }
            return Array(state.entries[state.next...] + state.entries[..<state.next])
        }
    }

    /// Returns the first field that the role makes read-only; `nil` if fields are not the cause.
    private static func field(_ cause: DenialCause) -> BSONValue? {
        guard case .fieldsDenied(let paths) = cause, let path = paths.first else { return nil }
        return .string(String(path.unicodeScalars.prefix(bytesMax)))
    }

    private static func short(_ id: BSONValue) -> BSONValue? {
        let document: BSONDocument = ["_id": id]
        return document.byteCount <= bytesMax ? id : nil
    }

    /// Returns a value as text on one line, with control characters escaped.
    private static func text(_ value: BSONValue) -> String {
        if value == .null { return "none" }
        let document: BSONDocument = ["": value]
        return String(document.extendedJSON(.relaxed).dropFirst(4).dropLast())
    }
}
