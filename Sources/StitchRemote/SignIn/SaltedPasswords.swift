#if Remote
    internal import BSONStore
    internal import StitchCommands

    /// The derived keys of one password, so that each new connection need not derive them again.
    final class SaltedPasswords: Sendable {
        private struct Key: Hashable {
            let salt: [UInt8]
            let iterations: Int
        }

        private let secret: [UInt8]
        private let known = Locked<[Key: [UInt8]]>([:])
        /// The hosts of a set may have different salts.
        private static let countMax = 8

        init(password: String) { secret = ScramClient.secret(password) }

        /// Returns the key for a challenge, derived on a thread of its own where it is new.
        ///
        /// - Throws: ``MongoFailure`` when the task is cancelled or no thread can be made.
        func salted(_ challenge: ScramClient.Challenge) async throws(MongoFailure) -> [UInt8] {
            let key = Key(salt: challenge.salt, iterations: challenge.iterations)
            if let found = known.withLock({ $0[key] }) { return found }
            let answer = FirstAnswer<[UInt8]?>()
            let secret = secret
            let isStarted = DetachedThread.start {
                answer.give(
                    SHA256.derivedKey(
                        of: secret, salt: key.salt, rounds: Int32(clamping: key.iterations)))
            }
            guard isStarted else {
                throw MongoFailure(kind: .network, message: "the system has no thread to sign in")
            }
            let made = await withTaskCancellationHandler {
                await answer.value
            } onCancel: {
                answer.give(nil)
            }
            guard let made else { throw .cancelled }
            known.withLock { known in
                if known.count >= Self.countMax { known = [:] }
                known[key] = made
            }
            return made
        }
    }
#endif
