internal import BSONStoreCSQLite
internal import Synchronization

/// Bounds one command's work: until when it may run, and whether somebody ended it.
///
/// The thread that works knows its budget (``running(_:)``). Every loop whose length a client
/// chooses counts its steps with ``spend(_:)``, or where it cannot throw with ``isOver(after:)``;
/// the clock is asked after each ``stepsPerCheck`` of them, which take less than a millisecond.
/// What answered something because of ``isOver(after:)`` is never believed: whoever called it
/// throws by ``check()`` before it uses the answer.
package final class WorkBudget: Sendable {
    /// Says why work ends before its time.
    package enum Reason: Int, Sendable {
        /// Somebody asked for it, or the client is gone.
        case interrupted = 1
        /// The server stops.
        case shutdown = 2
    }

    /// When the work must be done; `nil` without a limit.
    package let deadline: ContinuousClock.Instant?
    private let reason = Atomic<Int>(0)

    /// Steps between two looks at the clock; one takes up to about a microsecond.
    private static let stepsPerCheck: Int32 = 512

    /// Makes a budget.
    package init(deadline: ContinuousClock.Instant? = nil) { self.deadline = deadline }

    /// Ends the work; the first reason stays.
    package func stop(_ reason: Reason) {
        _ = self.reason.compareExchange(
            expected: 0, desired: reason.rawValue, ordering: .relaxed)
    }

    /// Why the work has to end: 50 (MaxTimeMSExpired), 11601 (Interrupted) or 11600
    /// (InterruptedAtShutdown); `nil` while it may go on.
    package var fault: StoreError? {
        switch Reason(rawValue: reason.load(ordering: .relaxed)) {
        case .interrupted:
            return StoreError(.interrupted, "operation was interrupted")
        case .shutdown:
            return StoreError(.interruptedAtShutdown, "interrupted at shutdown")
        case nil: break
        }
        guard let deadline, deadline <= .now else { return nil }
        return StoreError(.maxTimeMSExpired, "operation exceeded time limit")
    }

    /// Runs a part of the work on this thread.
    @inline(never)
    package func running<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        let before = bsonstore_get_budget()
        bsonstore_set_budget(Unmanaged.passUnretained(self).toOpaque())
        defer { bsonstore_set_budget(before) }
        return try withExtendedLifetime(self) { () throws(E) -> R in try body() }
    }

    /// The budget of what this thread does; `nil` where nothing bounds it.
    @inline(never)
    static var current: WorkBudget? {
        guard let budget = bsonstore_get_budget() else { return nil }
        return Unmanaged<WorkBudget>.fromOpaque(budget).takeUnretainedValue()
    }

    /// Whether the work has to end, asked after so many steps; from then on it stays so.
    @inline(never)
    static func isOver(after steps: Int = 1) -> Bool {
        guard bsonstore_spend(Int32(clamping: steps)) else { return false }
        guard let current, current.fault != nil else {
            bsonstore_refill(stepsPerCheck)
            return false
        }
        return true
    }

    /// Counts steps.
    ///
    /// - Throws: ``fault``.
    static func spend(_ steps: Int = 1) throws(StoreError) {
        if isOver(after: steps) { try check() }
    }

    /// Asks without counting.
    ///
    /// - Throws: ``fault``.
    static func check() throws(StoreError) {
        if let fault = current?.fault { throw fault }
    }
}
