#if Macros
    internal import SwiftSyntax
    internal import SwiftSyntaxBuilder
    internal import SwiftSyntaxMacros

    /// The expansion of `@Document`: names of fields in the struct, and an extension with the
    /// conformance to `TypedDocument`.
    struct DocumentMacro: MemberMacro, ExtensionMacro {
        static func expansion(
            of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
            conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
        ) throws -> [DeclSyntax] {
            // The extension's expansion reports the faults.
            guard let document = declaration.as(StructDeclSyntax.self),
                let writer = writer(for: document, reportingTo: nil)
            else { return [] }
            return writer.members.map { "\(raw: $0)" }
        }

        static func expansion(
            of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
            providingExtensionsOf type: some TypeSyntaxProtocol,
            conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
        ) throws -> [ExtensionDeclSyntax] {
            guard let document = declaration.as(StructDeclSyntax.self) else {
                context.report(refusal(of: declaration), at: keyword(of: declaration))
                return []
            }
            guard let writer = writer(for: document, reportingTo: context) else { return [] }
            // Those that the struct does not have of its own.
            let missing = Set(
                protocols.compactMap { $0.trimmedDescription.split(separator: ".").last })
            var conformances = missing.contains("TypedDocument") ? ["BSONQuery.TypedDocument"] : []
            if missing.contains("Identifiable"), isIdentified(document) {
                conformances.append("Swift.Identifiable")
            }
            let conformance =
                conformances.isEmpty ? "" : ": " + conformances.joined(separator: ", ")
            let source: DeclSyntax = """
                extension \(type.trimmed)\(raw: conformance) {
                \(raw: writer.coding)
                }
                """
            return [source.as(ExtensionDeclSyntax.self)].compactMap(\.self)
        }

        /// Returns the writer of a struct's members, or nil if its properties cannot be fields.
        private static func writer(
            for document: StructDeclSyntax, reportingTo context: (any MacroExpansionContext)?
        ) -> MemberWriter? {
            var reader = PropertyReader(context: context)
            reader.read(document.memberBlock.members)
            guard !reader.hasFailed else { return nil }
            return MemberWriter(
                properties: reader.properties, existing: reader.existing,
                access: access(of: document))
        }

        /// Whether a struct has a property `id` that is visible wherever the struct is.
        private static func isIdentified(_ document: StructDeclSyntax) -> Bool {
            let needed = access(of: document).filter { $0 != " " }
            return document.memberBlock.members.contains { member in
                guard let variable = member.decl.as(VariableDeclSyntax.self),
                    variable.bindings.contains(where: {
                        $0.pattern.as(IdentifierPatternSyntax.self)?.identifier.text == "id"
                    })
                else { return false }
                // `private(set)` has a detail and hides only the setter.
                let modifiers = Set(
                    variable.modifiers.filter { $0.detail == nil }.map(\.name.text))
                return modifiers.isDisjoint(with: ["private", "fileprivate", "static"])
                    && (needed.isEmpty || !modifiers.isDisjoint(with: [needed, "public"]))
            }
        }

        private static func refusal(of declaration: some DeclGroupSyntax) -> String {
            let (kind, name) =
                if let found = declaration.as(ClassDeclSyntax.self) {
                    ("a class", found.name.text)
                } else if let found = declaration.as(EnumDeclSyntax.self) {
                    ("an enum", found.name.text)
                } else if let found = declaration.as(ActorDeclSyntax.self) {
                    ("an actor", found.name.text)
                } else {
                    ("another declaration", "this")
                }
            let advice =
                kind == "an enum"
                ? "; an enum with raw values needs only Codable and Sendable" : ""
            return "@Document belongs to a struct, but '\(name)' is \(kind)\(advice)"
        }

        private static func keyword(of declaration: some DeclGroupSyntax) -> Syntax {
            Syntax(declaration.introducer)
        }

        /// Returns the modifier that members of a conformance need, with a blank behind it.
        private static func access(of document: StructDeclSyntax) -> String {
            for modifier in document.modifiers {
                switch modifier.name.tokenKind {
                case .keyword(.public): return "public "
                case .keyword(.package): return "package "
                default: continue
                }
            }
            return ""
        }
    }
#endif
