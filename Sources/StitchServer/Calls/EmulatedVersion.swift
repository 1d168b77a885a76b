internal import BSONStore

/// The MongoDB version that a server presents itself as.
package struct EmulatedVersion: Sendable, Hashable {
    /// The version's numbers: major, minor, patch.
    let numbers: [Int32]
    /// The newest wire version, by which drivers decide what they may send.
    let wire: Int32

    /// Version 8.0, which has `bulkWrite` and updates with a `sort`.
    package static let eight = EmulatedVersion(numbers: [8, 0, 16], wire: 25)
    /// Version 7.0, for a gateway, whose upstream may have neither.
    package static let seven = EmulatedVersion(numbers: [7, 0, 14], wire: 21)

    /// The version as text, such as "8.0.16".
    var text: String { numbers.map(String.init).joined(separator: ".") }

    /// The feature compatibility version, such as "8.0".
    var compatibility: String { numbers.prefix(2).map(String.init).joined(separator: ".") }

    /// The numbers in the form of `versionArray`.
    var array: BSONArray { BSONArray((numbers + [0]).map { BSONValue.int32($0) }) }
}
