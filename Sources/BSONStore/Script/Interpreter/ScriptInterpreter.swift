import BSONQuery

/// One run of a script.
final class ScriptInterpreter {
    /// The last value that the script threw.
    var thrown = ScriptValue.undefined
    /// The documents from calls of `emit`; `nil` if the script has no such function.
    var emitted: [BSONDocument]?
    /// Runs the next function that waits for its time; returns whether there was one.
    var runNext: (() throws -> Bool)?
    private var stepsToCheck = ScriptInterpreter.stepsPerCheck
    private var bytes = 0
    private var depth = 0
    /// The lowest address to which calls may go.
    private var stackLimit = UInt(0)
    private var entryCount = 0
    /// The generator that runs, and the budget of the thread that called it.
    private(set) var suspendable: ScriptRun?
    private var budget: WorkBudget?
    /// The number of symbols that the script has made.
    var symbolCount = 0
    let options: ScriptOptions
    private let deadline: ContinuousClock.Instant?
    /// The place of the statement that runs, and of the one that threw.
    var place = 0
    private(set) var thrownPlace = 0
    /// The text that the place is in, and the one of the statement that threw.
    var origin: ScriptOrigin?
    private(set) var thrownOrigin: ScriptOrigin?
    /// The value of the last statement outside of all functions that has one.
    var lastValue = ScriptValue.undefined
    /// The number of functions that run.
    private(set) var callDepth = 0
    /// The prototypes of the language's types that the script has asked for.
    var prototypes: [ScriptGlobal: ScriptObject] = [:]
    let globals = ScriptScope(in: nil, isFunction: true)
    /// The scopes that functions were created in, and objects that hold others: these may form
    /// reference cycles.
    private var scopes: [ScriptScope] = []
    private var changed: [ScriptObject] = []

    init(options: ScriptOptions = ScriptOptions()) {
        self.options = options
        deadline =
            options.hasDeadline
            ? ScriptLimits.deadline ?? .now + .seconds(ScriptLimits.secondsMax) : nil
    }

    /// Calls a function with values known by name.
    ///
    /// - Throws: 139 (JSInterpreterFailure) for an error that the script throws, 50
    ///   (MaxTimeMSExpired) if it exceeds its time.
    func run(
        _ function: ScriptFunction, this: ScriptValue, names: [Name: ScriptValue],
        _ arguments: [ScriptValue] = []
    ) throws(StoreError) -> ScriptValue {
        for (name, value) in names { globals.declare(name.text, value) }
        do throws(ScriptFailure) {
            let result = try call(function, in: globals, this: this, arguments)
            // A promise of a server's function would be stored as its value.
            return try awaited(result)
        } catch {
            switch error {
            case .failed(let error): throw error
            case .skipped: return .undefined
            case .thrown: throw StoreError(.scriptFailed, Self.message(of: thrown))
            }
        }
    }

    /// Records the arguments of `emit`.
    func emit(_ arguments: [ScriptValue]) throws(ScriptFailure) {
        guard emitted != nil else { throw fail("ReferenceError", "emit is not defined") }
        guard arguments.count == 2 else {
            throw .failed(.location(31220, "emit takes 2 args"))
        }
        let pair: BSONDocument
        do throws(StoreError) {
            let key = try arguments[0].stored()
            pair = ["k": key == .undefined ? .null : key, "v": try arguments[1].stored()]
        } catch {
            throw .failed(error)
        }
        try charge(pair.byteCount)
        emitted?.append(pair)
    }

    private static func message(of value: ScriptValue) -> String {
        if case .object(let object) = value, case .error = object.kind { return object.text }
        return "uncaught exception: \(value.text)"
    }

    // MARK: Memory

    /// Creates a value from a function.
    func value(
        of function: ScriptFunction, in scope: ScriptScope, this: ScriptValue? = nil
    ) throws(ScriptFailure) -> ScriptValue {
        try charge(64)
        scopes.append(scope)
        return .object(ScriptObject(.function(function, scope, this: this)))
    }

    /// Records that other values are stored in an object.
    func change(_ object: ScriptObject) throws(ScriptFailure) {
        guard !object.isChanged else { return }
        try charge(8)
        object.isChanged = true
        changed.append(object)
    }

    /// Empties everything that may form cycles; values of the interpreter are invalid afterwards.
    func forget() {
        for scope in scopes { scope.forget() }
        for object in changed { object.forget() }
    }

    // MARK: Limits

    private static let stepsPerCheck = 1_024

    /// Counts steps, and reads the clock now and then.
    func step(_ count: Int = 1) throws(ScriptFailure) {
        stepsToCheck -= count
        guard stepsToCheck <= 0 else { return }
        stepsToCheck = Self.stepsPerCheck
        try checkTime()
    }

