import SyncSimulation

/// Something wrong that a remote answers; none of them tells of a delete that was not.
enum Lie: CaseIterable {
    /// Answers to lists have fewer entries.
    case shortLists
    /// Answers to lists have more entries.
    case longLists
    /// Answers to lists have their entries in another order.
    case wrongOrder
    /// One entry stands in the place of others.
    case doubledEntries
    /// Documents that nobody asked for.
    case foreignDocuments
    /// Documents are said to be absent, without evidence.
    case absence
    /// Writes are not carried out, since their condition is said not to hold.
    case notMatched
    /// Writes are not carried out, since their `_id` is said to be taken.
    case duplicateKey
    /// Writes are not carried out, with an error of any kind.
    case refusal
    /// Writes are carried out and said to have failed.
    case lostAnswer
    /// The history stays at one place and tells the same again.
    case sameToken
    /// The history is at another place, that does not exist, each time.
    case newTokens
    /// The history always has more.
    case moreForEver
    /// The history is answered at once where it is to be waited for.
    case haste
    /// Pages of queries have nothing and are not the last.
    case emptyPages
    /// Requests fail with an error of any kind.
    case errors
    /// Documents are larger than a store may hold.
    case oversized
    /// Documents have no `_id`, or one that none may have, or are too deep.
    case invalid
    /// Versions have any type.
    case oddVersions
    /// Contents and their fingerprints are others.
    case otherContents
    /// The collection is another one, or does not exist, or is not known.
    case identities
    /// Counts of documents are negative or huge.
    case counts

    /// Some of them, by seed.
    static func some(_ random: inout SimulationRandom) -> Set<Lie> {
        let count = 1 + Int.random(in: 0..<4, using: &random)
        return Set((0..<count).map { _ in allCases.randomElement(using: &random) ?? .errors })
    }
}
