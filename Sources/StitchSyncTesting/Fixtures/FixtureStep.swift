public import BSONStore

/// One thing that happens in a fixture.
public indirect enum FixtureStep: Sendable {
    /// The app changes the document on the device.
    case local(Edit)
    /// Somebody else changes the document at the remote.
    case remote(Edit, FixtureVersion)
    /// The device's network comes and goes.
    case network(isOn: Bool)
    /// The next request of a kind gets lost on its way, or its answer does.
    case lose(FaultyRemote.Request, isAnswer: Bool)
    /// The remote fails the next request of a kind.
    case fail(FaultyRemote.Request, String)
    /// The remote forgets its history.
    case loseHistory
    /// Steps that happen right before the next request of a kind.
    case before(FaultyRemote.Request, [FixtureStep])
    /// Steps that happen while the handler thinks, once.
    case whileAsked([FixtureStep])
    /// The device's process is killed, and started again at the next step that needs it: at once, or
    /// in the next pass around a commit.
    case kill(Kill)
    /// The device passes so often, or until nothing is left to do.
    case sync(passes: Int?)
    /// The app resumes the paused document.
    case resume

    /// A change of the document.
    public enum Edit: Sendable {
        /// Inserts a document.
        case insert(BSONDocument)
        /// Replaces the document; at the remote inserts it where there is none.
        case replace(BSONDocument)
        /// Changes it by update operators.
        case update(BSONDocument)
        /// Deletes it.
        case delete
    }

    /// When a process is killed.
    public enum Kill: Sendable {
        /// Now.
        case now
        /// In the next pass, before or after its n-th commit, from 1.
        case atCommit(Int, isBefore: Bool)
    }
}
