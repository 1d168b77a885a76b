#if CommandLine && Server
    import BSONStore

    /// A device of a server as `stitchsync who` prints it.
    struct ListedDevice: Sendable {
        private let entry: BSONDocument

        /// The command that asks for clients and devices.
        ///
        /// MongoDB, which knows no devices, takes the comment and refuses any other option.
        static let request: BSONDocument = [
            "currentOp": 1, "$all": true, "comment": ["stitchsyncDevices": true],
        ]

        static let titles = [
            "user", "app", "device", "driver", "platform", "address", "connections", "last seen",
            "last command", "collections", "waits there", "state",
        ]

        /// Returns the devices of a reply to `currentOp`; of a server that knows none, its
        /// connections.
        static func devices(of reply: BSONDocument) -> [ListedDevice] {
            guard let devices = reply["devices"]?.arrayValue else {
                return ListedClient.clients(of: reply).filter(\.isDevice)
                    .map { ListedDevice(entry: $0.device) }
            }
            return devices.compactMap(\.documentValue).map { ListedDevice(entry: $0) }
        }

        /// Returns a client that is no device in the form of one.
        init(_ client: ListedClient) { entry = client.device }

        private init(entry: BSONDocument) { self.entry = entry }

        /// Whether the device is connected now.
        var isConnected: Bool { entry["connected"]?.boolValue == true }

        /// The line of the table.
        var row: [String] {
            [
                user, app, text("device"), text("driver"), text("platform"),
                list("addresses").joined(separator: ","), "\(list("connections").count)",
                lastSeen, text("lastCommand"), list("namespaces").joined(separator: ","), backlog,
                state,
            ].map { $0.isEmpty ? "-" : $0.printable }
        }

        /// The device as a JSON object.
        var document: BSONDocument {
            var document = BSONDocument()
            for (name, value) in entry where name != "_id" { document.append(name, value) }
            if document["isDevice"] == nil { document.append("isDevice", true) }
            return document
        }

        private var state: String {
            guard isConnected else { return "gone" }
            return entry["waiting"]?.boolValue == true ? "waiting" : "idle"
        }

        private var user: String {
            let name = text("user")
            return name.isEmpty ? "" : "\(name)@\(text("database"))"
        }

        private var app: String {
            [text("app"), text("appVersion")].filter { !$0.isEmpty }.joined(separator: " ")
        }

        private var backlog: String {
            guard let backlog = entry["backlog"]?.documentValue else { return "" }
            let parts = ["pending", "paused", "rejected"].compactMap { name -> String? in
                guard let count = backlog[name]?.int64Value, count > 0 else { return nil }
                return "\(count) \(name)"
            }
            return parts.isEmpty ? "nothing" : parts.joined(separator: ", ")
        }

        private var lastSeen: String {
            guard case .datetime(let time)? = entry["lastSeen"] else { return "" }
            return time.text
        }

        private func text(_ name: String) -> String { entry[name]?.stringValue ?? "" }

        private func list(_ name: String) -> [String] {
            (entry[name]?.arrayValue ?? []).map { $0.stringValue ?? $0.extendedJSON(.relaxed) }
        }
    }
#endif
