/// The direction in which a number between two decimals is rounded.
package enum DecimalRounding: Sendable {
    case nearestEven
    case towardZero
    case up
    case down
}
