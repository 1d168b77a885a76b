/// Says in one sentence why a command could not do what it was asked.
struct CommandError: Error, CustomStringConvertible {
    /// The sentence, without a final full stop.
    let description: String

    init(_ description: String) { self.description = description }
}
