import BSONQuery

/// The methods of arrays in a run of a script.
struct ScriptArrayMethods {
    let interpreter: ScriptInterpreter

    /// Calls a method of an array; `nil` if arrays have none of that name.
    func invoke(
        _ name: String, on array: ScriptObject, _ arguments: [ScriptValue]
    ) throws(ScriptFailure) -> ScriptValue? {
        switch name {
        case "every", "filter", "find", "findIndex", "flatMap", "forEach", "map", "some":
            return try visit(name, array, arguments)
        case "findLast", "findLastIndex": return try findLast(name, array, arguments)
        case "at", "entries", "keys", "values", "toReversed", "toSorted", "toSpliced", "with":
            return try copy(name, array, arguments)
        case "reduce", "reduceRight": return try reduce(name, array, arguments)
        case "sort": return try sort(array, arguments)
        case "pop", "push", "reverse", "shift", "splice", "unshift", "fill":
            return try mutate(name, array, arguments)
        default: return try read(name, array, arguments)
        }
    }

    private static func iterator(_ items: [ScriptValue]) -> ScriptValue {
        .object(ScriptObject(.iterator(ScriptIterator(items))))
    }

    /// Calls a function with each element.
    private func visit(
        _ name: String, _ array: ScriptObject, _ arguments: [ScriptValue]
    ) throws(ScriptFailure) -> ScriptValue {
        let function = arguments.first ?? .undefined
        let this = arguments.count > 1 ? arguments[1] : .undefined
        var kept: [ScriptValue] = []
        try interpreter.charge(64)
        for (index, element) in array.elements.enumerated() {
            let values = [element, .number(Double(index)), .object(array)]
            let result = try interpreter.call(function, this: this, values, name: name)
            switch name {
            case "every": if !result.isTrue { return .bool(false) }
            case "some": if result.isTrue { return .bool(true) }
            case "find": if result.isTrue { return element }
            case "findIndex": if result.isTrue { return .number(Double(index)) }
            case "flatMap": kept += try flat([result])
            case "filter" where result.isTrue, "map":
                try interpreter.charge(16)
                kept.append(name == "map" ? result : element)
            default: break
            }
        }
        switch name {
        case "every": return .bool(true)
        case "some": return .bool(false)
        case "findIndex": return .number(-1)
        case "filter", "map", "flatMap": return .object(ScriptObject(elements: kept))
        default: return .undefined
        }
    }

    private func findLast(
        _ name: String, _ array: ScriptObject, _ arguments: [ScriptValue]
    ) throws(ScriptFailure) -> ScriptValue {
        let function = arguments.first ?? .undefined
        for (index, element) in array.elements.enumerated().reversed() {
            let values = [element, .number(Double(index)), .object(array)]
            if try interpreter.call(function, this: .undefined, values, name: name).isTrue {
                return name == "findLast" ? element : .number(Double(index))
            }
        }
        return name == "findLast" ? .undefined : .number(-1)
    }

    /// Returns an element, or a list made from the elements.
    private func copy(
        _ name: String, _ array: ScriptObject, _ arguments: [ScriptValue]
    ) throws(ScriptFailure) -> ScriptValue? {
        let elements = array.elements
        let index = arguments.first?.integer ?? 0
        let place = index < 0 ? elements.count + index : index
        if name == "at" { return elements.indices.contains(place) ? elements[place] : .undefined }
        try interpreter.charge(64 + (name == "entries" ? 128 : 16) * elements.count)
        let copy = ScriptObject(elements: elements)
        switch name {
        case "keys": return Self.iterator(elements.indices.map { .number(Double($0)) })
        case "values": return Self.iterator(elements)
        case "entries":
            return Self.iterator(
                elements.enumerated().map {
                    .object(ScriptObject(elements: [.number(Double($0.offset)), $0.element]))
                })
        case "toReversed": copy.elements.reverse()
        case "toSorted": return try sort(copy, arguments)
        case "toSpliced": _ = try mutate("splice", copy, arguments)
        case "with":
            guard elements.indices.contains(place) else {
                throw interpreter.fail("RangeError", "Invalid index : \(index)")
            }
            copy.elements[place] = arguments.dropFirst().first ?? .undefined
        default: break
        }
        return .object(copy)
    }

    private func reduce(
        _ name: String, _ array: ScriptObject, _ arguments: [ScriptValue]
    ) throws(ScriptFailure) -> ScriptValue {
        let function = arguments.first ?? .undefined
        try interpreter.charge(24 * array.elements.count)
        var rest = Array(array.elements.enumerated())
        if name == "reduceRight" { rest.reverse() }
        var result = ScriptValue.undefined
        if arguments.count > 1 {
            result = arguments[1]
        } else {
            guard !rest.isEmpty else {
                throw interpreter.fail("TypeError", "reduce of empty array with no initial value")
            }
            result = rest.removeFirst().element
        }
        for (index, element) in rest {
            let values = [result, element, .number(Double(index)), .object(array)]
            result = try interpreter.call(function, this: .undefined, values, name: name)
        }
        return result
    }

