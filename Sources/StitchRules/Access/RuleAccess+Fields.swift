package import BSONStore

/// The access to the single fields of a document.
package struct RuleFieldAccess: Sendable {
    /// The paths of the fields that the user reads, in the document's order.
    package let readable: [String]
    /// The paths of the fields that the user may change, in the document's order.
    package let writable: [String]
}

extension RuleAccess {
    /// Returns the fields of a document that the user reads, and those to which the user may give
    /// another value with which the document still passes the write filter.
    package func fieldAccess(of document: BSONDocument) -> RuleFieldAccess {
        guard let shown = visible(document) else {
            return RuleFieldAccess(readable: [], writable: [])
        }
        let readable = shown.fieldPaths
        do throws(RuleDenial) {
            _ = try judge(from: document, toShown: shown)
        } catch {
            return RuleFieldAccess(readable: readable, writable: [])
        }
        let root = mask(for: document).root
        let writable = readable.filter { path in
            path != "_id"
                && (write != nil || root.at(path.dottedParts[...]).writesEverything)
        }
        return RuleFieldAccess(readable: readable, writable: writable)
    }
}

extension BSONDocument {
    /// The paths of all fields, in order and each once; a document in a field stands for its own
    /// fields.
    package var fieldPaths: [String] {
        var known: Set<Name> = []
        return flatMap { Self.paths($0.value, $0.key) }.filter { known.insert(Name($0)).inserted }
    }

    private static func paths(_ value: BSONValue, _ path: String) -> [String] {
        switch value {
        case .document(let document) where !document.isEmpty:
            return document.flatMap { paths($0.value, "\(path).\($0.key)") }
        case .array(let array):
            let inner = array.compactMap(\.documentValue)
            guard !inner.isEmpty else { return [path] }
            return inner.flatMap { paths(.document($0), path) }
        default: return [path]
        }
    }
}

extension FieldNode {
    /// Returns the permission at a path.
    fileprivate func at(_ path: ArraySlice<String>) -> FieldNode {
        guard let first = path.first else { return self }
        return child(first).at(path.dropFirst())
    }
}
