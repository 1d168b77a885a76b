import BSONStore
import TestProcesses
import Testing

@testable import StitchSync

/// One device whose way to a served remote leads through a proxy that cuts.
struct UnreliableWay {
    let device: Device
    let proxy: CuttingProxy
    let world: SyncWorld
    /// Lets tests do something before and after requests.
    let scripts: ScriptedRemote

    init(
        _ way: ServedWay, _ name: String = "A", in world: SyncWorld? = nil, inBulk: Bool? = nil,
        repeats: Bool = false
    ) async throws {
        let world = try world ?? Self.world(way)
        self.world = world
        let server = try #require(world.server)
        proxy = try CuttingProxy(to: server.port)
        var address = ServedAddress(port: proxy.port)
        address.user = server.user
        // One try a request, mostly: the remote's own second try would hide what is tested.
        address.repeats = repeats
        address.isOnly = true
        address.inBulk = inBulk
        scripts = ScriptedRemote(try way.remote(to: address))
        device = Device(
            name: name, world: world, store: try DocumentStore(at: .inMemory),
            handler: .remoteWins, remote: scripts)
        try await device.start()
    }

    /// A world whose remote is a server's process.
    static func world(_ way: ServedWay) throws -> SyncWorld {
        try SyncWorld.$remoteKind.withValue(.served(way)) { try SyncWorld() }
    }

    /// Kills a part of what the way leads to and starts it again; the way leads to the new one.
    func kill(_ part: KilledPart = .server) throws {
        let server = try #require(world.server)
        proxy.redirect(to: try server.killAndRestart(part))
    }

    /// Passes until nothing is left, over failures of the way.
    func settle(passesMax: Int = 20) async throws {
        for _ in 0..<passesMax {
            let report = try await device.sync()
            if report.reachedRemote && report.isQuiet { return }
        }
        Issue.record("\(device.name) is not quiet after \(passesMax) passes")
    }

    func close() { proxy.close() }
}
