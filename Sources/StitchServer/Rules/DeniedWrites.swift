internal import BSONStore
internal import StitchRules

/// The last writes that rules denied, for operators, without the contents of the writes.
///
/// Clients read them as the virtual collection `stitchsync.denied`.
final class DeniedWrites: Sendable {
    /// The maximum number of kept entries.
    static let countMax = 10_000
    /// The namespace of the virtual collection.
    static let namespace = Namespace("stitchsync", "denied")
    /// The size limit in bytes: longer document ids are left out, longer names are cut.
    private static let bytesMax = 256

    private struct State: Sendable {
        var entries: [BSONDocument] = []
        var count = 0
    }

    private let state = Locked(State())
    /// Receives each entry, for a log that other processes share.
    let copies = Locked<(@Sendable (BSONDocument) -> Void)?>(nil)

    /// Stores and logs a denied write.
    func note(_ denial: RuleDenial, of user: String, _ log: ServerLog) {
        let id = Self.short(denial.documentID)
        let name = BSONValue.string(String(user.unicodeScalars.prefix(Self.bytesMax)))
        let role = denial.role.map(BSONValue.string) ?? .null
        log.write(
            .info,
            "denied a write: user \(Self.text(name)), collection "
                + Self.text(.string(denial.namespace.description))
                + ", _id \(id.map(Self.text) ?? "(long)"), role \(Self.text(role)), "
                + "cause \(denial.cause.name)")
        let entry = state.withLock { state in
            state.count += 1
            var entry: BSONDocument = [
                "_id": .int64(Int64(state.count)), "time": .datetime(.now), "user": name,
                "collection": .string(denial.namespace.description),
            ]
            if let id { entry.append("documentID", id) }
            entry.append("role", role)
            entry.append("cause", .string(denial.cause.name))
            if state.entries.count < Self.countMax {
                state.entries.append(entry)
            } else {
                state.entries[(state.count - 1) % Self.countMax] = entry
            }
            return entry
        }
        copies.withLock { $0 }?(entry)
    }

    /// The number of denied writes so far.
    var count: Int { state.withLock { $0.count } }

    /// The kept entries, oldest first.
    var entries: [BSONDocument] {
        state.withLock { state in
            guard state.entries.count == Self.countMax else { return state.entries }
            let first = state.count % Self.countMax
            return Array(state.entries[first...] + state.entries[..<first])
        }
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
