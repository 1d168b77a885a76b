import BSONQuery

extension ScriptInterpreter {
    /// The way in which statements end.
    enum Completion {
        case normal
        case `break`
        case `continue`
        case `return`(ScriptValue)
    }

    func execute(
        _ statements: [ScriptStatement], _ frame: ScriptFrame
    ) throws(ScriptFailure) -> Completion {
        // Functions are declared before their statement is reached.
        for case .function(let function) in statements {
            guard let name = function.name else { continue }
            frame.scope.declare(name, try value(of: function, in: frame.scope))
        }
        for statement in statements {
            let completion = try execute(statement, frame)
            if case .normal = completion { continue }
            return completion
        }
        return .normal
    }

    private func execute(
        _ statement: ScriptStatement, _ frame: ScriptFrame
    ) throws(ScriptFailure) -> Completion {
        try step()
        switch statement {
        case .expression(let value): _ = try evaluate(value, frame)
        case .declare(let names, let isBlockScoped):
            for (name, value) in names {
                let value = try value.map { (value) throws(ScriptFailure) in
                    try evaluate(value, frame)
                }
                if isBlockScoped {
                    frame.scope.declare(name, value ?? .undefined)
                } else {
                    frame.scope.declareInFunction(name, value)
                }
            }
        case .function: break
        case .block(let statements): return try executeBlock(statements, frame)
        case .condition(let test, let body, let other):
            if try evaluate(test, frame).isTrue { return try deeper(body, frame) }
            if let other { return try deeper(other, frame) }
        case .loop: return try loop(statement, frame)
        case .forEach(let name, let subject, let isValues, let body):
            return try forEach(name, subject, isValues: isValues, body, frame)
        case .select(let subject, let cases): return try select(subject, cases, frame)
        case .return(let value):
            return .return(
                try value.map { (value) throws(ScriptFailure) in
                    try evaluate(value, frame)
                } ?? .undefined)
        case .throw(let value):
            thrown = try evaluate(value, frame)
            throw .thrown
        case .attempt(let body, let name, let rescue, let always):
            return try attempt(body, name, rescue, always, frame)
        case .break: return .break
        case .continue: return .continue
        }
        return .normal
    }

    private func deeper(
        _ statement: ScriptStatement, _ frame: ScriptFrame
    ) throws(ScriptFailure) -> Completion {
        try deeper { () throws(ScriptFailure) in try execute(statement, frame) }
    }

    private func executeBlock(
        _ statements: [ScriptStatement], _ frame: ScriptFrame
    ) throws(ScriptFailure) -> Completion {
        try deeper { () throws(ScriptFailure) in try execute(statements, frame.block) }
    }

    private func loop(
        _ statement: ScriptStatement, _ frame: ScriptFrame
    ) throws(ScriptFailure) -> Completion {
        guard case .loop(let first, let test, let next, let body, var tests) = statement else {
            return .normal
        }
        let frame = frame.block
        if let first { _ = try execute(first, frame) }
        while true {
            if tests, let test, try !evaluate(test, frame).isTrue { return .normal }
            tests = true
            switch try deeper(body, frame) {
            case .normal, .continue: break
            case .break: return .normal
            case .return(let value): return .return(value)
            }
            if let next { _ = try evaluate(next, frame) }
            try step()
        }
    }

    private func forEach(
        _ name: String, _ subject: ScriptExpression, isValues: Bool, _ body: ScriptStatement,
        _ frame: ScriptFrame
    ) throws(ScriptFailure) -> Completion {
        let subject = try evaluate(subject, frame)
        for item in try items(of: subject, isValues: isValues) {
            let inner = frame.block
            inner.scope.declare(name, item)
            switch try deeper(body, inner) {
            case .normal, .continue: continue
            case .break: return .normal
            case .return(let value): return .return(value)
            }
        }
        return .normal
    }

    /// Returns the items that a loop iterates over.
    private func items(
        of subject: ScriptValue, isValues: Bool
    ) throws(ScriptFailure) -> [ScriptValue] {
        switch subject {
        case .object(let object):
            guard isValues else { return object.ownNames.map { .string($0) } }
            guard object.isArray else { throw fail("TypeError", "value is not iterable") }
            return object.elements
        case .string(let text):
            return isValues
                ? text.unicodeScalars.map { .string(String($0)) }
                : text.utf16.indices.enumerated().map { .string(String($0.offset)) }
        case .undefined, .null:
            guard isValues else { return [] }
            throw fail("TypeError", "\(subject.text) is not iterable")
        case .bool, .number:
            guard isValues else { return [] }
            throw fail("TypeError", "value is not iterable")
        }
    }

    private func select(
        _ subject: ScriptExpression,
        _ cases: [(test: ScriptExpression?, body: [ScriptStatement])], _ frame: ScriptFrame
    ) throws(ScriptFailure) -> Completion {
        let value = try evaluate(subject, frame)
        let frame = frame.block
        var chosen: Int?
        for (index, choice) in cases.enumerated() {
            guard let test = choice.test else { continue }
            if ScriptValue.isSame(value, try evaluate(test, frame)) {
                chosen = index
                break
            }
        }
        guard let first = chosen ?? cases.firstIndex(where: { $0.test == nil }) else {
            return .normal
        }
        for choice in cases[first...] {
            switch try execute(choice.body, frame) {
            case .normal: continue
            case .break: return .normal
            case .continue: return .continue
            case .return(let value): return .return(value)
            }
        }
        return .normal
    }

    private func attempt(
        _ body: [ScriptStatement], _ name: String?, _ rescue: [ScriptStatement]?,
        _ always: [ScriptStatement], _ frame: ScriptFrame
    ) throws(ScriptFailure) -> Completion {
        var stop: ScriptFailure?
        var completion = Completion.normal
        do throws(ScriptFailure) {
            completion = try executeBlock(body, frame)
        } catch {
            stop = error
        }
        if case .thrown = stop, let rescue {
            stop = nil
            let inner = frame.block
            if let name { inner.scope.declare(name, thrown) }
            do throws(ScriptFailure) {
                completion = try executeBlock(rescue, inner)
            } catch {
                stop = error
            }
        }
        // A script cannot delay an exceeded limit.
        if case .failed = stop, let stop { throw stop }
        let pending = thrown
        let last = try executeBlock(always, frame)
        if case .normal = last {
            guard let stop else { return completion }
            thrown = pending
            throw stop
        }
        return last
    }
}
