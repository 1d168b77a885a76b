#if Macros
    internal import SwiftSyntax

    extension PatternBindingSyntax {
        /// Whether the property is computed; `willSet` and `didSet` leave it stored.
        var isComputed: Bool {
            switch accessorBlock?.accessors {
            case .none: false
            case .getter: true
            case .accessors(let accessors):
                accessors.contains { accessor in
                    switch accessor.accessorSpecifier.tokenKind {
                    case .keyword(.willSet), .keyword(.didSet): false
                    default: true
                    }
                }
            }
        }

        /// The type of a default value that shows it: a literal, or a call such as `Date()`.
        var literalType: String? {
            guard let value = initializer?.value else { return nil }
            return Self.type(of: value)
        }

        private static func type(of value: ExprSyntax) -> String? {
            if value.is(BooleanLiteralExprSyntax.self) { return "Bool" }
            if value.is(IntegerLiteralExprSyntax.self) { return "Int" }
            if value.is(FloatLiteralExprSyntax.self) { return "Double" }
            if value.is(StringLiteralExprSyntax.self) { return "String" }
            if let negative = value.as(PrefixOperatorExprSyntax.self), negative.operator.text == "-"
            {
                return type(of: negative.expression)
            }
            guard let call = value.as(FunctionCallExprSyntax.self), call.arguments.isEmpty,
                call.trailingClosure == nil,
                let name = call.calledExpression.as(DeclReferenceExprSyntax.self)?.baseName.text,
                name.first?.isUppercase == true
            else { return nil }
            return name
        }
    }

    extension TypeSyntax {
        /// Whether the type is written as an optional.
        var isOptional: Bool {
            self.is(OptionalTypeSyntax.self)
                || self.is(ImplicitlyUnwrappedOptionalTypeSyntax.self)
                || self.as(IdentifierTypeSyntax.self)?.name.text == "Optional"
        }
    }
#endif
