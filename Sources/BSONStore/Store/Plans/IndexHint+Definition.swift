extension IndexHint {
    /// Whether the hint names this index.
    package func isFor(_ definition: IndexDefinition) -> Bool {
        switch self {
        case .name(let name): definition.name.hasSameBytes(as: name)
        case .keyPattern(let pattern): definition.hasKeyPattern(pattern)
        case .natural, .reverseNatural: false
        }
    }
}
