internal import BSONStore

/// The registration of a listener; deallocating it does not end the listener.
///
/// ```swift
/// let registration = engine.addErrorListener { error in print(error) }
/// registration.remove()
/// ```
public final class ListenerRegistration: Sendable {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    /// Ends the listener after its running call; a second call does nothing.
    public func remove() { end() }
}
