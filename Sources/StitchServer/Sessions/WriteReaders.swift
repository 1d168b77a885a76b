package import BSONStore

/// The devices that follow a collection, and whether they have its newest changes.
package enum WriteReaders {
    /// The maximum number of collections of a device.
    static let collectionsMax = 64

    /// Returns the named devices that follow a collection, each with `upTo`, the time up to which it has all
    /// changes, and `hasSeen`, whether that is the newest change of a document.
    ///
    /// - Parameters:
    ///   - devices: the devices as `currentOp` lists them.
    ///   - newest: the time of the document's newest change in milliseconds since 1970.
    package static func readers(
        _ devices: [BSONDocument], of namespace: Namespace, since newest: Int64
    ) -> [BSONDocument] {
        devices.compactMap { device in
            // Other clients, such as this tool, read changes and keep none.
            guard device["device"]?.stringValue != nil else { return nil }
            let times = device["caughtUp"]?.arrayValue?.compactMap(\.documentValue) ?? []
            let found = times.first {
                $0["namespace"]?.stringValue?.hasSameBytes(as: namespace.description) == true
            }
            guard case .datetime(let time)? = found?["time"] else { return nil }
            var reader = BSONDocument()
            for name in ["device", "user", "database", "app", "appVersion", "connected"] {
                reader.append(name, device[name] ?? .null)
            }
            reader.append("upTo", .int64(time.milliseconds))
            reader.append("hasSeen", .bool(time.milliseconds >= newest))
            return reader
        }
    }

    /// Returns the later of two reports of what waits on a device.
    static func later(_ first: BSONValue?, _ second: BSONValue?) -> BSONValue {
        func time(_ backlog: BSONValue?) -> Int64 {
            guard case .datetime(let time)? = backlog?.documentValue?["time"] else { return .min }
            return time.milliseconds
        }
        return (time(first) > time(second) ? first : second) ?? .null
    }

    /// Returns the later times of two lists, the newest at the end.
    static func merged(_ first: BSONValue?, _ second: BSONValue?) -> BSONValue {
        var times: [(namespace: BSONValue, time: BSONValue)] = []
        for entry in [first, second].flatMap({ $0?.arrayValue.map(Array.init) ?? [] }) {
            guard let entry = entry.documentValue, let name = entry["namespace"],
                case .datetime(let time)? = entry["time"]
            else { continue }
            var latest = time
            if let index = times.firstIndex(where: { $0.namespace == name }) {
                if case .datetime(let other) = times[index].time,
                    other.milliseconds > time.milliseconds
                {
                    latest = other
                }
                times.remove(at: index)
            }
            times.append((name, .datetime(latest)))
        }
        return .array(
            BSONArray(
                times.suffix(collectionsMax).map { entry -> BSONValue in
                    ["namespace": entry.namespace, "time": entry.time]
                }))
    }
}
