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
                Shows a line for each connection of a device: user, app, driver, platform, address, \
                since when, the last command, the collections that it named last, and whether a \
                command runs or waits. Needs a user with a monitoring role, such as clusterMonitor \
                or root.

                Examples:
                  stitchsync who stitchsync://admin@localhost:27017
                  stitchsync who stitchsync://admin@localhost:27017 --all --json

                Exit code: 0, 1 when the server cannot be asked, 64 for a wrong command line.
                """)

        @Argument(help: "The server or gateway, stitchsync://….")
        var server: String

        @OptionGroup var signIn: SignInArguments

        @Flag(help: "Also show drivers, shells and other clients that are no devices.")
        var all = false

        @Flag(help: "Write one JSON object per line.")
        var json = false

        func run() async throws {
            #if Remote
                let reply = try await ServerRemote.administrate(
                    ["currentOp": 1, "$all": true], on: "admin",
                    at: signIn.address(of: server))
                let clients = ListedClient.clients(of: reply).filter { all || $0.isDevice }
                let console = Console.standard
                if json {
                    return try clients.forEach {
                        try console.say($0.document.extendedJSON(.relaxed))
                    }
                }
                var table = TextTable(ListedClient.titles)
                for client in clients { table.append(client.row) }
                for line in table.lines { try console.say(line) }
            #else
                throw SessionRemote.lacksServers
            #endif
        }
    }

    /// A client of a server as `stitchsync who` prints it.
    struct ListedClient: Sendable {
        private let entry: BSONDocument

        static let titles = [
            "user", "app", "driver", "platform", "address", "since", "last command",
            "collections", "waiting",
        ]

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

        /// The line of the table.
        var row: [String] {
            let names = (activity["namespaces"]?.arrayValue ?? []).compactMap(\.stringValue)
            let cells = [
                user, entry["appName"]?.stringValue ?? "", driver, platform,
                entry["client"]?.stringValue ?? "", since,
                activity["lastCommand"]?.stringValue ?? "",
                names.joined(separator: ","), isWaiting ? "yes" : "no",
            ]
            return cells.map { $0.isEmpty ? "-" : $0.printable }
        }

        /// The client as a JSON object.
        var document: BSONDocument {
            [
                "connection": entry["connectionId"] ?? .null,
                "user": effectiveUser["user"] ?? .null,
                "database": effectiveUser["db"] ?? .null, "app": entry["appName"] ?? .null,
                "driver": .string(driver), "platform": .string(platform),
                "address": entry["client"] ?? .null, "since": activity["since"] ?? .null,
                "lastSeen": activity["lastSeen"] ?? .null,
                "lastCommand": activity["lastCommand"] ?? .null,
                "commands": activity["commands"] ?? .null,
                "namespaces": activity["namespaces"] ?? [], "waiting": .bool(isWaiting),
                "isDevice": .bool(isDevice),
            ]
        }

        private var activity: BSONDocument { entry["stitchsync"]?.documentValue ?? [:] }
        private var metadata: BSONDocument { entry["clientMetadata"]?.documentValue ?? [:] }
        private var isWaiting: Bool { activity["waiting"]?.boolValue == true }

        private var effectiveUser: BSONDocument {
            entry["effectiveUsers"]?.arrayValue?.compactMap(\.documentValue).first ?? [:]
        }

        private var user: String {
            guard let name = effectiveUser["user"]?.stringValue else { return "" }
            return "\(name)@\(effectiveUser["db"]?.stringValue ?? "")"
        }

        private var driver: String {
            let driver = metadata["driver"]?.documentValue
            return [driver?["name"], driver?["version"]].compactMap { $0?.stringValue }
                .joined(separator: " ")
        }

        private var platform: String {
            metadata["os"]?.documentValue?["type"]?.stringValue ?? ""
        }

        private var since: String {
            guard case .datetime(let time)? = activity["since"] else { return "" }
            return time.text
        }
    }
#endif
