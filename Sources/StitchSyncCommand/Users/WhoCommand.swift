#if CommandLine && Server
    import ArgumentParser
    import BSONStore
    import StitchRemote

    /// The command that lists the devices that are connected to a server.
    struct WhoCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "who",
            abstract: "Show which devices are connected to a server or gateway.",
            discussion: """
                Shows a line for each device: user, app and its version, the device's name, driver, \
                platform, addresses, number of connections, when it was seen last, the last \
                command, the collections that it named last, and whether a command runs or waits. \
                --seen adds the devices that were connected before. Needs a user with a \
                monitoring role, such as clusterMonitor or root.

                Examples:
                  stitchsync who stitchsync://admin@localhost:27017
                  stitchsync who stitchsync://admin@localhost:27017 --seen
                  stitchsync who stitchsync://admin@localhost:27017 --all --json

                Exit code: 0, 1 when the server cannot be asked, 64 for a wrong command line.
                """)

        @Argument(help: "The server or gateway, stitchsync://….")
        var server: String

        @OptionGroup var signIn: SignInArguments

        @Flag(help: "Also show drivers, shells and other clients that are no devices.")
        var all = false

        @Flag(help: "Also show the devices that were connected before, the last 1,000.")
        var seen = false

        @Flag(help: "Write one JSON object per line.")
        var json = false

        func run() async throws {
            #if Remote
                let reply = try await ServerRemote.administrate(
                    ListedDevice.request, on: "admin", at: signIn.address(of: server))
                var devices = ListedDevice.devices(of: reply).filter { seen || $0.isConnected }
                if all {
                    devices += ListedClient.clients(of: reply).filter { !$0.isDevice }
                        .map { ListedDevice($0) }
                }
                let console = Console.standard
                if json {
                    return try devices.forEach {
                        try console.say($0.document.extendedJSON(.relaxed))
                    }
                }
                var table = TextTable(ListedDevice.titles)
                for device in devices { table.append(device.row) }
                for line in table.lines { try console.say(line) }
            #else
                throw SessionRemote.lacksServers
            #endif
        }
    }

    /// A connection to a server.
    struct ListedClient: Sendable {
        private let entry: BSONDocument

        /// Returns the clients of a reply to `currentOp`, each connection once, in order.
        static func clients(of reply: BSONDocument) -> [ListedClient] {
            var known: [Int64: BSONDocument] = [:]
            for value in reply["inprog"]?.arrayValue ?? [] {
                guard let entry = value.documentValue, entry["stitchsync"] != nil,
                    // The command that asks.
                    entry["command"]?.documentValue?["currentOp"] == nil,
                    let number = entry["connectionId"]?.int64Value
                else { continue }
                known[number] = entry
            }
            return known.sorted { $0.key < $1.key }.map { ListedClient(entry: $0.value) }
        }

        /// Whether the client is a device that syncs.
        var isDevice: Bool { activity["isDevice"]?.boolValue == true }

        /// The client in the form of a device.
        var device: BSONDocument {
            [
                "device": .null,
                "user": effectiveUser["user"] ?? .null,
                "database": effectiveUser["db"] ?? .null, "app": entry["appName"] ?? .null,
                "driver": .string(driver),
                "platform": metadata["os"]?.documentValue?["type"] ?? .null,
                "addresses": .array(BSONArray([entry["client"]].compactMap { $0 })),
                "connections": .array(BSONArray([entry["connectionId"]].compactMap { $0 })),
                "connected": true, "since": activity["since"] ?? .null,
                "lastSeen": activity["lastSeen"] ?? .null,
                "lastCommand": activity["lastCommand"] ?? .null,
                "commands": activity["commands"] ?? .null,
                "namespaces": activity["namespaces"] ?? [],
                "waiting": activity["waiting"] ?? false, "isDevice": .bool(isDevice),
            ]
        }

        private var activity: BSONDocument { entry["stitchsync"]?.documentValue ?? [:] }
        private var metadata: BSONDocument { entry["clientMetadata"]?.documentValue ?? [:] }

        private var effectiveUser: BSONDocument {
            entry["effectiveUsers"]?.arrayValue?.compactMap(\.documentValue).first ?? [:]
        }

        private var driver: String {
            let driver = metadata["driver"]?.documentValue
            return [driver?["name"], driver?["version"]].compactMap { $0?.stringValue }
                .joined(separator: " ")
        }
    }
#endif
