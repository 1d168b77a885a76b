public import BSONStore

/// One event of a fixture.
///
/// ```swift
/// fixture.steps = [
///     .network(isOn: false), .local(.update(["$set": ["done": true]])),
///     .network(isOn: true), .sync(passes: nil),
/// ]
/// ```
public indirect enum FixtureStep: Sendable {
    /// The app changes the document on the device.
    case local(Edit)
    /// Another client changes the document at the remote.
    case remote(Edit, FixtureVersion)
    /// The device's network goes on or off.
    case network(isOn: Bool)
    /// The next request of a kind is lost, or its response.
    case lose(FaultyRemote.Request, isAnswer: Bool)
    /// The next request of a kind fails with an error of this class.
    case fail(FaultyRemote.Request, String)
    /// The remote forgets its history.
    case loseHistory
    /// These steps happen right before the next request of a kind.
    case before(FaultyRemote.Request, [FixtureStep])
    /// These steps happen once, during a call of the conflict handler.
    case whileAsked([FixtureStep])
    /// The device's process is killed, at once or around a commit of the next pass, and restarted.
    case kill(Kill)
    /// The device runs this number of passes; `nil` runs passes until nothing is left to do.
    case sync(passes: Int?)
    /// The app resumes the paused document.
    case resume

    /// A change of the fixture's document.
    ///
    /// ```swift
    /// let edit = FixtureStep.Edit.update(["$inc": ["votes": 1]])
    /// fixture.steps.append(.remote(edit, .next))
    /// ```
    public enum Edit: Sendable {
        /// Inserts a document.
        case insert(BSONDocument)
        /// Replaces the document; at the remote, inserts it where it is missing.
        case replace(BSONDocument)
        /// Changes the document by update operators.
        case update(BSONDocument)
        /// Deletes the document.
        case delete
    }

    /// The time at which a process is killed.
    ///
    /// ```swift
    /// fixture.steps.append(.kill(.atCommit(1, isBefore: true)))
    /// ```
    public enum Kill: Sendable {
        /// The process is killed at once.
        case now
        /// The process is killed in the next pass, before or after its n-th commit, counted from 1.
        case atCommit(Int, isBefore: Bool)
    }
}
