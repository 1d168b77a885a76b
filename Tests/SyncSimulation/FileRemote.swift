import BSONStore
import StitchSync

/// A remote whose requests about files are lost on their way there or back, as a seed decides, or end
/// the device that sends them.
final class FileRemote: Remote {
    /// What becomes of a request.
    private enum Fate {
        case arrives
        case isLost
        case losesAnswer
        case endsDevice
    }

    private struct State {
        var random: SimulationRandom
        /// The number of requests in a hundred that something happens to.
        var rate = 0
        /// Ends the device: it stores nothing any more.
        var end: (@Sendable () -> Void)?
        var isEnded = false
    }

    private let inner: InProcessRemote
    private let state: Locked<State>

    init(_ inner: InProcessRemote, _ random: SimulationRandom) {
        self.inner = inner
        state = Locked(State(random: random))
    }

    /// Whether a request has ended the device.
    var isEnded: Bool { state.withLock { $0.isEnded } }

    /// Lets something happen to so many requests in a hundred.
    func trouble(_ rate: Int, end: (@Sendable () -> Void)? = nil) {
        state.withLock { ($0.rate, $0.end, $0.isEnded) = (rate, end, false) }
    }

    func collection(_ namespace: Namespace) -> any RemoteCollection { inner.collection(namespace) }

    var attachments: (any RemoteAttachments)? {
        inner.attachments.map { Files(remote: self, inner: $0) }
    }

    private func request<R>(
        _ body: () async throws(RemoteError) -> R
    ) async throws(RemoteError) -> R {
        let (fate, end) = state.withLock { state -> (Fate, (@Sendable () -> Void)?) in
            guard !state.isEnded else { return (.isLost, nil) }
            guard state.random.percent(state.rate) else { return (.arrives, nil) }
            switch state.random.below(state.end == nil ? 2 : 3) {
            case 0: return (.isLost, nil)
            case 1: return (.losesAnswer, nil)
            default:
                state.isEnded = true
                return (.endsDevice, state.end)
            }
        }
        let cut = RemoteError(.retryable, "the connection was cut")
        if case .isLost = fate { throw cut }
        let result = try await body()
        if case .arrives = fate { return result }
        end?()
        throw cut
    }

    private struct Files: RemoteAttachments {
        let remote: FileRemote
        let inner: any RemoteAttachments

        func state(of place: AttachmentPlace) async throws(RemoteError) -> RemoteAttachmentState {
            try await remote.request { () async throws(RemoteError) in
                try await inner.state(of: place)
            }
        }

        func put(
            _ bytes: [UInt8], at offset: Int64, of place: AttachmentPlace
        ) async throws(RemoteError) -> RemoteAttachmentState {
            try await remote.request { () async throws(RemoteError) in
                try await inner.put(bytes, at: offset, of: place)
            }
        }

        func read(
            _ place: AttachmentPlace, from offset: Int64, count: Int
        ) async throws(RemoteError) -> [UInt8]? {
            try await remote.request { () async throws(RemoteError) in
                try await inner.read(place, from: offset, count: count)
            }
        }
    }
}
