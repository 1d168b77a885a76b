extension FilterMatcher {
    /// Calls a closure with a matcher over a program's arrays.
    @inline(__always)
    static func lend<R, E: Error>(
        _ program: FilterProgram, _ frame: ExpressionFrame? = nil,
        _ body: (FilterMatcher) throws(E) -> R
    ) throws(E) -> R {
        try FilterContext.lend(program, frame) { (context) throws(E) -> R in
            try lendNodes(program, context, body)
        }
    }

    @inline(__always)
    private static func lendNodes<R, E: Error>(
        _ program: FilterProgram, _ context: UnsafeMutablePointer<FilterContext>?,
        _ body: (FilterMatcher) throws(E) -> R
    ) throws(E) -> R {
        try program.nodes.withUnsafeBufferPointer { (nodes) throws(E) -> R in
            try program.children.withUnsafeBufferPointer { (children) throws(E) -> R in
                try program.groups.withUnsafeBufferPointer { (groups) throws(E) -> R in
                    try program.leaves.withUnsafeBufferPointer { (leaves) throws(E) -> R in
                        try lendConstants(
                            program, context, nodes, children, groups, leaves, body)
                    }
                }
            }
        }
    }

    @inline(__always)
    private static func lendConstants<R, E: Error>(
        _ program: FilterProgram, _ context: UnsafeMutablePointer<FilterContext>?,
        _ nodes: UnsafeBufferPointer<FilterProgram.Node>,
        _ children: UnsafeBufferPointer<Int32>,
        _ groups: UnsafeBufferPointer<FilterProgram.Group>,
        _ leaves: UnsafeBufferPointer<FilterProgram.Leaf>,
        _ body: (FilterMatcher) throws(E) -> R
    ) throws(E) -> R {
        try program.parts.withUnsafeBufferPointer { (parts) throws(E) -> R in
            try program.constants.withUnsafeBufferPointer { (constants) throws(E) -> R in
                try program.patterns.withUnsafeBufferPointer { (patterns) throws(E) -> R in
                    try program.bytes.withLentBytes { (bytes) throws(E) -> R in
                        try body(
                            FilterMatcher(
                                nodes: nodes, children: children, groups: groups, leaves: leaves,
                                parts: parts, constants: constants, patterns: patterns,
                                bytes: bytes, context: context))
                    }
                }
            }
        }
    }
}
