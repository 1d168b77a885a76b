extension Int {
    /// The number and the noun in the right number: `1 document`, `2 documents`.
    ///
    /// - Parameter plural: the noun's plural where it is not made by an s.
    func counted(_ noun: String, plural: String? = nil) -> String {
        self == 1 ? "1 \(noun)" : "\(self) \(plural ?? noun + "s")"
    }
}
