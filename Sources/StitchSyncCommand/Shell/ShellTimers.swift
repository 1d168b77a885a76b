#if CommandLine
    import BSONScript

    /// The functions that `setTimeout` and its relatives run later.
    ///
    /// They run while a script awaits a promise or sleeps; the shell does not wait for them at its
    /// end, as MongoDB's does not.
    final class ShellTimers {
        private struct Timer {
            let id: Double
            var due: ContinuousClock.Instant
            let interval: Duration?
            let function: ScriptValue
            let arguments: [ScriptValue]
        }

        private unowned let session: ScriptSession
        private var timers: [Timer] = []
        private var lastID = 0.0

        init(_ session: ScriptSession) {
            self.session = session
            session.runNext = { [unowned self] in try runNext() }
            for name in ["setTimeout", "setInterval", "setImmediate", "queueMicrotask"] {
                session.define(name) { [unowned self] values in add(name, values) }
            }
            for name in ["clearTimeout", "clearInterval", "clearImmediate"] {
                session.define(name) { [unowned self] values in
                    let id = values.first?.number ?? .nan
                    timers.removeAll { $0.id == id }
                    return .undefined
                }
            }
        }

        private func add(_ name: String, _ values: [ScriptValue]) -> ScriptValue {
            guard let function = values.first else { return .undefined }
            let hasTime = name == "setTimeout" || name == "setInterval"
            let given = hasTime && values.count > 1 ? values[1].number : 0
            let length = Duration.milliseconds(
                given.isNaN ? 0 : max(hasTime ? 1 : 0, min(given, 1e12)))
            lastID += 1
            timers.append(
                Timer(
                    id: lastID, due: .now + length,
                    interval: name == "setInterval" ? length : nil, function: function,
                    arguments: Array(values.dropFirst(hasTime ? 2 : 1))))
            return .number(lastID)
        }

        /// Waits for the next function and runs it; returns whether there was one.
        private func runNext() throws -> Bool {
            guard let next = timers.indices.min(by: { timers[$0].due < timers[$1].due }) else {
                return false
            }
            let timer = timers[next]
            let left = timer.due - .now
            if left > .zero { try session.pause(milliseconds: left / .milliseconds(1)) }
            if let interval = timer.interval {
                timers[next].due = .now + interval
            } else {
                timers.remove(at: next)
            }
            _ = try session.call(timer.function, timer.arguments)
            return true
        }
    }
#endif
