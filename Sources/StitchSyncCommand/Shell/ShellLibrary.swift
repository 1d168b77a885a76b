#if CommandLine
    import BSONScript
    import BSONStore
    import StitchShellC

    /// The part of the shell's functions that is written in the shell's own language.
    ///
    /// Its scripts define global names and an object, `methods`, with the methods of a database, a
    /// collection, and the other objects that Swift answers for.
    struct ShellLibrary {
        private unowned let session: ScriptSession
        private var methods = ScriptValue.undefined

        init(_ session: ScriptSession) { self.session = session }

        /// Runs the scripts.
        ///
        /// - Throws: an error if one is invalid.
        mutating func load() throws {
            methods = try session.evaluate(
                "(function () {\n\(Self.scripts)return methods })()")
        }

        /// The scripts, which the compiler embeds.
        private static var scripts: String {
            let scripts = stitch_shell_scripts()
            let bytes = UnsafeBufferPointer(start: scripts.bytes, count: Int(scripts.count))
            return String(decoding: bytes, as: UTF8.self)
        }

        /// Returns a method of an object; `nil` if the scripts define none of that name.
        func method(_ name: String, of kind: String, _ this: ScriptValue) throws -> ScriptValue? {
            guard case .object = methods else { return nil }
            let table = try session.property(kind, of: methods)
            guard try session.hasOwn(name, table) else { return nil }
            let function = try session.property(name, of: table)
            return .native(name) { [unowned session] values in
                try session.call(function, values, this: this)
            }
        }

        /// Calls a function of the scripts.
        func call(_ name: String, _ arguments: [ScriptValue]) throws -> ScriptValue {
            try session.call(try session.property(name, of: methods), arguments)
        }
    }
#endif
