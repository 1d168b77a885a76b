#if Macros
    internal import SwiftDiagnostics
    internal import SwiftSyntax
    internal import SwiftSyntaxMacros

    /// An error that the macro reports.
    private struct MacroError: DiagnosticMessage {
        let message: String
        var diagnosticID: MessageID { MessageID(domain: "BSONMacros", id: message) }
        var severity: DiagnosticSeverity { .error }
    }

    extension MacroExpansionContext {
        /// Reports an error at a place of the source.
        func report(_ message: String, at node: some SyntaxProtocol) {
            diagnose(Diagnostic(node: Syntax(node), message: MacroError(message: message)))
        }
    }
#endif
