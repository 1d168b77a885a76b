#if Macros
    internal import SwiftSyntax
    internal import SwiftSyntaxMacros

    /// The mark of a property whose field has another name; `DocumentMacro` reads it.
    struct FieldNameMacro: PeerMacro {
        static func expansion(
            of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
            in context: some MacroExpansionContext
        ) throws -> [DeclSyntax] {
            guard let variable = declaration.as(VariableDeclSyntax.self) else {
                context.report("@FieldName belongs to a stored property", at: node)
                return []
            }
            if let binding = variable.bindings.first, binding.isComputed {
                context.report(
                    "@FieldName belongs to a stored property, but "
                        + "'\(binding.pattern.trimmedDescription)' is computed", at: node)
            } else if variable.bindings.count > 1 {
                context.report(
                    "@FieldName belongs to one property; declare each on its own", at: node)
            }
            return []
        }
    }
#endif
