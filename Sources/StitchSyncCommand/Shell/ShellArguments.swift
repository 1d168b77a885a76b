#if CommandLine
    import BSONScript
    import BSONStore

    /// The arguments of a call in a shell's script.
    struct ShellArguments {
        private let session: ScriptSession
        /// The values as the script passes them.
        let values: [ScriptValue]

        init(_ values: [ScriptValue], _ session: ScriptSession) {
            self.values = values
            self.session = session
        }

        /// The number of arguments.
        var count: Int { values.count }

        /// Returns an argument for storage; `nil` if it is missing, undefined or null.
        func value(_ index: Int) throws -> BSONValue? {
            guard values.indices.contains(index) else { return nil }
            switch values[index] {
            case .undefined, .null: return nil
            case .bool, .number, .bigInt, .string, .object: return try session.stored(values[index])
            }
        }

        /// Returns an argument that is a document; `nil` if it is missing.
        func document(_ index: Int, _ name: String) throws -> BSONDocument? {
            guard let value = try value(index) else { return nil }
            guard case .document(let document) = value else {
                throw Self.invalid("\(name) must be an object")
            }
            return document
        }

        /// Returns an argument that is a document and cannot be missing.
        func required(_ index: Int, _ name: String) throws -> BSONDocument {
            guard let document = try document(index, name) else {
                throw Self.invalid("Missing required argument: \(name)")
            }
            return document
        }

        /// Returns an argument for storage that cannot be missing.
        func requiredValue(_ index: Int, _ name: String) throws -> BSONValue {
            guard let value = try value(index) else {
                throw Self.invalid("Missing required argument: \(name)")
            }
            return value
        }

        /// Whether an argument counts as true, as in a condition of a script.
        func isTrue(_ index: Int) -> Bool {
            values.indices.contains(index) && values[index].isTrue
        }

        /// Returns an argument that is a list; `nil` if it is missing.
        func list(_ index: Int, _ name: String) throws -> BSONArray? {
            guard let value = try value(index) else { return nil }
            guard case .array(let list) = value else {
                throw Self.invalid("\(name) must be an array")
            }
            return list
        }

        /// Returns an argument that is a text and cannot be missing.
        func text(_ index: Int, _ name: String) throws -> String {
            guard case .string(let text)? = try value(index) else {
                throw Self.invalid("Missing required argument: \(name)")
            }
            return text
        }

        /// Returns an argument that is a number; `nil` if it is missing.
        func number(_ index: Int) -> Double? {
            values.indices.contains(index) ? values[index].number : nil
        }

        /// Returns an argument that is a function and cannot be missing.
        func function(_ index: Int) throws -> ScriptValue {
            guard values.indices.contains(index), values[index].object != nil else {
                throw Self.invalid("Missing required argument: a function")
            }
            return values[index]
        }

        /// Returns the error of a wrong call.
        static func invalid(_ message: String) -> ScriptError {
            ScriptError("MongoshInvalidInputError", message)
        }
    }

    extension BSONDocument {
        /// Adds those fields of another document that have one of the names.
        mutating func take(_ names: [String], from other: BSONDocument?) {
            guard let other else { return }
            for name in names {
                if let value = other[name] { append(name, value) }
            }
        }

        /// The text of a field; empty if there is none.
        func text(_ name: String) -> String {
            if case .string(let text)? = self[name] { text } else { "" }
        }

        /// The number in a field; 0 if there is none.
        func number(_ name: String) -> Double {
            switch self[name] {
            case .int32(let number)?: Double(number)
            case .int64(let number)?: Double(number)
            case .double(let number)?: number
            case .bool(let value)?: value ? 1 : 0
            default: 0
            }
        }

        /// Whether a field has a value that counts as true, as in a condition of a script.
        func isTrue(_ name: String) -> Bool {
            switch self[name] {
            case nil: false
            case .double(let number)?: number != 0 && !number.isNaN
            case .string(let text)?: !text.isEmpty
            case let value?: value.isTrue
            }
        }

        /// The document in a field; empty if there is none.
        func document(_ name: String) -> BSONDocument {
            if case .document(let document)? = self[name] { document } else { [:] }
        }

        /// The documents of the list in a field.
        func documents(_ name: String) -> [BSONDocument] {
            guard case .array(let list)? = self[name] else { return [] }
            return list.compactMap {
                if case .document(let document) = $0 { document } else { nil }
            }
        }

        /// The document without one of its fields.
        func leavingOut(_ name: String) -> BSONDocument { parted(from: name).rest }
    }
#endif
