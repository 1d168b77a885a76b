import BSONQuery

/// The limits of scripts, and the dialect that they are written in.
package struct ScriptOptions: Sendable {
    /// Whether scripts see and store numbers as MongoDB's shell does: integers of 64 bits are
    /// objects, and a number that a script computes is stored as an integer of 32 bits if it is
    /// one.
    package var keepsNumberTypes = false
    /// The approximate maximum of all bytes that are allocated, including released ones.
    package var bytesMax = ScriptLimits.bytesMax
    /// The maximum depth of calls and values; the stack of the thread must have room for it.
    package var depthMax = ScriptLimits.depthMax
    /// The bytes of the thread's stack that calls may use, which then replace `depthMax`.
    ///
    /// A call takes some 10 KiB, without optimisation some 100 KiB. Swift functions that a script
    /// calls need room beyond these bytes.
    package var stackBytesMax: Int?
    /// Whether an evaluation ends at the deadline of ``ScriptLimits``.
    package var hasDeadline = true

    package init() {}

    /// The options for MongoDB's shell, which has no limit of time.
    package static var shell: ScriptOptions {
        var options = ScriptOptions()
        options.keepsNumberTypes = true
        options.bytesMax = .max / 4
        options.hasDeadline = false
        options.stackBytesMax = 3 << 20
        return options
    }
}
