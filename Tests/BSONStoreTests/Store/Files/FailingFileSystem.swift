internal import BSONStoreCSQLite

@testable import BSONStore

/// Lets SQLite's calls of the system fail: one of them, or all from one on.
///
/// Allocations are counted where ``FailingMemory`` is installed.
///
/// A layer of its own name over SQLite's, so that other tests do not notice. One test at a time.
enum FailingFileSystem {
    static let name = "failing"

    /// The calls that count.
    enum Call: String, Sendable {
        case open
        case write
        case sync
        case allocation

        /// Those of the file system.
        static let ofFiles: [Call] = [.open, .write, .sync]
    }

    /// Which call fails, counted from 1, and whether those after it do too.
    struct Plan: Sendable {
        var call: Call
        var number: Int
        var isLasting: Bool
    }

    fileprivate struct State: Sendable {
        var plan: Plan?
        var count = 0
        var failures = 0
    }

    fileprivate static let state = Locked(State())

    /// Runs a body while calls fail by a plan; tells how many did.
    static func failing<R>(_ plan: Plan, _ body: () throws -> R) rethrows -> (R, failures: Int) {
        _ = layer
        state.withLock { $0 = State(plan: plan) }
        let result = try body()
        let failures = state.withLock { state in
            defer { state = State() }
            return state.failures
        }
        return (result, failures)
    }

    /// Whether this call fails.
    static func fails(_ call: Call) -> Bool {
        state.withLock { state in
            guard let plan = state.plan, plan.call == call else { return false }
            state.count += 1
            let fails = plan.isLasting ? state.count >= plan.number : state.count == plan.number
            if fails { state.failures += 1 }
            return fails
        }
    }

    /// Registers the layer once; it lives as long as the process.
    static let layer: Bool = {
        guard let system = sqlite3_vfs_find(nil) else { return false }
        let layer = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        layer.initialize(to: system.pointee)
        layer.pointee.pNext = nil
        layer.pointee.zName = UnsafePointer(strdup(name))
        layer.pointee.xOpen = { _, path, file, flags, outFlags in
            guard let file, let system = sqlite3_vfs_find(nil) else { return SQLITE_CANTOPEN }
            guard !FailingFileSystem.fails(.open) else {
                file.pointee.pMethods = nil
                return SQLITE_CANTOPEN
            }
            let result = system.pointee.xOpen(system, path, file, flags, outFlags)
            if result == SQLITE_OK { FailingMethods.wrap(file) }
            return result
        }
        return sqlite3_vfs_register(layer, 0) == SQLITE_OK
    }()
}

/// Puts methods that may fail into the place of a file's own, of which there are few kinds.
private enum FailingMethods {
    /// Addresses of the system's methods with those of ours.
    private static let kinds = Locked<[UInt: UInt]>([:])

    static func wrap(_ file: UnsafeMutablePointer<sqlite3_file>) {
        guard let own = file.pointee.pMethods else { return }
        let address = kinds.withLock { kinds -> UInt in
            if let known = kinds[UInt(bitPattern: own)] { return known }
            let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
            methods.initialize(to: own.pointee)
            methods.pointee.xWrite = { file, bytes, count, offset in
                guard !FailingFileSystem.fails(.write) else { return SQLITE_IOERR | 3 << 8 }
                return FailingMethods.system(file)?.xWrite(file, bytes, count, offset)
                    ?? SQLITE_IOERR
            }
            methods.pointee.xSync = { file, flags in
                guard !FailingFileSystem.fails(.sync) else { return SQLITE_IOERR | 4 << 8 }
                return FailingMethods.system(file)?.xSync(file, flags) ?? SQLITE_IOERR
            }
            kinds[UInt(bitPattern: own)] = UInt(bitPattern: methods)
            return UInt(bitPattern: methods)
        }
        file.pointee.pMethods = UnsafePointer(bitPattern: address)
    }

    /// The system's methods of a file that was wrapped.
    static func system(_ file: UnsafeMutablePointer<sqlite3_file>?) -> sqlite3_io_methods? {
        guard let ours = file?.pointee.pMethods else { return nil }
        let address = kinds.withLock { kinds in
            kinds.first { $0.value == UInt(bitPattern: ours) }?.key ?? 0
        }
        return UnsafePointer<sqlite3_io_methods>(bitPattern: address)?.pointee
    }
}

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif
