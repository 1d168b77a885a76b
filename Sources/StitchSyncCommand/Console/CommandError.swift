/// The reason, in one sentence, why a command failed.
struct CommandError: Error, CustomStringConvertible {
    /// The sentence, without a final full stop.
    let description: String

    init(_ description: String) { self.description = description }
}