    /// Sorts by a function, or by texts; the sort is stable.
    private func sort(
        _ array: ScriptObject, _ arguments: [ScriptValue]
    ) throws(ScriptFailure) -> ScriptValue {
        let function = arguments.first
        func isOrdered(_ left: ScriptValue, _ right: ScriptValue) throws(ScriptFailure) -> Bool {
            try interpreter.step()
            if ScriptString.isUndefined(right) { return true }
            if ScriptString.isUndefined(left) { return false }
            guard let function, !ScriptString.isUndefined(function) else {
                return !right.text.utf16.lexicographicallyPrecedes(left.text.utf16)
            }
            let order = try interpreter.call(
                function, this: .undefined, [left, right], name: "sort"
            ).number
            return !(order > 0)
        }
        // A script's function may not be a consistent order, so the library's sort cannot be used.
        try interpreter.charge(64 * array.elements.count)
        var runs = array.elements.map { [$0] }
        while runs.count > 1 {
            var merged: [[ScriptValue]] = []
            for index in stride(from: 0, to: runs.count, by: 2) {
                guard index + 1 < runs.count else {
                    merged.append(runs[index])
                    continue
                }
                var (left, right) = (runs[index][...], runs[index + 1][...])
                var run: [ScriptValue] = []
                while let first = left.first, let second = right.first {
                    run.append(
                        try isOrdered(first, second) ? left.removeFirst() : right.removeFirst())
                }
                merged.append(run + left + right)
            }
            runs = merged
        }
        array.elements = runs.first ?? []
        return .object(array)
    }

    private func mutate(
        _ name: String, _ array: ScriptObject, _ arguments: [ScriptValue]
    ) throws(ScriptFailure) -> ScriptValue {
        try interpreter.charge(16 * arguments.count)
        guard !array.isFrozen else {
            throw interpreter.fail("TypeError", "Cannot add property, object is not extensible")
        }
        try interpreter.change(array)
        switch name {
        case "pop": return array.elements.popLast() ?? .undefined
        case "shift": return array.elements.isEmpty ? .undefined : array.elements.removeFirst()
        case "push": array.elements += arguments
        case "unshift": array.elements.insert(contentsOf: arguments, at: 0)
        case "reverse":
            array.elements.reverse()
            return .object(array)
        case "fill":
            let count = array.elements.count
            let from = ScriptString.place(arguments.dropFirst().first, count: count, otherwise: 0)
            let end = ScriptString.place(
                arguments.dropFirst(2).first, count: count, otherwise: count)
            for index in from..<max(from, end) {
                array.elements[index] = arguments.first ?? .undefined
            }
            return .object(array)
        default:
            let count = array.elements.count
            let from = ScriptString.place(arguments.first, count: count, otherwise: 0)
            let removed =
                arguments.count > 1 ? max(0, min(arguments[1].integer, count - from)) : count - from
            let range = from..<from + removed
            try interpreter.charge(16 * removed)
            let taken = Array(array.elements[range])
            array.elements.replaceSubrange(range, with: arguments.dropFirst(2))
            return .object(ScriptObject(elements: taken))
        }
        return .number(Double(array.elements.count))
    }

    private func read(
        _ name: String, _ array: ScriptObject, _ arguments: [ScriptValue]
    ) throws(ScriptFailure) -> ScriptValue? {
        let elements = array.elements
        let first = arguments.first ?? .undefined
        switch name {
        case "includes": return .bool(elements.contains { Self.isIncluded($0, first) })
        case "indexOf":
            let from = ScriptString.place(
                arguments.dropFirst().first, count: elements.count, otherwise: 0)
            let found = elements[from...].firstIndex { ScriptValue.isSame($0, first) }
            return .number(Double(found ?? -1))
        case "lastIndexOf":
            return .number(Double(elements.lastIndex { ScriptValue.isSame($0, first) } ?? -1))
        case "join":
            let separator = arguments.isEmpty ? "," : try interpreter.text(first)
            return .string(
                try interpreter.joined(elements, separator: separator) {
                    $0.isNothing ? .string("") : $0
                })
        case "slice":
            let from = ScriptString.place(arguments.first, count: elements.count, otherwise: 0)
            let end = ScriptString.place(
                arguments.dropFirst().first, count: elements.count, otherwise: elements.count)
            try interpreter.charge(16 * elements.count)
            return .object(ScriptObject(elements: Array(elements[from..<max(from, end)])))
        case "concat":
            try interpreter.charge(16 * elements.count)
            return .object(ScriptObject(elements: elements + (try flat(arguments))))
        case "flat":
            var parts = elements
            var depth = arguments.isEmpty ? 1 : first.integer
            while depth > 0, parts.contains(where: { $0.object?.isArray == true }) {
                parts = try flat(parts)
                depth -= 1
            }
            return .object(ScriptObject(elements: parts))
        default: return nil
        }
    }

    /// Returns the elements of the arrays among values, and the other values.
    private func flat(_ values: [ScriptValue]) throws(ScriptFailure) -> [ScriptValue] {
        var all: [ScriptValue] = []
        for value in values {
            try interpreter.step()
            if let object = value.object, object.isArray {
                try interpreter.charge(16 * object.elements.count)
                all += object.elements
            } else {
                try interpreter.charge(16)
                all.append(value)
            }
        }
        return all
    }

    private static func isIncluded(_ left: ScriptValue, _ right: ScriptValue) -> Bool {
        if case .number(let left) = left, case .number(let right) = right, left.isNaN, right.isNaN {
            return true
        }
        return ScriptValue.isSame(left, right)
    }
}
