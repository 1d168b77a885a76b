internal import BSONCoreC
internal import Synchronization

/// A bound on one command's work: a deadline and a way to stop it.
///
/// A working thread knows its budget (``running(_:)``). Every loop whose length a client determines
/// counts its steps with ``spend(_:)``, or with ``isOver(after:)`` if it cannot throw. The clock is
/// read after each ``stepsPerCheck`` of them, which take less than a millisecond. An answer that
/// was cut short by ``isOver(after:)`` is never used: the caller throws by ``check()`` first.
package final class WorkBudget: Sendable {
    /// The reason why work ends early.
    package enum Reason: Int, Sendable {
        /// A request to stop the work, or a client that disconnected.
        case interrupted = 1
        /// The server shuts down.
        case shutdown = 2
    }

    /// The deadline of the work; `nil` without a limit.
    package let deadline: ContinuousClock.Instant?
    /// The memory that the work may hold; `nil` without a limit.
    package let memory: MemoryShare?
    /// The budget of which this one is a part.
    private let outer: WorkBudget?
    private let reason = Atomic<Int>(0)

    /// The number of steps between two reads of the clock; one takes up to about a microsecond.
    private static let stepsPerCheck: Int32 = 512

    /// Creates a budget of time and memory.
    ///
    /// - Parameters:
    ///   - memory: the memory that the work shares with others.
    ///   - outer: a budget whose end ends this one, too.
    package init(
        deadline: ContinuousClock.Instant? = nil, memory: MemoryBudget? = nil,
        within outer: WorkBudget? = nil
    ) {
        self.deadline = deadline
        self.outer = outer
        self.memory = memory.map(MemoryShare.init)
    }

    /// Stops the work; the first reason stays.
    package func stop(_ reason: Reason) {
        _ = self.reason.compareExchange(
            expected: 0, desired: reason.rawValue, ordering: .relaxed)
    }

    /// The reason why the work must end: 50 (MaxTimeMSExpired), 11601 (Interrupted) or 11600
    /// (InterruptedAtShutdown); `nil` while it may continue.
    package var fault: StoreError? {
        switch Reason(rawValue: reason.load(ordering: .relaxed)) {
        case .interrupted:
            return StoreError(.interrupted, "operation was interrupted")
        case .shutdown:
            return StoreError(.interruptedAtShutdown, "interrupted at shutdown")
        case nil: break
        }
        guard let deadline, deadline <= .now else { return outer?.fault }
        return StoreError(.maxTimeMSExpired, "operation exceeded time limit")
    }

    /// Runs a part of the work on this thread with this budget.
    @inline(never)
    package func running<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        let before = bsonstore_get_budget()
        bsonstore_set_budget(Unmanaged.passUnretained(self).toOpaque())
        defer { bsonstore_set_budget(before) }
        return try withExtendedLifetime(self) { () throws(E) -> R in try body() }
    }

    /// The budget of this thread's work; `nil` if nothing bounds it.
    @inline(never)
    package static var current: WorkBudget? {
        guard let budget = bsonstore_get_budget() else { return nil }
        return Unmanaged<WorkBudget>.fromOpaque(budget).takeUnretainedValue()
    }

    /// Whether the work must end, checked after a number of steps; once true, it stays true.
    @inline(never)
    package static func isOver(after steps: Int = 1) -> Bool {
        guard bsonstore_spend(Int32(clamping: steps)) else { return false }
        guard let current, current.fault != nil else {
            bsonstore_refill(stepsPerCheck)
            return false
        }
        return true
    }

    /// The number of bytes that are copied in about a microsecond.
    static let bytesPerStep = 4_096

    /// Counts the steps of a copy; the next ``spend(_:)`` throws if the work must end.
    @inline(never)
    package static func noteCopy(of byteCount: Int) {
        _ = isOver(after: byteCount / bytesPerStep)
    }

    /// Counts steps.
    ///
    /// - Throws: ``fault``.
    package static func spend(_ steps: Int = 1) throws(StoreError) {
        if isOver(after: steps) { try check() }
    }

    /// Checks the budget without counting a step.
    ///
    /// - Throws: ``fault``.
    package static func check() throws(StoreError) {
        if let fault = current?.fault { throw fault }
    }
}
