import BSONQuery

extension ScriptInterpreter {
    /// Calls a closure with the items of a value until it returns `false`.
    func iterate(
        _ subject: ScriptValue, _ visit: (ScriptValue) throws(ScriptFailure) -> Bool
    ) throws(ScriptFailure) {
        switch subject {
        case .object(let object):
            switch object.kind {
            case .array:
                var index = 0
                while index < object.elements.count {
                    guard try visit(object.elements[index]) else { return }
                    index += 1
                }
            case .map(let table), .set(let table):
                var index = 0
                while index < table.entries.count {
                    if let entry = table.entries[index] {
                        guard try visit(item(entry, of: object)) else { return }
                    }
                    index += 1
                }
            case .iterator(let iterator):
                while let item = iterator.next() {
                    guard try visit(item) else { return }
                }
            case .host(let host): try iterate(host, subject, visit)
            default:
                guard let maker = object.find(ScriptSymbol.iterator) else {
                    throw notIterable(subject)
                }
                let iterator = try call(maker, this: subject, [], name: "Symbol.iterator")
                try iterate(iterator: iterator, visit)
            }
        case .string(let text):
            for scalar in text.unicodeScalars {
                try charge(16)
                guard try visit(.string(String(scalar))) else { return }
            }
        case .undefined, .null, .bool, .number, .bigInt: throw notIterable(subject)
        }
    }

    /// Visits the items of an object whose `next` returns one after the other.
    private func iterate(
        iterator: ScriptValue, _ visit: (ScriptValue) throws(ScriptFailure) -> Bool
    ) throws(ScriptFailure) {
        if let object = iterator.object {
            switch object.kind {
            case .iterator, .host, .array: return try iterate(iterator, visit)
            default: break
            }
        }
        let next = try property(.string("next"), of: iterator)
        while true {
            try step()
            let result = try call(next, this: iterator, [], name: "next")
            guard result.object != nil else {
                throw fail("TypeError", "Iterator result \(result.text) is not an object")
            }
            if try property(.string("done"), of: result).isTrue { return }
            guard try visit(try property(.string("value"), of: result)) else { return }
        }
    }

    /// Returns all items of a value.
    func items(of subject: ScriptValue) throws(ScriptFailure) -> [ScriptValue] {
        if let object = subject.object, object.isArray {
            try charge(16 * object.elements.count)
            return object.elements
        }
        var items: [ScriptValue] = []
        try iterate(subject) { (item) throws(ScriptFailure) in
            try step()
            try charge(16)
            items.append(item)
            return true
        }
        return items
    }

    private func item(
        _ entry: (key: ScriptValue, value: ScriptValue), of object: ScriptObject
    ) throws(ScriptFailure) -> ScriptValue {
        guard case .map = object.kind else { return entry.key }
        try charge(96)
        return .object(ScriptObject(elements: [entry.key, entry.value]))
    }

    private func iterate(
        _ host: any ScriptHost, _ subject: ScriptValue,
        _ visit: (ScriptValue) throws(ScriptFailure) -> Bool
    ) throws(ScriptFailure) {
        guard let next = try native({ try host.items() }) else { throw notIterable(subject) }
        while let item = try native(next) {
            guard try visit(item) else { return }
        }
    }

    private func notIterable(_ subject: ScriptValue) -> ScriptFailure {
        fail("TypeError", "\(subject.isNothing ? subject.text : "value") is not iterable")
    }

    // MARK: Swift

    /// Calls a function in Swift.
    func call(
        _ function: ScriptNative, _ arguments: [ScriptValue]
    ) throws(ScriptFailure) -> ScriptValue {
        try native { try function(arguments) }
    }

    /// Returns the error that a script gets for one of the store.
    ///
    /// A value that cannot be stored has an error of the language, such as a `RangeError`.
    private static func error(of error: StoreError) -> ScriptValue {
        let mark = ScriptGlobal.rangeError.rawValue + ": "
        if error.code == .scriptFailed, error.message.hasBytePrefix(mark) {
            return .error(
                ScriptGlobal.rangeError.rawValue, String(error.message.dropFirst(mark.count)))
        }
        let made = ScriptValue.error("MongoServerError", error.message)
        made.object?.set("code", .number(Double(error.code.rawValue)))
        return made
    }

    /// Runs Swift code whose errors the script can catch.
    func native<R>(_ body: () throws -> R) throws(ScriptFailure) -> R {
        do {
            return try body()
        } catch let failure as ScriptFailure {
            throw failure
        } catch let error as ScriptError {
            let made = ScriptValue.error(error.name, error.message)
            // A class of this name that the shell defines answers for `instanceof`.
            if let type = globals.value(error.name)?.object {
                made.object?.prototype = try prototype(of: type)
            }
            for (name, value) in error.fields {
                made.object?.set(
                    name, ScriptValue(value, keepsNumberTypes: options.keepsNumberTypes))
            }
            throwing(made)
            throw .thrown
        } catch let error as StoreError {
            if error.code == .maxTimeMSExpired || error.code == .interrupted {
                throw .failed(error)
            }
            throwing(Self.error(of: error))
            throw .thrown
        } catch {
            throw fail("Error", "\(error)")
        }
    }
}
