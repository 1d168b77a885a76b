/// The waiting threads of a ``ThreadCondition`` to wake.
package enum ThreadWaking: Sendable {
    case none
    case one
    case all
}
