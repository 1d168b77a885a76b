/// The facts that decide the next request of a device.
struct SubscriptionOrderFacts: Hashable {
    /// Whether documents of a set are being downloaded.
    var isBootstrapping: Bool
    /// Whether a later set can be asked for in place of the one that is being downloaded: no write
    /// between the two is pending.
    var isOvertaken: Bool
    /// Whether a set was not sent to the remote yet.
    var hasUnaskedSet: Bool
    /// Whether writes from before that set are pending; without a set, any writes.
    var hasEarlierWrites: Bool
    /// Whether writes from after that set are pending.
    var hasLaterWrites: Bool
}

/// The next request to the remote: writes and sets go in the order in which the app made them.
///
/// So the remote judges a write by the subscriptions at the time of the write.
enum SubscriptionOrder: String, Hashable {
    /// Download the remaining documents.
    case receive
    /// Ask for the later set, which keeps what was downloaded and is in its queries, too.
    case giveWay
    /// Upload writes, up to the pending set where there is one.
    case sendWrites
    /// Request the documents of the set.
    case askForSet
    /// Send nothing.
    case nothing

    static func decide(_ facts: SubscriptionOrderFacts) -> Self {
        if facts.isBootstrapping { return facts.isOvertaken ? .giveWay : .receive }
        if facts.hasEarlierWrites { return .sendWrites }
        if facts.hasUnaskedSet { return .askForSet }
        return facts.hasLaterWrites ? .sendWrites : .nothing
    }
}
