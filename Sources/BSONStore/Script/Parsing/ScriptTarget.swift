import BSONQuery

/// A place that takes a value, or a pattern of places that take its parts.
indirect enum ScriptTarget: Sendable {
    /// A name or a property.
    case place(ScriptExpression)
    case object([(key: ScriptExpression, target: ScriptTarget)], rest: ScriptTarget?)
    /// A pattern for the items of a value; `nil` skips one.
    case array([ScriptTarget?], rest: ScriptTarget?)
    case defaulted(ScriptTarget, ScriptExpression)

    /// Whether the target is a pattern, with or without a default.
    var isPattern: Bool {
        switch self {
        case .place: false
        case .object, .array: true
        case .defaulted(let target, _): target.isPattern
        }
    }

    /// The names that the target stores into.
    var names: [String] {
        switch self {
        case .place(.name(let name)): [name]
        case .place: []
        case .object(let fields, let rest): fields.flatMap(\.target.names) + (rest?.names ?? [])
        case .array(let targets, let rest):
            targets.flatMap { $0?.names ?? [] } + (rest?.names ?? [])
        case .defaulted(let target, _): target.names
        }
    }

    /// Reads a literal as a pattern.
    ///
    /// - Throws: 139 if a part of it cannot be assigned to.
    init(_ expression: ScriptExpression) throws(StoreError) {
        switch expression {
        case .name, .member: self = .place(expression)
        case .assign(let target, nil, let value): self = .defaulted(try Self(target), value)
        case .destructure(let target, let value): self = .defaulted(target, value)
        case .array(let values):
            var targets: [ScriptTarget?] = []
            var rest: ScriptTarget?
            for value in values {
                guard rest == nil else { throw Self.invalid }
                switch value {
                case .hole: targets.append(nil)
                case .spread(let value): rest = try Self(value)
                default: targets.append(try Self(value))
                }
            }
            self = .array(targets, rest: rest)
        case .object(let fields):
            var targets: [(key: ScriptExpression, target: ScriptTarget)] = []
            var rest: ScriptTarget?
            for field in fields {
                guard rest == nil else { throw Self.invalid }
                switch field {
                case .property(let key, let value): targets.append((key, try Self(value)))
                case .spread(let value): rest = try Self(value)
                case .getter, .setter: throw Self.invalid
                }
            }
            self = .object(targets, rest: rest)
        default: throw Self.invalid
        }
    }

    private static let invalid = ScriptLexer.illegal("invalid destructuring assignment target")
}

/// The way in which a target takes its value.
enum ScriptBinding: Sendable {
    /// Assigns to what exists.
    case assign
    /// Declares in the function.
    case variable
    /// Declares in the block.
    case block
    /// Declares in the block, for reading only.
    case constant
}
