#if CommandLine
    import BSONScript
    import BSONStore

    /// A connection as scripts see it, such as `db.getMongo()`.
    final class ShellMongo: ScriptHost {
        private let link: ShellLink

        init(_ link: ShellLink) { self.link = link }

        var text: String { link.server.place }

        func property(_ name: String) throws -> ScriptValue? {
            guard !ShellDatabase.isReserved(name) else { return nil }
            let (link, shell) = (link, link.shell)
            if let method = try shell.library.method(name, of: "mongo", .host(self)) {
                return method
            }
            let session = shell.session
            switch name {
            case "getDB", "getDatabase":
                return .native(name) { [unowned session] values in
                    let name = try ShellArguments(values, session).text(0, "database")
                    return .host(ShellDatabase(name, link))
                }
            case "startSession":
                return .native(name) { [unowned session] values in
                    let options = try ShellArguments(values, session).document(0, "options")
                    return .host(ShellSession(link, options ?? [:]))
                }
            case "getURI", "toString":
                return .native(name) { _ in .string(link.server.place) }
            default: return nil
            }
        }
    }
#endif
