internal import BSONStore
internal import StitchRules

/// Remembers the last writes that rules denied, for operators, without what was to be written.
///
/// They are read as the collection `stitchsync.denied`, which is made up when it is asked for.
final class DeniedWrites: Sendable {
    /// So many are remembered at most.
    static let countMax = 10_000
    /// Where they are read.
    static let namespace = Namespace("stitchsync", "denied")
    /// The commands that read them.
    static let readers: Set<String> = ["aggregate", "count", "find"]
    /// Longer ids of documents are left out, and longer names are cut.
    private static let bytesMax = 256

    private struct State: Sendable {
        var entries: [BSONDocument] = []
        var count = 0
    }

    private let state = Locked(State())

    /// Notes a denied write, and logs it.
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
        state.withLock { state in
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
        }
    }

    /// Those that are remembered, the oldest first.
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

    /// A value in one line, whatever characters it has.
    private static func text(_ value: BSONValue) -> String {
        if value == .null { return "none" }
        let document: BSONDocument = ["": value]
        return String(document.extendedJSON(.relaxed).dropFirst(4).dropLast())
    }
}
