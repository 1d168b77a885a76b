internal import BSONCoreC

/// The engine that parses the scripts of queries; a process has one or none.
package enum ScriptEngine {
    /// Parses a text: an expression, statements or a function.
    ///
    /// - Throws: 139 (JSInterpreterFailure) for an invalid script.
    package typealias Parse = @Sendable (String) throws(StoreError) -> any CompiledScript

    private static let installed = Locked<Parse?>(nil)

    private static let engine: Parse? = {
        bsonstore_install_scripts()
        return installed.withLock { $0 }
    }()

    /// Sets the engine of the process; the module BSONScript does it, where it is linked.
    package static func install(_ parse: @escaping Parse) {
        installed.withLock { $0 = parse }
    }

    /// Parses a script with the engine of the process.
    ///
    /// - Parameter disabled: the error without an engine, as MongoDB reports it when
    ///   `security.javascriptEnabled` is false.
    /// - Throws: `disabled`, and 139 (JSInterpreterFailure) for an invalid script.
    static func parse(
        _ text: String, disabled: StoreError = Self.disabled
    ) throws(StoreError) -> any CompiledScript {
        guard let parse = engine else { throw disabled }
        return try parse(text)
    }

    /// The error of `$function`, `$accumulator` and the stages of `mapReduce`.
    ///
    /// Source: the server's `expression_context.cpp`, `getJsExecWithScope`.
    static let disabled = StoreError.location(
        31264, "Cannot run server-side javascript without the javascript engine enabled")

    /// Returns the text of a script, which may be a string or code.
    static func text(of value: BSONValue?) -> String? {
        switch value {
        case .string(let text), .javascript(let text): text
        default: nil
        }
    }
}
