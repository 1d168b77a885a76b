package import BSONQuery

/// A function in Swift that scripts call.
///
/// It may throw a ``ScriptError`` or a `StoreError`, which the script can catch.
package typealias ScriptNative = ([ScriptValue]) throws -> ScriptValue

/// An object whose properties Swift answers, such as a database or a cursor.
package protocol ScriptHost: AnyObject {
    /// The object as a text.
    var text: String { get }
    /// The names that loops over the object visit.
    var names: [String] { get }
    /// Returns a property; `nil` if the object has none of that name.
    func property(_ name: String) throws -> ScriptValue?
    /// Stores a property.
    ///
    /// - Returns: whether the object takes it; the script's own object keeps it otherwise.
    func set(_ name: String, _ value: ScriptValue) throws -> Bool
    /// Returns a function that returns one item after the other; `nil` if there are none to visit.
    func items() throws -> (() throws -> ScriptValue?)?
    /// Returns the value for storage.
    func stored() throws(StoreError) -> BSONValue
}

extension ScriptHost {
    package var names: [String] { [] }
    package func set(_ name: String, _ value: ScriptValue) throws -> Bool { false }
    package func items() throws -> (() throws -> ScriptValue?)? { nil }
    package func stored() throws(StoreError) -> BSONValue { .document([:]) }
}
