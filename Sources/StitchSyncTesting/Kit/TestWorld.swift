public import BSONStore
public import StitchSync

/// A remote in memory and the devices that sync with it, for tests of an app's sync.
///
/// ```swift
/// let world = try TestWorld()
/// let phone = try await world.device("phone") { engine in
///     await engine.collection(items).configure(conflictHandler: .mergeFields())
/// }
/// ```
public final class TestWorld: Sendable {
    /// The remote's store, for tests that change remote documents as another client.
    public let remoteStore: DocumentStore
    /// The remote of all devices.
    public let remote: any Remote
    /// The clock of all devices, which stands still until a test advances it.
    public let clock: ManualClock

    private let devices = Locked<[TestDevice]>([])

    /// Makes a world with an empty remote and no devices.
    ///
    /// - Throws: `StoreError` when the store cannot be opened.
    public init() throws {
        remoteStore = try DocumentStore(
            at: .inMemory, options: .init(changeHistory: .keep(changesMax: 100_000)))
        clock = ManualClock()
        remote = InProcessRemote(store: remoteStore, clock: clock)
    }

    /// Makes a device with an empty store.
    ///
    /// - Parameter configure: the app's calls of `configure`, which run at each start of the
    ///   device.
    /// - Throws: the errors of `configure`, `StoreError`.
    public func device(
        _ name: String, limits: SyncLimits = SyncLimits(),
        configure: @escaping TestDevice.Configure
    ) async throws -> TestDevice {
        let device = try await TestDevice(
            name: name, remote: remote, clock: clock, limits: limits, configure: configure)
        devices.withLock { $0.append(device) }
        return device
    }

    /// Runs passes on all devices, in turn, until no device has anything to do.
    ///
    /// - Throws: `NotSettledError` when that takes more rounds; the errors of passes.
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

    /// Checks that no device has a pending change, a paused document or a stale one.
    ///
    /// - Throws: `NotSettledError`, which lists each such document.
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

/// The documents that are not settled after a test.
///
/// ```swift
/// do {
///     try await world.settle()
/// } catch let error as NotSettledError {
///     print(error.lines)
/// }
/// ```
public struct NotSettledError: Error, Sendable, CustomStringConvertible {
    /// One line for each document: the device, the collection, the `_id` and the state.
    public let lines: [String]

    /// All lines, or a message where passes found no end.
    public var description: String {
        lines.isEmpty ? "the devices go on for ever" : lines.joined(separator: "\n")
    }
}