    private func checkTime() throws(ScriptFailure) {
        if let fault = (budget ?? WorkBudget.current)?.fault { throw .failed(fault) }
        guard deadline.map({ $0 > .now }) ?? true else {
            throw .failed(StoreError(.maxTimeMSExpired, "operation exceeded time limit"))
        }
    }

    /// Counts the approximate bytes of a value.
    func charge(_ count: Int) throws(ScriptFailure) {
        bytes = count > options.bytesMax - bytes ? options.bytesMax + 1 : bytes + count
        guard bytes <= options.bytesMax else {
            throw .failed(StoreError(.scriptFailed, "InternalError: out of memory"))
        }
    }

    /// Checks that the memory limit allows a number of bytes, and counts them.
    func charge(_ count: Int, times: Int) throws(ScriptFailure) {
        let (product, isTooMuch) = count.multipliedReportingOverflow(by: times)
        try charge(isTooMuch ? options.bytesMax + 1 : product)
    }

    /// Returns the text of a value, within the memory that is left.
    func text(_ value: ScriptValue) throws(ScriptFailure) -> String {
        guard let object = value.object else { return value.text }
        guard object.isArray else { return try primitive(value, prefersText: true).text }
        var bytesLeft = ScriptLimits.bytesMax - min(bytes, ScriptLimits.bytesMax / 2)
        let text = object.text(&bytesLeft)
        if bytesLeft < 0 { try charge(options.bytesMax + 1) }
        try step(1 + text.utf8.count / 64)
        return text
    }

    /// Concatenates texts.
    func joined(
        _ values: [ScriptValue], separator: String = "", _ part: (ScriptValue) -> ScriptValue
    ) throws(ScriptFailure) -> String {
        var joined = ""
        for (index, value) in values.enumerated() {
            try step()
            let text = try text(part(value))
            try charge(text.utf8.count + (index > 0 ? separator.utf8.count : 0))
            if index > 0 { joined += separator }
            joined += text
        }
        return joined
    }

    /// Runs a body that may use as much of the stack of this thread as the options allow.
    func entering<R>(_ body: () throws(ScriptFailure) -> R) throws(ScriptFailure) -> R {
        if let bytes = options.stackBytesMax, entryCount == 0 {
            stackLimit = ScriptStack.position() - UInt(bytes)
        }
        entryCount += 1
        defer {
            entryCount -= 1
            // The next one may be on another thread.
            if entryCount == 0 { stackLimit = 0 }
        }
        return try body()
    }

    /// Runs a body one level deeper.
    func deeper<R>(_ body: () throws(ScriptFailure) -> R) throws(ScriptFailure) -> R {
        try descend()
        defer { ascend() }
        return try body()
    }

    /// The part of the state that belongs to a thread.
    var turn: ScriptTurn {
        get {
            var turn = ScriptTurn(budget: budget)
            turn.run = suspendable
            turn.stackLimit = stackLimit
            turn.entryCount = entryCount
            turn.depth = depth
            turn.callDepth = callDepth
            turn.place = place
            turn.origin = origin
            return turn
        }
        set {
            suspendable = newValue.run
            budget = newValue.budget
            stackLimit = newValue.stackLimit
            entryCount = newValue.entryCount
            depth = newValue.depth
            callDepth = newValue.callDepth
            place = newValue.place
            origin = newValue.origin
        }
    }

    /// Goes one level deeper, until `ascend`.
    func descend() throws(ScriptFailure) {
        if options.stackBytesMax != nil {
            guard ScriptStack.position() > stackLimit else {
                throw fail("RangeError", "Maximum call stack size exceeded")
            }
        } else if depth >= options.depthMax {
            throw .failed(StoreError(.scriptFailed, "InternalError: too much recursion"))
        }
        depth += 1
    }

    func ascend() { depth -= 1 }

    /// The longest pause without a look at the budget, in milliseconds.
    private static let pauseMSMax = 50

    /// Sleeps, but not beyond the deadline.
    func pause(milliseconds: Double) throws(ScriptFailure) {
        let length = milliseconds.isNaN ? 0 : max(0, min(milliseconds, 1e12))
        let wanted = ContinuousClock.now + .milliseconds(Int64(length))
        let end = deadline.map { min(wanted, $0) } ?? wanted
        let bell = ThreadCondition(())
        // The signal never arrives: this only waits for the timeout.
        while case let left = end - .now, left > .zero {
            bell.pause(milliseconds: min(Self.pauseMSMax, Int(left / .milliseconds(1)) + 1))
            try checkTime()
        }
        try checkTime()
    }

    /// Keeps a value that is thrown, and the place of the statement.
    func throwing(_ value: ScriptValue) {
        thrown = value
        thrownPlace = place
        thrownOrigin = origin
    }

