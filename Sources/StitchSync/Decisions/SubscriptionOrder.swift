/// Is what is known when the device decides what to send next.
struct SubscriptionOrderFacts: Hashable {
    /// Documents of a set are coming in.
    var isBootstrapping: Bool
    /// A set waits to be asked for.
    var hasUnaskedSet: Bool
    /// Writes wait that were made before that set; any writes where there is no set.
    var hasEarlierWrites: Bool
    /// Writes wait that were made after that set.
    var hasLaterWrites: Bool
}

/// Decides what goes to the remote next: writes and sets in the order in which they were made.
///
/// So a write is judged by the subscriptions that were there when it was made.
enum SubscriptionOrder: String, Hashable {
    /// Wait for the rest of the documents.
    case receive
    /// Send writes, up to the set that waits where there is one.
    case sendWrites
    /// Ask for the documents of the set.
    case askForSet
    /// There is nothing to send.
    case nothing

    static func decide(_ facts: SubscriptionOrderFacts) -> Self {
        if facts.isBootstrapping { return .receive }
        if facts.hasEarlierWrites { return .sendWrites }
        if facts.hasUnaskedSet { return .askForSet }
        return facts.hasLaterWrites ? .sendWrites : .nothing
    }
}
