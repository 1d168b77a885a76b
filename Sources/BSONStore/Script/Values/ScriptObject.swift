import BSONQuery

/// An object of a running script; it lives until the run ends.
package final class ScriptObject {
    /// The beginning of the names of private properties, which no field can have.
    static let privateMark = "\u{0}"

    enum Kind {
        case plain
        case array
        case function(ScriptFunction, ScriptScope, this: ScriptValue?)
        /// A function of the language, by the name of the method that it calls on a value.
        case method(String, of: ScriptValue)
        case global(ScriptGlobal)
        /// The properties that all values of a kind share.
        case prototype(ScriptGlobal)
        /// A function in Swift.
        case native(name: String, ScriptNative)
        /// An object whose properties Swift answers.
        case host(any ScriptHost)
        /// The functions that read and write a property.
        case accessor(get: ScriptValue?, set: ScriptValue?)
        case map(ScriptTable)
        case set(ScriptTable)
        case iterator(ScriptIterator)
        case promise(ScriptPromise)
        /// Milliseconds since 1970, `NaN` for an invalid time.
        case date(Double)
        case pattern(ScriptRegExp)
        case error
        /// A value that scripts can pass on, but not compute with.
        case bson(BSONValue)
    }

    private(set) var kind: Kind
    /// The object that answers for properties that this one does not have.
    var prototype: ScriptObject?
    /// How a class makes its objects.
    var construction: ScriptConstruction?
    /// Whether scripts cannot change the object.
    var isFrozen = false
    /// Whether numbers of the object, or of the document it reads, keep their types.
    private(set) var keepsNumberTypes = false
    /// The names of properties that no loop visits.
    private var hidden: Set<Name> = []
    /// The elements of an array.
    var elements: [ScriptValue] = []
    /// The names of the properties in their order.
    private var names: [String] = []
    private var values: [Name: ScriptValue] = [:]
    /// A document with fields that have not been converted yet.
    private var source: BSONDocument?
    /// The document from which the object was created.
    let origin: BSONDocument?
    /// Whether other values were stored in the object since its creation.
    var isChanged = false

    init(_ kind: Kind = .plain, keepsNumberTypes: Bool = false) {
        self.kind = kind
        self.keepsNumberTypes = keepsNumberTypes
        origin = nil
    }

    /// Creates an object with the fields of a document, which are converted when they are read.
    init(_ document: BSONDocument, keepsNumberTypes: Bool = false) {
        kind = .plain
        self.keepsNumberTypes = keepsNumberTypes
        source = document
        origin = document
    }

    init(elements: [ScriptValue]) {
        kind = .array
        origin = nil
        self.elements = elements
    }

    deinit {
        var release = ScriptDeallocator()
        give(to: &release)
        release.drain()
    }

    /// Moves its references to a deallocator, for a release without recursion.
    func give(to release: inout ScriptDeallocator) {
        for case .object(let object) in elements { release.objects.append(object) }
        elements = []
        if !values.isEmpty {
            for case .object(let object) in values.values { release.objects.append(object) }
            values = [:]
        }
        if let prototype { release.objects.append(prototype) }
        prototype = nil
        if let construction { release.scopes.append(construction.scope) }
        construction = nil
        switch kind {
        case .map(let table), .set(let table):
            for case .object(let object) in table.takeAll() { release.objects.append(object) }
        case .iterator(let iterator):
            for case .object(let object) in iterator.takeAll() { release.objects.append(object) }
        case .promise(let promise):
            if let object = promise.value?.object { release.objects.append(object) }
            promise.state = .pending
        case .accessor(let get, let set):
            if let object = get?.object { release.objects.append(object) }
            if let object = set?.object { release.objects.append(object) }
        case .function(_, let scope, let this):
            release.scopes.append(scope)
            if let object = this?.object { release.objects.append(object) }
        case .method(_, .object(let object)): release.objects.append(object)
        default: return
        }
        kind = .plain
    }

    var isArray: Bool { if case .array = kind { true } else { false } }

    var isCallable: Bool {
        switch kind {
        case .function, .method, .native: true
        case .global(let global): global.isCallable
        default: false
        }
    }

    /// The names of its own properties, positions of an array first.
    var ownNames: [String] {
        readAll()
        var names = hidden.isEmpty ? names : names.filter { !hidden.contains(Name($0)) }
        if origin == nil, names.contains(where: { Self.index($0) != nil }) {
            // Whole numbers come before other names, in their order.
            let indexes = names.compactMap(Self.index).sorted()
            names = indexes.map(String.init) + names.filter { Self.index($0) == nil }
        }
        return elements.indices.map(String.init) + names
    }

    /// Returns the value of an own property.
    func own(_ name: String) -> ScriptValue? {
        if isArray {
            if name == "length" { return .number(Double(elements.count)) }
            if let index = Self.index(name) {
                return elements.indices.contains(index) ? elements[index] : nil
            }
        }
        if let value = values[name] { return value }
        guard let found = source?[name] else { return nil }
        let value = ScriptValue(found, keepsNumberTypes: keepsNumberTypes)
        values[name] = value
        return value
    }

    /// Returns the value of a property of the object or of its prototypes.
    func find(_ name: String) -> ScriptValue? {
        var object: ScriptObject? = self
        while let here = object {
            if let value = here.own(name) { return value }
            object = here.prototype
        }
        return nil
    }

    /// Stores a property that no loop visits.
    func hide(_ name: String, _ value: ScriptValue) {
        hidden.insert(Name(name))
        set(name, value)
    }

    /// Stores a property.
    func set(_ name: String, _ value: ScriptValue) {
        readAll()
        if name.hasBytePrefix(Self.privateMark) { hidden.insert(Name(name)) }
        if values.updateValue(value, forKey: name) == nil { names.append(name) }
    }

    /// Changes the time of a date.
    func setTime(_ time: Double) { kind = .date(time) }

    func remove(_ name: String) {
        if isArray, let index = Self.index(name), elements.indices.contains(index) {
            elements[index] = .undefined
            return
        }
        readAll()
        if values.removeValue(forKey: name) != nil { names.removeAll { $0.hasSameBytes(as: name) } }
    }

    /// Returns the position that a name stands for, within the maximum length of arrays.
    static func index(_ name: String) -> Int? {
        guard let first = name.utf8.first, UInt8(ascii: "0")...UInt8(ascii: "9") ~= first,
            let index = Int(name), index < UInt32.max, String(index) == name
        else { return nil }
        return index
    }

    /// Releases its content.
    func forget() {
        elements = []
        names = []
        values = [:]
        source = nil
        prototype = nil
        construction = nil
        if case .map(let table) = kind { _ = table.takeAll() }
        if case .set(let table) = kind { _ = table.takeAll() }
        if case .iterator(let iterator) = kind { _ = iterator.takeAll() }
        if case .promise(let promise) = kind {
            promise.state = .pending
            promise.followers = []
        }
    }

    private func readAll() {
        guard let document = source else { return }
        source = nil
        for (name, value) in document {
            names.append(name)
            if values[name] == nil {
                values[name] = ScriptValue(value, keepsNumberTypes: keepsNumberTypes)
            }
        }
    }

    /// The object as a text.
    var text: String {
        var bytesLeft = ScriptLimits.bytesMax
        return text(depth: 0, &bytesLeft)
    }

    /// Returns the object as a text within a limit of about `bytesLeft` bytes.
    ///
    /// - Parameter bytesLeft: the limit; it is negative afterwards if the text was cut short.
    ///   Nested arrays can be long texts although they take little memory.
    func text(depth: Int = 0, _ bytesLeft: inout Int) -> String {
        switch kind {
        case .plain: return "[object Object]"
        case .array:
            // An array may contain itself.
            guard depth < 32 else { return "" }
            var text = ""
            for (index, element) in elements.enumerated() {
                if index > 0 { text += "," }
                bytesLeft -= 8
                guard bytesLeft >= 0 else { return text }
                if element.isNothing { continue }
                if let object = element.object, object.isArray {
                    text += object.text(depth: depth + 1, &bytesLeft)
                } else {
                    let part = element.text
                    bytesLeft -= part.utf8.count
                    guard bytesLeft >= 0 else { return text }
                    text += part
                }
            }
            return text
        case .function(let function, _, _):
            return function.source
        case .method(let name, _), .native(let name, _):
            return "function \(name)() { [native code] }"
        case .global(let global):
            return global.isCallable
                ? "function \(global.rawValue)() { [native code] }" : "[object \(global.rawValue)]"
        case .prototype, .accessor: return "[object Object]"
        case .host(let host): return host.text
        case .map: return "[object Map]"
        case .set: return "[object Set]"
        case .iterator: return "[object Iterator]"
        case .promise: return "[object Promise]"
        case .date(let time): return ScriptDate.text(time) ?? "Invalid Date"
        case .pattern(let pattern): return "/\(pattern.source)/\(pattern.flags)"
        case .error:
            let (name, message) = (own("name")?.text ?? "Error", own("message")?.text ?? "")
            return message.isEmpty ? name : "\(name): \(message)"
        case .bson(let value) where keepsNumberTypes: return ScriptBSON.text(value)
        case .bson(.objectID(let id)): return "ObjectId(\"\(id.hex)\")"
        case .bson(.decimal128(let decimal)): return "NumberDecimal(\"\(decimal)\")"
        case .bson(let value): return value.extendedJSON(.relaxed)
        }
    }
}
