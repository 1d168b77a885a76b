package import BSONStore

/// The check of a write command's form, for writes that the server does not run itself.
package enum WriteForm {
    /// Checks `insert`, `update`, `delete` and `findAndModify` as the server does before it writes.
    ///
    /// - Throws: `StoreError` with the server's code and message.
    package static func check(_ command: BSONDocument) throws {
        do {
            guard let name = command.keys.first, let definition = CommandTable.find(name) else {
                return
            }
            let signature = definition.signature
            try signature.schema.check(command, named: signature.name, isCommand: true)
            func statements(_ field: String) throws(CommandFailure) -> [BSONDocument] {
                let statements = try CommandSchema.documents(
                    command[field] ?? .null, named: "\(signature.name).\(field)")
                try WriteBatch.checkCount(statements.count)
                return statements
            }
            switch signature.name {
            case "insert": _ = try statements("documents")
            case "update":
                for update in try statements("updates") { _ = try UpdateStatement(update) }
            case "delete":
                for delete in try statements("deletes") { _ = try DeleteStatement(delete) }
            case "findAndModify": try FindAndModifyCommand.check(command)
            default: break
            }
        } catch {
            let failure = CommandFailure(error)
            throw StoreError(StoreError.Code(rawValue: failure.code), failure.message)
        }
    }
}
