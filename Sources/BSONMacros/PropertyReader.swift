#if Macros
    internal import SwiftParser
    internal import SwiftSyntax
    internal import SwiftSyntaxMacros

    /// The reader of a struct's stored properties; it reports those that cannot be fields.
    struct PropertyReader {
        /// The context that faults are reported in; `nil` if another expansion reports them.
        let context: (any MacroExpansionContext)?
        private(set) var properties: [StoredProperty] = []
        /// The members that the struct has of its own and the macro leaves out.
        private(set) var existing: Set<MemberWriter.Member> = []
        private(set) var hasFailed = false

        init(context: (any MacroExpansionContext)?) { self.context = context }

        /// Reads the members of a struct.
        mutating func read(_ members: MemberBlockItemListSyntax) {
            for member in members {
                if let variable = member.decl.as(VariableDeclSyntax.self) {
                    read(variable)
                } else if let condition = member.decl.as(IfConfigDeclSyntax.self) {
                    check(condition)
                } else if let type = member.decl.as(EnumDeclSyntax.self),
                    type.name.text == "CodingKeys"
                {
                    fail("@Document writes CodingKeys; name a field by @FieldName", at: type.name)
                } else if let initializer = member.decl.as(InitializerDeclSyntax.self),
                    initializer.signature.parameterClause.parameters.first?.firstName.text == "from"
                {
                    existing.insert(.decoding)
                } else if let function = member.decl.as(FunctionDeclSyntax.self),
                    function.name.text == "encode",
                    function.signature.parameterClause.parameters.first?.firstName.text == "to"
                {
                    existing.insert(.encoding)
                }
            }
        }

        private mutating func read(_ variable: VariableDeclSyntax) {
            let modifiers = variable.modifiers.map(\.name.tokenKind)
            guard !modifiers.contains(.keyword(.static)) else { return }
            var type: TypeSyntax?
            var found: [StoredProperty] = []
            // `var a, b: Int` has its type behind the last name.
            for binding in variable.bindings.reversed() where !binding.isComputed {
                type = binding.typeAnnotation?.type ?? (binding.initializer == nil ? type : nil)
                if let property = property(binding, type, variable) { found.append(property) }
            }
            if modifiers.contains(.keyword(.lazy)), let name = found.first?.name {
                fail("'\(name)' is lazy; a field is stored when the document is made", at: variable)
            }
            for property in found.reversed() { add(property, at: variable) }
        }

        private mutating func property(
            _ binding: PatternBindingSyntax, _ type: TypeSyntax?, _ variable: VariableDeclSyntax
        ) -> StoredProperty? {
            guard let identifier = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier
            else {
                fail("a field has one name; declare each on its own", at: binding.pattern)
                return nil
            }
            let name = identifier.text
            guard let typeName = type?.trimmedDescription ?? binding.literalType else {
                fail(
                    "the type of '\(name)' is not written; add it, as in 'var \(name): String'",
                    at: binding.pattern)
                return nil
            }
            return StoredProperty(
                name: name, typeName: typeName, key: key(of: variable, named: name),
                isOptional: type?.isOptional ?? false,
                hasDefault: binding.initializer != nil,
                hasNilDefault: binding.initializer?.value.is(NilLiteralExprSyntax.self) ?? false,
                isConstant: variable.bindingSpecifier.tokenKind == .keyword(.let))
        }

        /// Returns the name of a property's field: that of `@FieldName`, or its own.
        private mutating func key(of variable: VariableDeclSyntax, named name: String) -> String? {
            for attribute in variable.attributes {
                guard let attribute = attribute.as(AttributeSyntax.self),
                    attribute.attributeName.trimmedDescription.split(separator: ".").last
                        == "FieldName"
                else { continue }
                let argument = attribute.arguments?.as(LabeledExprListSyntax.self)?.first?
                    .expression
                guard
                    let text = argument?.as(StringLiteralExprSyntax.self)?.representedLiteralValue
                else {
                    fail("the name of a field is a string literal", at: attribute)
                    return nil
                }
                if text.isEmpty || text.hasPrefix("$") || text.contains(".") || text.contains("\0")
                {
                    fail(
                        "the name of a field is not empty, does not begin with a dollar and has no dot",
                        at: attribute)
                }
                return text
            }
            return nil
        }

        private mutating func add(_ property: StoredProperty, at variable: VariableDeclSyntax) {
            if let other = properties.first(where: { $0.fieldName == property.fieldName }) {
                fail(
                    "'\(other.name)' and '\(property.name)' are both the field "
                        + "\"\(property.fieldName)\"", at: variable)
            }
            properties.append(property)
        }

        private mutating func check(_ condition: IfConfigDeclSyntax) {
            for clause in condition.clauses {
                guard case .decls(let members) = clause.elements else { continue }
                for member in members {
                    guard let variable = member.decl.as(VariableDeclSyntax.self),
                        variable.bindings.contains(where: { !$0.isComputed })
                    else { continue }
                    fail("a field cannot depend on #if", at: variable)
                }
            }
        }

        private mutating func fail(_ message: String, at node: some SyntaxProtocol) {
            hasFailed = true
            context?.report(message, at: node)
        }
    }
#endif
