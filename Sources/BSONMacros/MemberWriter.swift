#if Macros
    /// The writer of the members that `@Document` adds.
    struct MemberWriter {
        /// A member that a struct may have of its own.
        enum Member {
            case decoding
            case encoding
        }

        let properties: [StoredProperty]
        let existing: Set<Member>
        /// The access modifier with a blank behind it, or nothing.
        let access: String

        /// The source of the members in the struct, where names of types that lie beside the
        /// struct are found.
        var members: [String] {
            [keys, fields, "\(access)static var fields: Fields { Fields() }"]
        }

        /// The source of the members in the extension.
        ///
        /// An initializer in the struct would take away the memberwise one. These members name no
        /// types, since an extension does not find those beside the struct.
        var coding: String {
            var parts: [String] = []
            if !existing.contains(.decoding) { parts.append(decoding) }
            if !existing.contains(.encoding) { parts.append(encoding) }
            return parts.joined(separator: "\n\n")
        }

        private var keys: String {
            guard !properties.isEmpty else { return "enum CodingKeys: CodingKey {}" }
            let cases = properties.map { "case \($0.name) = \(Self.literal($0.fieldName))" }
            return block("enum CodingKeys: String, CodingKey", cases)
        }

        private var fields: String {
            let lines = properties.map { property in
                "\(access)let \(property.name) = BSONQuery.Field<\(fieldType(of: property))>"
                    + "(\(Self.literal(property.fieldName)))"
            }
            return block("\(access)struct Fields: Sendable", lines)
        }

        private func fieldType(of property: StoredProperty) -> String {
            property.isOptional ? "\(property.presentTypeName)?" : property.typeName
        }

        private var decoding: String {
            let decoded = properties.filter(\.isDecoded)
            let container = "let container = try decoder.container(keyedBy: CodingKeys.self)"
            return block(
                "\(access)init(from decoder: any Decoder) throws",
                decoded.isEmpty ? [] : [container] + decoded.map(decoding))
        }

        private func decoding(_ property: StoredProperty) -> String {
            let name = property.name
            let value = "try Self.decodeFieldIfPresent(.\(name), in: container)"
            if property.isOptional {
                return property.keepsDefault
                    ? "if container.contains(.\(name)) { self.\(name) = \(value) }"
                    : "self.\(name) = \(value)"
            }
            return property.hasDefault
                ? "self.\(name) = \(value) ?? self.\(name)"
                : "self.\(name) = try Self.decodeField(.\(name), in: container)"
        }

        private var encoding: String {
            let container = "var container = encoder.container(keyedBy: CodingKeys.self)"
            let lines = properties.map { property in
                // A nil that is not the default has to be stored, or the default would return.
                let call =
                    property.isOptional && !property.keepsDefault ? "encodeIfPresent" : "encode"
                return "try container.\(call)(self.\(property.name), forKey: .\(property.name))"
            }
            let unused = "_ = encoder.container(keyedBy: CodingKeys.self)"
            return block(
                "\(access)func encode(to encoder: any Encoder) throws",
                lines.isEmpty ? [unused] : [container] + lines)
        }

        private func block(_ head: String, _ lines: [String]) -> String {
            "\(head) {\n\(lines.map { "    \($0)\n" }.joined())}"
        }

        private static func literal(_ text: String) -> String {
            var literal = "\""
            for scalar in text.unicodeScalars {
                switch scalar {
                case "\"", "\\": literal += "\\\(scalar)"
                case "\n": literal += "\\n"
                case "\r": literal += "\\r"
                default: literal.unicodeScalars.append(scalar)
                }
            }
            return literal + "\""
        }
    }
#endif
