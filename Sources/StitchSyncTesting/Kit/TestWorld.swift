public import BSONStore
public import StitchSync

/// A remote in memory and devices that sync with it: what a test of an app's sync needs.
///
/// ```swift
/// let world = try TestWorld()
/// let phone = try await world.device("phone") { engine in
///     await engine.collection(items).configure(conflictHandler: .mergeFields())
/// }
/// ```
public final class TestWorld: Sendable {
    /// The remote's documents, for tests that write to it as somebody else.
    public let remoteStore: DocumentStore
    /// What all devices sync with.
    public let remote: any Remote
    /// The time of all devices, which stands still until a test moves it.
    public let clock: ManualClock

    private let devices = Locked<[TestDevice]>([])

    /// Makes a remote that holds nothing.
    ///
    /// - Throws: `StoreError` when there is no memory.
    public init() throws {
        remoteStore = try DocumentStore(
            at: .inMemory, options: .init(changeHistory: .keep(changesMax: 100_000)))
        clock = ManualClock()
        remote = InProcessRemote(store: remoteStore, clock: clock)
    }

    /// Makes a device whose store is empty.
    ///
    /// - Parameter configure: the app's calls of `configure`, made at each start of the device.
    /// - Throws: what configuring throws, `StoreError`.
    public func device(
        _ name: String, limits: SyncLimits = SyncLimits(),
        configure: @escaping TestDevice.Configure
    ) async throws -> TestDevice {
        let device = try await TestDevice(
            name: name, remote: remote, clock: clock, limits: limits, configure: configure)
        devices.withLock { $0.append(device) }
        return device
    }

    /// Passes with all devices, in turn, until none has anything to do.
    ///
    /// - Throws: `NotSettledError` when that takes more rounds; what passes throw.
    public func settle(roundsMax: Int = 20) async throws {
        let devices = devices.withLock { $0 }
        for _ in 0..<roundsMax {
            var isQuiet = true
            for device in devices {
                let report = try await device.sync()
                if report?.isQuiet != true || report?.reachedRemote != true { isQuiet = false }
            }
            if isQuiet { return }
        }
        throw NotSettledError(lines: try await pending())
    }

    /// Fails where any device has something that is not sent, a document that is paused, or a remote
    /// edition that it has not looked at.
    ///
    /// - Throws: `NotSettledError`, which names each.
    public func expectNothingPending() async throws {
        let lines = try await pending()
        guard lines.isEmpty else { throw NotSettledError(lines: lines) }
    }

    private func pending() async throws -> [String] {
        var lines: [String] = []
        for device in devices.withLock({ $0 }) { lines += try await device.pending() }
        return lines
    }
}

/// Says what is left to do where nothing should be.
public struct NotSettledError: Error, Sendable, CustomStringConvertible {
    /// One line for each document: the device, the collection, the `_id` and its state.
    public let lines: [String]

    /// The lines.
    public var description: String {
        lines.isEmpty ? "the devices go on for ever" : lines.joined(separator: "\n")
    }
}