    func fail(_ kind: String, _ message: String) -> ScriptFailure {
        throwing(.error(kind, message))
        return .thrown
    }

    /// Creates an error for scripts from a store error.
    func fail(_ error: StoreError) -> ScriptFailure {
        let parts = error.message.split(separator: ": ", maxSplits: 1)
        return parts.count == 2
            ? fail(String(parts[0]), String(parts[1])) : fail("Error", error.message)
    }
}

// MARK: - Calls

extension ScriptInterpreter {
    func call(
        _ function: ScriptFunction, in scope: ScriptScope, this: ScriptValue,
        _ arguments: [ScriptValue], isDerived: Bool = false
    ) throws(ScriptFailure) -> ScriptValue {
        try descend()
        defer { ascend() }
        try step()
        callDepth += 1
        let (caller, callerOrigin) = (place, origin)
        if let own = function.origin { origin = own }
        defer { callDepth -= 1 }
        let inner = ScriptScope(in: scope, isFunction: true)
        if !function.isArrow {
            inner.declare("arguments", .object(ScriptObject(elements: arguments)))
        }
        let frame = ScriptFrame(scope: inner, this: this, isDerived: isDerived)
        for (index, target) in function.parameters.enumerated() {
            let value = index < arguments.count ? arguments[index] : .undefined
            if case .place(.name(let name)) = target {
                inner.declare(name, value)
            } else {
                try bind(target, value, .block, frame)
            }
        }
        if let rest = function.rest {
            let further = Array(arguments.dropFirst(function.parameters.count))
            try charge(64 + 16 * further.count)
            try bind(rest, .object(ScriptObject(elements: further)), .block, frame)
        }
        for name in function.variables { inner.declareInFunction(name, nil) }
        let completion = try execute(function.body, frame)
        (place, origin) = (caller, callerOrigin)
        if case .return(let value) = completion { return value }
        return .undefined
    }

    /// Calls a value.
    func call(
        _ value: ScriptValue, this: ScriptValue, _ arguments: [ScriptValue],
        name: @autoclosure () -> String = "value"
    ) throws(ScriptFailure) -> ScriptValue {
        switch value.object?.kind {
        case .function(let function, let scope, let bound):
            if value.object?.construction != nil {
                throw fail(
                    "TypeError",
                    "Class constructor \(function.name ?? "") cannot be invoked without 'new'")
            }
            if function.isGenerator {
                return try generator(function, in: scope, this: bound ?? this, arguments)
            }
            guard !function.isAsync else {
                return try promise { () throws(ScriptFailure) in
                    try call(function, in: scope, this: bound ?? this, arguments)
                }
            }
            return try call(function, in: scope, this: bound ?? this, arguments)
        case .method(let method, let receiver):
            return try invoke(method, on: receiver, arguments) ?? .undefined
        case .native(_, let native):
            try step()
            return try call(native, arguments)
        case .global(let global) where global.isCallable:
            return try ScriptGlobalCalls(interpreter: self).call(global, arguments)
        default: throw fail("TypeError", "\(name()) is not a function")
        }
    }
}

extension ScriptInterpreter {
    /// Returns an object that runs a function piece by piece.
    private func generator(
        _ function: ScriptFunction, in scope: ScriptScope, this: ScriptValue,
        _ arguments: [ScriptValue]
    ) throws(ScriptFailure) -> ScriptValue {
        guard options.stackBytesMax != nil else {
            throw fail("SyntaxError", "generators are not supported")
        }
        try charge(4_096)
        scopes.append(scope)
        return .host(
            ScriptGenerator(self) { [unowned self] () throws(ScriptFailure) in
                try call(function, in: scope, this: this, arguments)
            })
    }

    /// Hands a value to the caller of the generator that runs.
    func yield(_ value: ScriptValue) throws(ScriptFailure) -> ScriptValue {
        guard let run = suspendable else {
            throw fail("SyntaxError", "yield outside of a generator")
        }
        return try run.yield(value)
    }

    /// Hands all items of a value to the caller of the generator that runs.
    func yieldAll(_ values: ScriptValue) throws(ScriptFailure) -> ScriptValue {
        try iterate(values) { (item) throws(ScriptFailure) in
            _ = try yield(item)
            return true
        }
        return .undefined
    }
}

/// The state of a function while it runs.
struct ScriptFrame {
    let scope: ScriptScope
    let this: ScriptValue
    /// Whether `super(…)` has to make `this`.
    var isDerived = false

    /// Returns the same frame with a separate scope for a block.
    var block: ScriptFrame {
        ScriptFrame(
            scope: ScriptScope(in: scope, isFunction: false), this: this, isDerived: isDerived)
    }
}
