package import BSONQuery

/// The parts of a value, for code that shows values.
package enum ScriptShape {
    /// A value without parts.
    case leaf(BSONValue)
    /// A `BigInt`, by its digits.
    case bigInt(String)
    /// A value of BSON that a constructor made, such as an integer of a type.
    case made(BSONValue)
    /// The elements of an array.
    case list([ScriptValue])
    /// The properties of an object, with the name of its class if it has one.
    case object(className: String?, [(name: String, value: ScriptValue)])
    /// The entries of a `Map`.
    case map([(key: ScriptValue, value: ScriptValue)])
    /// The values of a `Set`.
    case set([ScriptValue])
    /// A function or a class, as a text such as `[Function: run]`.
    case function(String)
    /// An error, as a text, and its other properties.
    case error(String, [(name: String, value: ScriptValue)])
    /// A pattern with its flags.
    case pattern(String)
    /// A date without a valid time.
    case invalidDate
    /// A promise, with its value if it has one.
    case promise(ScriptValue?)
    /// An object whose properties Swift answers.
    case host(any ScriptHost)
    /// A property that functions read or write.
    case accessor(String)

    package init(_ value: ScriptValue) {
        switch value {
        case .undefined: self = .leaf(.undefined)
        case .null: self = .leaf(.null)
        case .bool(let value): self = .leaf(.bool(value))
        case .number(let number): self = .leaf(.double(number))
        case .bigInt(let number): self = .bigInt(number.text())
        case .string(let text): self = .leaf(.string(text))
        case .object(let object): self.init(object)
        }
    }

    private init(_ object: ScriptObject) {
        switch object.kind {
        case .array: self = .list(object.elements)
        case .plain, .prototype, .iterator:
            self = .object(className: Self.className(object), Self.properties(object))
        case .function(let function, _, _):
            self = .function(Self.text(function, object))
        case .method(let name, _), .native(let name, _): self = .function("[Function: \(name)]")
        case .global(let global):
            self =
                global.isCallable
                ? .function("[Function: \(global.rawValue)]")
                : .function("Object [\(global.rawValue)] {}")
        case .host(let host):
            self = (host as? ScriptSymbol).map { .accessor($0.shown) } ?? .host(host)
        case .accessor(let get, let set):
            self = .accessor(get == nil ? "[Setter]" : set == nil ? "[Getter]" : "[Getter/Setter]")
        case .map(let table): self = .map(table.entries.compactMap { $0 })
        case .set(let table): self = .set(table.entries.compactMap { $0?.key })
        case .promise(let promise): self = .promise(promise.value)
        case .date(let time):
            guard let milliseconds = Int64(exactly: time.rounded(.towardZero)) else {
                self = .invalidDate
                return
            }
            self = .leaf(.datetime(BSONDatetime(milliseconds: milliseconds)))
        case .pattern: self = .pattern(object.text)
        case .error:
            let (name, message) = (object.find("name")?.text ?? "Error", object.find("message"))
            let text = message.map(\.text) ?? ""
            self = .error(
                text.isEmpty ? name : "\(name): \(text)",
                Self.properties(object).filter { !["name", "message", "stack"].contains($0.name) })
        case .bson(let value): self = .made(value)
        }
    }

    private static func properties(_ object: ScriptObject) -> [(name: String, value: ScriptValue)] {
        object.ownNames.map { ($0, object.own($0) ?? .undefined) }
    }

    /// Returns the name of the class that made an object.
    private static func className(_ object: ScriptObject) -> String? {
        guard let maker = object.prototype?.find("constructor")?.object,
            case .function(let function, _, _) = maker.kind
        else { return nil }
        return function.name
    }

    private static func text(_ function: ScriptFunction, _ object: ScriptObject) -> String {
        if object.construction != nil {
            var text = "[class \(function.name ?? "(anonymous)")"
            if let parent = object.prototype {
                switch parent.kind {
                case .function(let parent, _, _): text += " extends \(parent.name ?? "")"
                case .global(let parent): text += " extends \(parent.rawValue)"
                default: break
                }
            }
            return text + "]"
        }
        let kind = function.isAsync ? "AsyncFunction" : "Function"
        guard let name = function.name, !name.isEmpty else { return "[\(kind) (anonymous)]" }
        return "[\(kind): \(name)]"
    }
}
