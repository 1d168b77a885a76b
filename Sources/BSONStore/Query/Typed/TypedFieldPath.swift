internal import BSONCore

/// The way from a document, or from an element of an array, to a field.
struct TypedFieldPath: Sendable {
    /// One step of the way.
    enum Step: Sendable {
        /// A property's coding key, which the encoder may map to another key.
        case name(String)
        /// A key of a dictionary, which stays as it is.
        case key(String)
        /// A position in an array, or a placeholder for positions such as `$[]`.
        case position(String)
    }

    /// The steps; empty for the element itself.
    private(set) var steps: [Step]
    /// The number of arrays within whose elements the way begins; 0 for the document.
    let depth: Int

    /// The way to an element of an array whose own way has a depth of one less.
    static func element(depth: Int) -> TypedFieldPath { TypedFieldPath(steps: [], depth: depth) }

    /// The way to a field of a document.
    init(_ name: String) {
        steps = [.name(name)]
        depth = 0
    }

    private init(steps: [Step], depth: Int) {
        self.steps = steps
        self.depth = depth
    }

    /// Whether the way leads to the element itself.
    var isElement: Bool { steps.isEmpty }

    /// Returns the way that continues with a step.
    func appending(_ step: Step) -> TypedFieldPath {
        TypedFieldPath(steps: steps + [step], depth: depth)
    }

    /// Returns the way that continues with another one's steps.
    func appending(_ path: TypedFieldPath) -> TypedFieldPath {
        TypedFieldPath(steps: steps + path.steps, depth: depth)
    }

    /// Returns the dotted path as the encoder names the fields.
    ///
    /// - Throws: `badValue` for a dictionary's key that a path cannot name, and for a name with NUL.
    func dotted(_ encoder: BSONEncoder) throws(StoreError) -> String {
        var parts: [String] = []
        for step in steps {
            switch step {
            case .name(let name):
                try Self.check(name)
                parts.append(encoder.strategies.keys.documentKey(name))
            case .key(let key):
                try Self.check(key)
                guard !key.isEmpty, !key.utf8.contains(UInt8(ascii: ".")), !key.hasBytePrefix("$")
                else {
                    throw StoreError(
                        .badValue,
                        "A path cannot name the key '\(key)' of a dictionary: it is empty, "
                            + "contains a dot or begins with a dollar")
                }
                parts.append(key)
            case .position(let text): parts.append(text)
            }
        }
        return FieldPath(parts: parts).description
    }

    private static func check(_ name: String) throws(StoreError) {
        guard !name.utf8.contains(0) else {
            throw StoreError(.badValue, "The name of a field contains NUL")
        }
    }
}
