/// Ends a listener.
public final class ListenerRegistration: Sendable {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    /// Ends the listener after the call that is under way; ending it again does nothing.
    public func remove() { end() }
}
