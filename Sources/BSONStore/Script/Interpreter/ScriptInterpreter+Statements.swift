import BSONQuery

extension ScriptInterpreter {
    /// The way in which statements end.
    enum Completion {
        case normal
        case `break`(String?)
        case `continue`(String?)
        case `return`(ScriptValue)
    }

    func execute(
        _ statements: [ScriptStatement], _ frame: ScriptFrame
    ) throws(ScriptFailure) -> Completion {
        // Functions are declared before their statement is reached.
        for statement in statements {
            if case .function(let function) = statement {
                guard let name = function.name else { continue }
                frame.scope.declare(name, try value(of: function, in: frame.scope))
            } else {
                for name in statement.blockNames { frame.scope.announce(name) }
            }
        }
        for statement in statements {
            let completion = try execute(statement, frame)
            if case .normal = completion { continue }
            return completion
        }
        return .normal
    }

    func execute(
        _ statement: ScriptStatement, _ frame: ScriptFrame
    ) throws(ScriptFailure) -> Completion {
        try step()
        switch statement {
        case .located(let offset, let statement):
            place = offset
            return try execute(statement, frame)
        case .return(let value?): return .return(try evaluate(value, frame))
        case .condition(let test, let body, let other):
            if try evaluate(test, frame).isTrue { return try deeper(body, frame) }
            if let other { return try deeper(other, frame) }
            return .normal
        case .block(let statements): return try executeBlock(statements, frame)
        default: return try perform(statement, frame)
        }
    }

    private func perform(
        _ statement: ScriptStatement, _ frame: ScriptFrame
    ) throws(ScriptFailure) -> Completion {
        switch statement {
        case .expression(let value):
            let value = try evaluate(value, frame)
            if callDepth == 0 { lastValue = value }
        case .declare(let names, let binding):
            for (target, value) in names {
                if value == nil, binding == .variable, case .place(.name(let name)) = target {
                    frame.scope.declareInFunction(name, nil)
                    continue
                }
                let made = try value.map { (value) throws(ScriptFailure) in
                    try evaluate(value, frame)
                }
                try bind(target, made ?? .undefined, binding, frame)
            }
        case .labelled(let label, let statement):
            return try labelled(label, statement, frame)
        case .function: break
        case .loop: return try loop(statement, frame)
        case .forEach: return try forEach(statement, frame)
        case .select(let subject, let cases): return try select(subject, cases, frame)
        case .return: return .return(.undefined)
        case .located, .block, .condition: return try execute(statement, frame)
        case .throw(let value):
            throwing(try evaluate(value, frame))
            throw .thrown
        case .attempt(let body, let name, let rescue, let always):
            return try attempt(body, name, rescue, always, frame)
        case .break(let label): return .break(label)
        case .continue(let label): return .continue(label)
        }
        return .normal
    }

    private func deeper(
        _ statement: ScriptStatement, _ frame: ScriptFrame
    ) throws(ScriptFailure) -> Completion {
        try descend()
        defer { ascend() }
        return try execute(statement, frame)
    }

    private func executeBlock(
        _ statements: [ScriptStatement], _ frame: ScriptFrame
    ) throws(ScriptFailure) -> Completion {
        try descend()
        defer { ascend() }
        return try execute(statements, frame.block)
    }

    private func loop(
        _ statement: ScriptStatement, _ frame: ScriptFrame, label: String? = nil
    ) throws(ScriptFailure) -> Completion {
        guard case .loop(let first, let test, let next, let body, var tests) = statement else {
            return .normal
        }
        var frame = frame.block
        var isFresh = false
        if let first {
            _ = try execute(first, frame)
            if case .declare(_, .block) = first { isFresh = true }
        }
        while true {
            if tests, let test, try !evaluate(test, frame).isTrue { return .normal }
            tests = true
            if let end = Self.end(try deeper(body, frame), of: label) { return end }
            if isFresh {
                // Each round has names of its own, which its functions keep.
                frame = ScriptFrame(
                    scope: frame.scope.copy(), this: frame.this, isDerived: frame.isDerived)
            }
            if let next { _ = try evaluate(next, frame) }
            try step()
        }
    }

