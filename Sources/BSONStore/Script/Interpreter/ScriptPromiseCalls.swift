import BSONQuery

/// The functions and methods of `Promise`; what waits for a result runs as soon as there is one.
struct ScriptPromiseCalls {
    static let names: Set<String> = ["catch", "finally", "then"]

    let interpreter: ScriptInterpreter

    /// Creates a promise, and calls the function that settles it.
    func make(_ function: ScriptValue) throws(ScriptFailure) -> ScriptValue {
        guard function.object?.isCallable == true else {
            throw interpreter.fail(
                "TypeError", "Promise resolver \(function.text) is not a function")
        }
        let (promise, value) = try pending()
        let calls = self
        let resolve: ScriptNative = { arguments in
            guard case .pending = promise.state else { return .undefined }
            try calls.resolve(promise, arguments.first ?? .undefined)
            return .undefined
        }
        let reject: ScriptNative = { arguments in
            guard case .pending = promise.state else { return .undefined }
            try calls.settle(promise, .rejected(arguments.first ?? .undefined))
            return .undefined
        }
        do throws(ScriptFailure) {
            _ = try interpreter.call(
                function, this: .undefined,
                [.native("resolve", resolve), .native("reject", reject)])
        } catch {
            guard case .thrown = error else { throw error }
            if case .pending = promise.state {
                try settle(promise, .rejected(interpreter.thrown))
            }
        }
        return value
    }

    /// Returns a promise for the result of a closure.
    func promise(
        _ body: () throws(ScriptFailure) -> ScriptValue
    ) throws(ScriptFailure) -> ScriptValue {
        let (promise, value) = try pending()
        try fill(promise, body)
        return value
    }

    /// Calls a method of a promise; `nil` for a name that no method has.
    func invoke(
        _ name: String, on promise: ScriptPromise, _ arguments: [ScriptValue]
    ) throws(ScriptFailure) -> ScriptValue? {
        let first = arguments.first ?? .undefined
        switch name {
        case "then":
            return try then(promise, first, arguments.dropFirst().first ?? .undefined)
        case "catch": return try then(promise, .undefined, first)
        case "finally":
            return try follow(promise) { () throws(ScriptFailure) in
                _ = try interpreter.awaited(
                    try interpreter.call(first, this: .undefined, [], name: name))
                return try interpreter.result(of: promise)
            }
        default: return nil
        }
    }

    /// Calls a function of `Promise`, such as `Promise.all`; `nil` for a name that no function has.
    func invoke(
        _ name: String, _ arguments: [ScriptValue]
    ) throws(ScriptFailure) -> ScriptValue? {
        let first = arguments.first ?? .undefined
        return try promise { () throws(ScriptFailure) in
            switch name {
            case "resolve": return first
            case "reject":
                interpreter.throwing(first)
                throw .thrown
            case "allSettled": return try settled(try interpreter.items(of: first))
            case "any": return try any(try interpreter.items(of: first))
            case "race": return try interpreter.items(of: first).first ?? .undefined
            default:
                var values: [ScriptValue] = []
                for item in try interpreter.items(of: first) {
                    values.append(try interpreter.awaited(item))
                }
                return .object(ScriptObject(elements: values))
            }
        }
    }

    private func any(_ items: [ScriptValue]) throws(ScriptFailure) -> ScriptValue {
        for item in items {
            do throws(ScriptFailure) {
                return try interpreter.awaited(item)
            } catch {
                guard case .thrown = error else { throw error }
            }
        }
        throw interpreter.fail("AggregateError", "All promises were rejected")
    }

    private func settled(_ items: [ScriptValue]) throws(ScriptFailure) -> ScriptValue {
        var parts: [ScriptValue] = []
        for item in items {
            try interpreter.charge(160)
            let part = ScriptObject()
            do throws(ScriptFailure) {
                let value = try interpreter.awaited(item)
                part.set("status", .string("fulfilled"))
                part.set("value", value)
            } catch {
                guard case .thrown = error else { throw error }
                part.set("status", .string("rejected"))
                part.set("reason", interpreter.thrown)
            }
            parts.append(.object(part))
        }
        return .object(ScriptObject(elements: parts))
    }

    private func then(
        _ promise: ScriptPromise, _ success: ScriptValue, _ failure: ScriptValue
    ) throws(ScriptFailure) -> ScriptValue {
        try follow(promise) { () throws(ScriptFailure) in
            switch promise.state {
            case .fulfilled(let value) where success.object?.isCallable == true:
                return try interpreter.call(success, this: .undefined, [value])
            case .rejected(let value) where failure.object?.isCallable == true:
                return try interpreter.call(failure, this: .undefined, [value])
            case .pending, .fulfilled, .rejected:
                return try interpreter.result(of: promise)
            }
        }
    }

    /// Returns a promise for what a closure returns once another promise has its result.
    private func follow(
        _ promise: ScriptPromise, _ body: @escaping () throws(ScriptFailure) -> ScriptValue
    ) throws(ScriptFailure) -> ScriptValue {
        let (next, value) = try pending()
        if case .pending = promise.state {
            let calls = self
            promise.followers.append { try calls.fill(next, body) }
        } else {
            try fill(next, body)
        }
        return value
    }

    private func pending() throws(ScriptFailure) -> (ScriptPromise, ScriptValue) {
        try interpreter.charge(96)
        let promise = ScriptPromise()
        let object = ScriptObject(.promise(promise))
        try interpreter.change(object)
        return (promise, .object(object))
    }

    private func fill(
        _ promise: ScriptPromise, _ body: () throws(ScriptFailure) -> ScriptValue
    ) throws(ScriptFailure) {
        let (place, origin) = (interpreter.place, interpreter.origin)
        do throws(ScriptFailure) {
            try resolve(promise, try body())
        } catch {
            guard case .thrown = error else { throw error }
            (interpreter.place, interpreter.origin) = (place, origin)
            try settle(promise, .rejected(interpreter.thrown))
        }
    }

    /// Settles a promise with a value, or with the result of another promise.
    private func resolve(
        _ promise: ScriptPromise, _ value: ScriptValue
    ) throws(ScriptFailure) {
        guard case .promise(let other) = value.object?.kind else {
            return try settle(promise, .fulfilled(value))
        }
        guard case .pending = other.state else { return try settle(promise, other.state) }
        let calls = self
        other.followers.append { try calls.settle(promise, other.state) }
    }

    private func settle(
        _ promise: ScriptPromise, _ state: ScriptPromise.State
    ) throws(ScriptFailure) {
        promise.state = state
        let followers = promise.followers
        promise.followers = []
        for follower in followers { try interpreter.native(follower) }
    }
}

extension ScriptInterpreter {
    /// Returns the value of a promise, or any other value as it is.
    func awaited(_ value: ScriptValue) throws(ScriptFailure) -> ScriptValue {
        guard case .promise(let promise) = value.object?.kind else { return value }
        return try result(of: promise)
    }

    func result(of promise: ScriptPromise) throws(ScriptFailure) -> ScriptValue {
        while case .pending = promise.state, let runNext {
            guard try native(runNext) else { break }
        }
        switch promise.state {
        case .fulfilled(let value): return value
        case .rejected(let value):
            throwing(value)
            throw .thrown
        case .pending: throw fail("Error", "the promise has no result, and nothing runs later")
        }
    }

    /// Returns a promise for the result of an `async` function.
    func promise(
        _ body: () throws(ScriptFailure) -> ScriptValue
    ) throws(ScriptFailure) -> ScriptValue {
        try ScriptPromiseCalls(interpreter: self).promise(body)
    }
}
