internal import BSONStore

/// The reason why a server refuses to start.
package struct UnsafeSettings: Error, CustomStringConvertible {
    /// The missing or unsafe setting, and how to fix it.
    package let description: String
}
