import BSONStore
import Foundation
import StitchSync
import Synchronization

#if Remote
    import StitchRemote
#endif

/// The server, as each of this terminal's users signs in to it.
final class Server: Sendable {
    /// Several addresses are gateways before one database, as `host:port,host:port`; alice and bob use
    /// different ones.
    private let addresses: String
    /// The folder of the passwords; an app keeps them in the keychain.
    private let folder: URL
    #if Remote
        private let remotes = Mutex<[String: ServerRemote]>([:])
    #endif

    init(_ addresses: String, folder: String) {
        self.addresses = addresses
        self.folder = URL(filePath: folder)
    }

    /// Returns the server as a user sees it.
    func remote(_ user: String) throws -> any Remote {
        let all = addresses.split(separator: ",")
        let number = user.utf8.reduce(0) { $0 + Int($1) }
        guard let address = all.isEmpty ? nil : all[number % all.count] else {
            throw ChatFailure("no address of a server")
        }
        #if Remote
            let remote = try ServerRemote(
                "stitchsync://\(address)", signIn: .user(user, password: try password(of: user)))
            remotes.withLock { $0[user] = remote }
            return remote
        #else
            throw ChatFailure("built without the trait Remote")
        #endif
    }

    /// Changes a user's password; the phone stays signed in.
    func changePassword(of user: String, from old: String, to new: String) async throws {
        #if Remote
            guard let remote = remotes.withLock({ $0[user] }) else { return }
            try await remote.changePassword(from: old, to: new)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(new.utf8).write(to: file(user), options: .atomic)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600], ofItemAtPath: file(user).path)
        #endif
    }

    /// Deletes a user's account, and documents as `auth/account_deletion.json` of the rules says.
    func deleteAccount(of user: String, password: String) async throws {
        #if Remote
            guard let remote = remotes.withLock({ $0[user] }) else { return }
            try await remote.deleteAccount(password: password)
        #endif
    }

    /// As in every chat to try out, the password is the name, until the user changes it.
    private func password(of user: String) throws -> String {
        guard FileManager.default.fileExists(atPath: file(user).path) else { return user }
        return try String(contentsOf: file(user), encoding: .utf8)
    }

    private func file(_ user: String) -> URL { folder.appending(path: "\(user).password") }
}
