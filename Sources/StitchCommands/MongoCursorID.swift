package import BSONStore

/// The name of an open cursor on a server.
package struct MongoCursorID: Sendable, Hashable {
    package let id: Int64
    package let namespace: Namespace

    package init(id: Int64, namespace: Namespace) {
        self.id = id
        self.namespace = namespace
    }

    /// The command that closes the cursor.
    package var kill: BSONDocument {
        ["killCursors": .string(namespace.collection), "cursors": [.int64(id)]]
    }
}
