import BSONQuery

/// An object that runs a function piece by piece, up to each `yield` of it.
///
/// The function runs on a thread of its own, which waits while the caller runs and the other way
/// round, so that both may use the interpreter.
final class ScriptGenerator: ScriptHost {
    private let interpreter: ScriptInterpreter
    private let run: ScriptRun

    /// Creates a generator, whose function begins with the first call of `next`.
    init(
        _ interpreter: ScriptInterpreter,
        _ body: @escaping () throws(ScriptFailure) -> ScriptValue
    ) {
        self.interpreter = interpreter
        run = ScriptRun(interpreter, body)
    }

    deinit { run.abandon() }

    var text: String { "Object [Generator] {}" }

    func property(_ name: String) throws -> ScriptValue? {
        switch name {
        case "next":
            return .native(name) { [self] in try result(run.next(.value($0.first ?? .undefined))) }
        case "return":
            return .native(name) { [self] values in
                run.abandon()
                return try result(.returned(values.first ?? .undefined))
            }
        case "throw":
            return .native(name) { [self] in try result(run.next(.error($0.first ?? .undefined))) }
        case ScriptSymbol.iterator: return .native("[Symbol.iterator]") { [self] _ in .host(self) }
        default: return nil
        }
    }

    func items() throws -> (() throws -> ScriptValue?)? {
        return { [self] in
            if case .yielded(let value) = try run.next(.value(.undefined)) { value } else { nil }
        }
    }

    private func result(_ report: ScriptRun.Report) throws -> ScriptValue {
        let object = ScriptObject()
        switch report {
        case .yielded(let value):
            object.set("value", value)
            object.set("done", .bool(false))
        case .returned(let value):
            object.set("value", value)
            object.set("done", .bool(true))
        case .failed(let failure): throw failure
        }
        return .object(object)
    }
}

/// A function on a thread of its own that takes turns with its caller.
final class ScriptRun {
    /// What the function's `yield` receives.
    enum Resumption {
        case value(ScriptValue)
        case error(ScriptValue)
        case abandoned
    }

    /// What the caller receives.
    enum Report {
        case yielded(ScriptValue)
        case returned(ScriptValue)
        case failed(ScriptFailure)
    }

    private struct State {
        var resumption: Resumption?
        var report: Report?
    }

    private enum Progress {
        case new
        case suspended
        case running
        case over
    }

    private unowned let interpreter: ScriptInterpreter
    private let body: () throws(ScriptFailure) -> ScriptValue
    private let state = ThreadCondition(State())
    private var progress = Progress.new

    /// The bytes of the thread's stack that the function may use.
    private static let stackBytesMax = 4 << 20

    init(
        _ interpreter: ScriptInterpreter,
        _ body: @escaping () throws(ScriptFailure) -> ScriptValue
    ) {
        self.interpreter = interpreter
        self.body = body
    }

    /// Runs the function up to its next `yield` or its end.
    func next(_ resumption: Resumption) throws(ScriptFailure) -> Report {
        switch progress {
        case .running: throw interpreter.fail("TypeError", "Generator is already running")
        case .over:
            guard case .error(let value) = resumption else { return .returned(.undefined) }
            interpreter.throwing(value)
            throw .thrown
        case .new:
            if case .error(let value) = resumption {
                progress = .over
                interpreter.throwing(value)
                throw .thrown
            }
        case .suspended: break
        }
        let isNew = if case .new = progress { true } else { false }
        progress = .running
        let turn = interpreter.turn
        let budget = WorkBudget.current ?? turn.budget
        interpreter.turn = ScriptTurn(budget: budget)
        if isNew {
            // The threads take turns, so that only one uses the interpreter at a time.
            nonisolated(unsafe) let run = self
            guard DetachedThread.start({ run.main() }) else {
                progress = .over
                interpreter.turn = turn
                throw interpreter.fail("Error", "the system cannot create a thread")
            }
        } else {
            state.withLock(waking: .all) { $0.resumption = resumption }
        }
        let report = state.wait { state -> ThreadWait<Report> in
            guard let report = state.report else { return .forSignal }
            state.report = nil
            return .done(report)
        }
        interpreter.turn = turn
        switch report {
        case .yielded: progress = .suspended
        case .returned: progress = .over
        case .failed(let failure):
            progress = .over
            throw failure
        }
        return report
    }

    /// Ends the function at the `yield` where it waits; it runs no further statement.
    func abandon() {
        guard case .suspended = progress else {
            if case .new = progress { progress = .over }
            return
        }
        do throws(ScriptFailure) {
            _ = try next(.abandoned)
        } catch {
            // This is the end that was asked for.
        }
    }

    /// Hands a value to the caller, and waits for its next turn.
    func yield(_ value: ScriptValue) throws(ScriptFailure) -> ScriptValue {
        let turn = interpreter.turn
        state.withLock(waking: .all) { $0.report = .yielded(value) }
        let resumption = state.wait { state -> ThreadWait<Resumption> in
            guard let resumption = state.resumption else { return .forSignal }
            state.resumption = nil
            return .done(resumption)
        }
        // Ctrl-C ends the evaluation that called last.
        let budget = interpreter.turn.budget
        interpreter.turn = turn
        interpreter.turn.budget = budget
        switch resumption {
        case .value(let value): return value
        case .error(let value):
            interpreter.throwing(value)
            throw .thrown
        case .abandoned: throw .failed(StoreError(.interrupted, "the generator is not used"))
        }
    }

    private func main() {
        interpreter.turn.run = self
        interpreter.turn.limitStack(to: Self.stackBytesMax)
        var report: Report
        do throws(ScriptFailure) {
            report = .returned(try body())
        } catch {
            report = .failed(error)
        }
        interpreter.turn.run = nil
        state.withLock(waking: .all) { $0.report = report }
        report = .returned(.undefined)
    }
}

/// The part of an interpreter's state that belongs to a thread.
struct ScriptTurn {
    /// The function that `yield` suspends.
    var run: ScriptRun?
    /// The budget of the evaluation, for threads that do not have it.
    var budget: WorkBudget?
    /// The lowest address to which calls may go.
    var stackLimit = UInt(0)
    /// The number of calls of `entering` that run.
    var entryCount = 1
    /// The number of levels.
    var depth = 0
    /// The number of functions that run.
    var callDepth = 1
    /// The place of the statement that runs.
    var place = 0
    /// The text that the place is in.
    var origin: ScriptOrigin?

    init(budget: WorkBudget?) { self.budget = budget }

    /// Allows calls some bytes of the thread's stack below here.
    mutating func limitStack(to bytes: Int) {
        stackLimit = ScriptStack.position() - UInt(bytes)
    }
}
