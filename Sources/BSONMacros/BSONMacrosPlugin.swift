#if Macros
    internal import SwiftCompilerPlugin
    internal import SwiftSyntaxMacros

    /// The program that expands `@Document` for the compiler.
    @main
    struct BSONMacrosPlugin: CompilerPlugin {
        let providingMacros: [any Macro.Type] = [DocumentMacro.self, FieldNameMacro.self]
    }
#else
    /// A program without macros: with the trait off, SwiftPM still builds the target.
    @main
    struct BSONMacrosPlugin {
        static func main() {}
    }
#endif
