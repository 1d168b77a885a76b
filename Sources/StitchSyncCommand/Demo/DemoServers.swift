import BSONStore
import Foundation
import StitchRemote

/// The server processes of the demo: one on the remote's file, and perhaps two gateways to it.
final class DemoServers {
    private let upstream: DemoServer
    private var gateways: [DemoServer] = []
    /// The password of the devices' users.
    private let password = UUID().uuidString
    /// Whether each device connects to the other one's first gateway.
    private var isSwapped = false

    /// Starts the processes; ends those that run if one fails.
    init(_ files: DemoFiles, hasGateways: Bool) throws {
        upstream = try DemoServer(["--db", files.remote])
        guard hasGateways else { return }
        do {
            try Self.writeRules(files.rules)
            for _ in DemoPlan.Device.allCases {
                gateways.append(
                    try DemoServer([
                        "--upstream", "mongodb://127.0.0.1:\(upstream.port)/?replicaSet=rs0",
                        "--auth", "--sign-up", "--rules", files.rules,
                    ]))
            }
        } catch {
            stop()
            throw error
        }
    }

    /// The processes to which the devices connect, as part of a sentence.
    var summary: String {
        let uris = (gateways.isEmpty ? [upstream] : gateways).map(Self.uri)
        return gateways.isEmpty ? uris[0] : "the gateways " + uris.joined(separator: " and ")
    }

    /// The subject of a sentence that says what is killed.
    var name: String { gateways.isEmpty ? "The server" : "The server and both gateways" }

    /// The verbs for `name`.
    var verbs: (areKilled: String, start: String) {
        gateways.isEmpty ? ("is killed", "starts") : ("are killed", "start")
    }

    /// Returns the URI for a device, with its user.
    func uri(for device: DemoPlan.Device) -> String {
        guard !gateways.isEmpty else { return Self.uri(upstream) }
        return
            "stitchsync://\(device.rawValue):\(password)@127.0.0.1:\(gateway(of: device).port)"
            + "/\(DemoFiles.namespace.database)"
    }

    /// Creates a user for each device, through the device's own gateway; nothing without gateways.
    func signUp() async throws {
        guard !gateways.isEmpty else { return }
        #if Remote
            for device in DemoPlan.Device.allCases {
                _ = try await ServerRemote.register(
                    device.rawValue, password: password,
                    at: "\(Self.uri(gateway(of: device)))/\(DemoFiles.namespace.database)")
            }
        #else
            throw CommandError(
                "this program cannot sign up users; build it with the traits Tool and MongoRemote")
        #endif
    }

    /// Kills all processes (SIGKILL).
    func kill() {
        for server in gateways + [upstream] { server.kill() }
    }

    /// Starts the processes again; each device then connects to the other gateway.
    func start() throws {
        for server in [upstream] + gateways { try server.start() }
        isSwapped.toggle()
    }

    /// Stops all processes (SIGTERM).
    func stop() {
        for server in gateways + [upstream] { server.stop() }
    }

    private func gateway(of device: DemoPlan.Device) -> DemoServer {
        gateways[(device == .a) != isSwapped ? 0 : 1]
    }

    private static func uri(_ server: DemoServer) -> String {
        "stitchsync://127.0.0.1:\(server.port)"
    }

    /// Writes the rules: only the devices' users see and write the demo's collection.
    private static func writeRules(_ folder: String) throws {
        let namespace = DemoFiles.namespace
        let place = URL(filePath: folder).appending(
            path: "data_sources/mongodb-atlas/\(namespace.database)/\(namespace.collection)")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        let users = DemoPlan.Device.allCases.map { "\":\(namespace.database).\($0.rawValue)\"" }
        let rules = """
            {
              "roles": [{
                "name": "device",
                "apply_when": {"%%user.id": {"$in": [\(users.joined(separator: ", "))]}},
                "read": true, "write": true
              }]
            }

            """
        try Data(rules.utf8).write(to: place.appending(path: "rules.json"))
    }
}
