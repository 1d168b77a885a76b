/// Says why a server was not started.
package struct UnsafeSettings: Error, CustomStringConvertible {
    /// A sentence that names what is missing.
    package let description: String
}
