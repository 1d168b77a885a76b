import BSONQuery

/// The stack of the thread, by which a session limits the depth of calls.
enum ScriptStack {
    /// Returns the address that the stack has reached; it grows towards lower ones.
    static func position() -> UInt {
        var mark: UInt8 = 0
        return withUnsafePointer(to: &mark) { UInt(bitPattern: $0) }
    }
}
