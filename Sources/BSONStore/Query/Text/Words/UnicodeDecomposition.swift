@_spi(_Unicode) internal import Swift

/// The decomposition of texts into letters and marks, and the removal of marks.
///
/// Source: Unicode Standard Annex 15; the standard library decomposes, so ICU is not needed.
enum UnicodeDecomposition {
    /// Returns the scalars of the canonical decomposition, with marks behind their letters.
    static func scalars(_ text: String) -> [Unicode.Scalar] {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return Array(text.unicodeScalars) }
        return Array(text._nfd)
    }

    /// Whether a scalar is a mark that belongs to the letter before it.
    static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value >= 0x300 && scalar.properties.generalCategory == .nonspacingMark
    }

    /// Returns a text without marks.
    static func unmarked(_ text: String) -> String {
        var view = String.UnicodeScalarView()
        for scalar in scalars(text) where !isMark(scalar) { view.append(scalar) }
        return String(view)
    }
}
