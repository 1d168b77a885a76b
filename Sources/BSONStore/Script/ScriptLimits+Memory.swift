import BSONQuery

extension ScriptLimits {
    /// The approximate maximum of all bytes that an evaluation allocates, including released ones.
    static let bytesMax = 64 << 20
    /// The maximum depth of calls and values.
    static let depthMax = 100
}
