import BSONStore
import Foundation
import StitchSync

#if Remote
    import StitchRemote
#endif

/// The server, as each of this terminal's users signs in to it.
struct Server: Sendable {
    /// Several addresses are gateways before one database, as `host:port,host:port`; alice and bob use
    /// different ones.
    private let addresses: String
    /// The folder of the passwords; an app keeps them in the keychain.
    private let folder: URL

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
            return try ServerRemote(
                "stitchsync://\(address)", signIn: .user(user, password: try password(of: user)))
        #else
            throw ChatFailure("built without the trait Remote")
        #endif
    }

    /// Keeps a user's new password for the next sign-in.
    func keep(_ password: String, of user: String) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(password.utf8).write(to: file(user), options: .atomic)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: file(user).path)
    }

    /// Forgets the password of a user whose account is deleted.
    func forgetPassword(of user: String) throws {
        guard FileManager.default.fileExists(atPath: file(user).path) else { return }
        try FileManager.default.removeItem(at: file(user))
    }

    /// As in every chat to try out, the password is the name, until the user changes it.
    private func password(of user: String) throws -> String {
        guard FileManager.default.fileExists(atPath: file(user).path) else { return user }
        return try String(contentsOf: file(user), encoding: .utf8)
    }

    private func file(_ user: String) -> URL { folder.appending(path: "\(user).password") }
}