    /// Returns how a loop ends after a round; `nil` if it goes on.
    private static func end(_ completion: Completion, of label: String?) -> Completion? {
        func isOwn(_ name: String?) -> Bool {
            guard let name else { return true }
            return label.map { name.hasSameBytes(as: $0) } ?? false
        }
        switch completion {
        case .normal: return nil
        case .break(let name): return isOwn(name) ? .normal : completion
        case .continue(let name): return isOwn(name) ? nil : completion
        case .return: return completion
        }
    }

    private func labelled(
        _ label: String, _ statement: ScriptStatement, _ frame: ScriptFrame
    ) throws(ScriptFailure) -> Completion {
        switch statement {
        case .loop: return try loop(statement, frame, label: label)
        case .forEach: return try forEach(statement, frame, label: label)
        default:
            let completion = try deeper(statement, frame)
            if case .break(let name?) = completion, name.hasSameBytes(as: label) {
                return .normal
            }
            return completion
        }
    }

    private func forEach(
        _ statement: ScriptStatement, _ frame: ScriptFrame, label: String? = nil
    ) throws(ScriptFailure) -> Completion {
        guard
            case .forEach(let target, let binding, let source, let isValues, let body) =
                statement
        else { return .normal }
        let subject = try evaluate(source, frame)
        var end: Completion?
        func visit(_ item: ScriptValue) throws(ScriptFailure) -> Bool {
            let inner = frame.block
            try bind(target, item, binding, inner)
            try step()
            end = Self.end(try deeper(body, inner), of: label)
            return end == nil
        }
        if isValues {
            try iterate(subject, visit)
        } else {
            for name in try names(of: subject) {
                guard try visit(.string(name)) else { break }
            }
        }
        return end ?? .normal
    }

    /// Returns the names that a loop with `in` visits.
    private func names(of subject: ScriptValue) throws(ScriptFailure) -> [String] {
        switch subject {
        case .object(let object):
            if case .host(let host) = object.kind { return host.names + object.ownNames }
            return object.ownNames
        case .string(let text):
            try charge(16 * text.utf8.count)
            return (0..<text.utf16.count).map(String.init)
        case .undefined, .null, .bool, .number, .bigInt: return []
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
            case .break(nil): return .normal
            case .break(let label): return .break(label)
            case .continue(let label): return .continue(label)
            case .return(let value): return .return(value)
            }
        }
        return .normal
    }

    private func attempt(
        _ body: [ScriptStatement], _ name: ScriptTarget?, _ rescue: [ScriptStatement]?,
        _ always: [ScriptStatement], _ frame: ScriptFrame
    ) throws(ScriptFailure) -> Completion {
        var stop: ScriptFailure?
        var completion = Completion.normal
        let here = origin
        do throws(ScriptFailure) {
            completion = try executeBlock(body, frame)
        } catch {
            stop = error
        }
        if case .thrown = stop, let rescue {
            stop = nil
            origin = here
            let inner = frame.block
            do throws(ScriptFailure) {
                if let name { try bind(name, thrown, .block, inner) }
                completion = try executeBlock(rescue, inner)
            } catch {
                stop = error
            }
        }
        // A script cannot delay an exceeded limit.
        if case .failed = stop, let stop { throw stop }
        let (pending, pendingPlace, pendingOrigin) = (thrown, thrownPlace, thrownOrigin)
        if stop != nil { origin = here }
        let last = try executeBlock(always, frame)
        if case .normal = last {
            guard let stop else { return completion }
            (place, origin) = (pendingPlace, pendingOrigin)
            throwing(pending)
            throw stop
        }
        return last
    }
}
