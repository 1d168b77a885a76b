/// A remote that tells its server which device uses it.
package protocol DeviceIntroduction: Sendable {
    /// Takes the device's name, which connections opened from now on send.
    ///
    /// - Parameter backlog: returns what waits on the device, asked for each connection; `nil` if
    ///   it is not known.
    func introduce(
        _ device: DeviceIdentity, backlog: @escaping @Sendable () -> DeviceBacklog?)
}

/// The name of a device for operators: that of a store's file, which outlives the app's launches.
///
/// A copy of the file has the same name, and another instance.
package struct DeviceIdentity: Sendable, Hashable {
    /// The first instance of the store's file.
    package let first: UInt64
    /// The present instance, which the versions of its writes name.
    package let instance: UInt64

    package init(first: UInt64, instance: UInt64) {
        self.first = first
        self.instance = instance
    }
}
