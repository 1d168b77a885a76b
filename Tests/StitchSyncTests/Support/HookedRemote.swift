import BSONStore

@testable import StitchSync

/// A remote whose requests about files a test refuses, or precedes or answers by a closure.
final class HookedRemote: Remote {
    typealias Answer = RemoteAttachmentState

    let onState = Locked<(@Sendable () async throws -> Answer?)?>(nil)
    let onPut = Locked<(@Sendable (_ offset: Int64) async throws -> Answer?)?>(nil)
    let onRead = Locked<(@Sendable () async throws -> Void)?>(nil)
    private let refused = Locked<[BSONObjectID: RemoteError]>([:])
    private let inner: InProcessRemote

    init(_ inner: InProcessRemote) { self.inner = inner }

    /// Refuses each request about a file from now on; `nil` ends that.
    func refuse(_ reference: BSONStore.Attachment, _ error: RemoteError?) {
        refused.withLock { $0[reference.id] = error }
    }

    func collection(_ namespace: Namespace) -> any RemoteCollection { inner.collection(namespace) }

    var attachments: (any RemoteAttachments)? {
        inner.attachments.map { Files(remote: self, inner: $0) }
    }

    private struct Files: RemoteAttachments {
        let remote: HookedRemote
        let inner: any RemoteAttachments

        private func check(_ place: AttachmentPlace) throws(RemoteError) {
            if let error = remote.refused.withLock({ $0[place.attachment.id] }) { throw error }
        }

        private func mapping<R>(_ body: () async throws -> R) async throws(RemoteError) -> R {
            do {
                return try await body()
            } catch let error as RemoteError {
                throw error
            } catch {
                throw RemoteError(.rejected, "\(error)")
            }
        }

        func state(of place: AttachmentPlace) async throws(RemoteError) -> RemoteAttachmentState {
            try check(place)
            let hook = remote.onState.withLock { $0 }
            if let answer = try await mapping({ try await hook?() ?? nil }) { return answer }
            return try await inner.state(of: place)
        }

        func put(
            _ bytes: [UInt8], at offset: Int64, of place: AttachmentPlace
        ) async throws(RemoteError) -> RemoteAttachmentState {
            try check(place)
            let hook = remote.onPut.withLock { $0 }
            if let answer = try await mapping({ try await hook?(offset) ?? nil }) { return answer }
            return try await inner.put(bytes, at: offset, of: place)
        }

        func read(
            _ place: AttachmentPlace, from offset: Int64, count: Int
        ) async throws(RemoteError) -> [UInt8]? {
            try check(place)
            let hook = remote.onRead.withLock { $0 }
            try await mapping { try await hook?() }
            return try await inner.read(place, from: offset, count: count)
        }
    }
}
