internal import BSONStore

/// The devices that were connected to a server last, for operators.
///
/// A device is the store's file of an app: all its connections are one entry. Only devices whose engine
/// named itself are kept. They are in memory, and `StoredDevices` has them in a store's file as well.
final class SeenDevices: Sendable {
    /// The maximum number of kept devices.
    static let countMax = 1_000
    /// The maximum number of kept instances of a device, the newest ones.
    private static let instancesMax = 16
    /// The maximum number of kept collections of a device.
    private static let namespacesMax = 16

    private struct State: Sendable {
        var entries: [Name: BSONDocument] = [:]
        /// The entries that are not stored yet; those that are gone are to be removed.
        var changed: Set<Name> = []
    }

    private let state = Locked(State())

    /// Adds the entries of earlier runs.
    func load(_ earlier: [BSONDocument]) {
        state.withLock { state in
            for entry in earlier.suffix(Self.countMax) {
                guard let id = entry["_id"]?.stringValue else { continue }
                state.entries[Name(id)] = entry
            }
        }
    }

    /// Keeps what is known of a connected device.
    func note(_ seen: BSONDocument) {
        guard let id = seen["_id"]?.stringValue.map({ Name($0) }) else { return }
        state.withLock { state in
            let merged = Self.merged(state.entries[id], seen)
            guard state.entries[id] != merged else { return }
            state.entries[id] = merged
            state.changed.insert(id)
            if state.entries.count > Self.countMax { Self.removeOne(&state) }
        }
    }

    /// Removes the device that was seen least recently of the users with most devices, so that no
    /// user replaces those of others who have fewer.
    private static func removeOne(_ state: inout State) {
        let counts = Dictionary(grouping: state.entries.values) { Name($0.text("owner")) }
        let most = counts.values.map(\.count).max() ?? 0
        let crowd = counts.values.filter { $0.count == most }.joined()
        guard
            let oldest = crowd.min(by: { $0.milliseconds("lastSeen") < $1.milliseconds("lastSeen") }
            )
        else { return }
        let id = Name(oldest.text("_id"))
        state.entries[id] = nil
        state.changed.insert(id)
    }

    private static func merged(_ old: BSONDocument?, _ seen: BSONDocument) -> BSONDocument {
        guard let old else { return seen }
        var merged = seen
        merged.set("firstSeen", to: old["firstSeen"] ?? .null)
        if old.milliseconds("lastSeen") > seen.milliseconds("lastSeen") {
            merged.set("lastSeen", to: old["lastSeen"] ?? .null)
        }
        for (name, countMax) in [("namespaces", namespacesMax), ("instances", instancesMax)] {
            let new = seen[name]?.arrayValue.map(Array.init) ?? []
            let kept = (old[name]?.arrayValue.map(Array.init) ?? []).filter { !new.contains($0) }
            merged.set(name, to: .array(BSONArray((kept + new).suffix(countMax))))
        }
        merged.set("caughtUp", to: WriteReaders.merged(old["caughtUp"], seen["caughtUp"]))
        merged.set("backlog", to: WriteReaders.later(old["backlog"], seen["backlog"]))
        return merged
    }

    /// The kept devices.
    var entries: [BSONDocument] { state.withLock { Array($0.entries.values) } }

    /// Takes the entries that changed since the last call, and the ids of those that were removed.
    func takeChanges() -> (entries: [BSONDocument], removed: [String]) {
        state.withLock { state in
            defer { state.changed = [] }
            let entries = state.changed.compactMap { state.entries[$0] }
            return (entries, state.changed.filter { state.entries[$0] == nil }.map(\.text))
        }
    }

    /// Has entries stored by the next attempt after one that failed.
    func keepChanges(_ ids: [String]) {
        state.withLock { state in for id in ids { state.changed.insert(Name(id)) } }
    }
}

extension BSONDocument {
    fileprivate func text(_ name: String) -> String { self[name]?.stringValue ?? "" }

    fileprivate func milliseconds(_ name: String) -> Int64 {
        guard case .datetime(let date)? = self[name] else { return .min }
        return date.milliseconds
    }
}
