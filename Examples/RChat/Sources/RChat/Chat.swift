import BSONStore
import Foundation
import StitchSync

#if Remote
    import StitchRemote
#endif

/// The terminal: some users' phones, one of which is in the hand.
struct Chat {
    private let address: String
    private let server: Server
    private let stores: UserStores
    /// The folder from which photos are taken, unless a path says another one.
    private let photos: URL
    /// The folder to which photos are saved.
    private let saved: URL
    /// Whether the lines come from a script and are shown, too.
    private let echoes: Bool
    private var phones: [String: Phone] = [:]
    private var rooms: [String: String] = [:]
    private var name: String?

    init(address: String, folder: String, script: String?) {
        self.address = address
        echoes = script != nil
        photos = URL(filePath: script ?? "./chat").deletingLastPathComponent()
        saved = URL(filePath: folder + "-saved")
        let server = Server(address, folder: folder + "-passwords")
        self.server = server
        stores = UserStores(directory: folder) { try server.remote($0) }
    }

    static let help = """
        /as NAME             take NAME's phone: alice, bob or carol; a message is any other line
        /who  /me  /show     the directory; my user; the messages that are on the phone
        /new ROOM NAME…      make a room for me and others      /room ROOM    open it
        /add NAME            add a member to the open room      /leave        leave it
        /away  /here         be away though my phone is on, and follow my phone again
        /forge NAME TEXT     write in somebody else's name      /rename NAME NEW   so in the directory
        /kept                what was taken back
        /photo FILE          send a photo                       /picture FILE my picture in the directory
        /save NAME           save a photo or picture            /at LAT LON TEXT  say where I am
        /passwd OLD NEW      change my password                 /delete-account PASSWORD
        /offline  /online    without a network, and with it again
        /signout             send what waits, remove my documents from this phone
        /help  /quit         for scripts: /sent   /see TEXT   /unsee TEXT   wait
        """

    /// Does what the lines say until they end.
    func run(_ lines: AsyncStream<String>) async throws {
        var chat = self
        if !echoes { Terminal.say("RChat at \(address)\n\(Self.help)") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for await line in lines {
                if echoes { Terminal.say("> \(line)") }
                guard !line.hasPrefix("#"), !line.isEmpty else { continue }
                guard line != "/quit" else { break }
                do {
                    try await chat.obey(line, &group)
                } catch {
                    // A script that goes wrong ends; a person can do something else.
                    guard !echoes else { throw error }
                    Terminal.say("\(error)")
                }
            }
            for (name, phone) in chat.phones {
                try await phone.sayAway()
                await phone.turnOff()
                try await stores.close(name)
            }
        }
    }

    private mutating func obey(
        _ line: String, _ group: inout ThrowingTaskGroup<Void, any Error>
    ) async throws {
        let words = line.split(separator: " ", maxSplits: 1).map(String.init)
        let rest = words.count > 1 ? words[1] : ""
        switch words[0] {
        case "/help": return Terminal.say(Self.help)
        case "/as": return try await take(rest, &group)
        default: break
        }
        guard let name, let phone = phones[name] else {
            throw ChatFailure("nobody's phone is in the hand: /as alice")
        }
        if words[0] == "/signout" { return try await signOut(phone) }
        if words[0] == "/delete-account" { return try await deleteAccount(phone, rest) }
        if try await look(words[0], rest, phone) { return }
        try await act(words[0], rest, line, phone)
    }

    /// Takes a user's phone, which is turned on where it is off.
    private mutating func take(
        _ user: String, _ group: inout ThrowingTaskGroup<Void, any Error>
    ) async throws {
        guard !user.isEmpty else { throw ChatFailure("who? /as NAME") }
        if phones[user] == nil {
            let isKnown = try stores.userIDs().contains(user)
            let phone = Phone(user, try stores.signIn(user))
            do {
                try await phone.set()
            } catch let error as SyncError where error.code == .authRequired {
                try await refuse(user, isKnown)
            }
            group.addTask { try await phone.run() }
            phones[user] = phone
        }
        name = user
    }

    /// Closes the store of a user whom the server refused; one that was just made is removed.
    private func refuse(_ user: String, _ isKnown: Bool) async throws {
        if isKnown {
            try await stores.close(user)
        } else {
            try await stores.signOut(user, waitingForUpload: nil)
        }
        throw ChatFailure("the server refused the sign-in of \(user)")
    }

    private mutating func signOut(_ phone: Phone) async throws {
        // Without a network the sign-out fails, and the user stays as it is.
        guard phone.engine.isOnline else { throw ChatFailure("/online first: what waits is sent") }
        try await phone.setPresence(isHere: false)
        await phone.turnOff()
        phones[phone.name] = nil
        rooms[phone.name] = nil
        name = nil
        try await stores.signOut(phone.name, waitingForUpload: .seconds(30))
    }

    /// Deletes the account at the server, then everything of the user on this phone.
    private mutating func deleteAccount(_ phone: Phone, _ password: String) async throws {
        #if Remote
            let remote = stores.remote(of: phone.name) as? ServerRemote
            try await remote?.deleteAccount(password: password)
        #endif
        await phone.turnOff()
        phones[phone.name] = nil
        rooms[phone.name] = nil
        name = nil
        try await stores.signOut(phone.name, waitingForUpload: nil)
        try server.forgetPassword(of: phone.name)
        Terminal.say("the account of \(phone.name) is deleted")
    }

    /// Shows something, or waits until it can be seen; `false` for another command.
    private func look(_ command: String, _ text: String, _ phone: Phone) async throws -> Bool {
        switch command {
        case "/who": show(try await phone.directory(), phone)
        case "/me": show(try await phone.me(), phone)
        case "/show": show(try await phone.talk(), phone)
        case "/kept": show(try await phone.rejected(), phone)
        case "/sent": try await phone.engine.waitForUpload()
        case "/see", "/unsee":
            func isAsWanted() async throws -> Bool {
                try await phone.screen().contains { $0.contains(text) } == (command == "/see")
            }
            if try await isAsWanted() { return true }
            for await _ in phone.news where try await isAsWanted() { break }
        default: return false
        }
        return true
    }

    private func show(_ lines: [String], _ phone: Phone) {
        for line in lines { Terminal.say("[\(phone.name)]   \(line)") }
    }

    private mutating func act(
        _ command: String, _ rest: String, _ line: String, _ phone: Phone
    ) async throws {
        let words = rest.split(separator: " ", maxSplits: 1).map(String.init)
        switch command {
        case "/new":
            let names = rest.split(separator: " ").map(String.init)
            try await phone.makeRoom(names.first ?? "", Array(names.dropFirst()))
        case "/room":
            try await phone.open(rest)
            rooms[phone.name] = rest
        case "/away", "/here":
            try await phone.choosePresence(isHere: command == "/here")
        case "/add": try await phone.add(rest, to: try room(of: phone))
        case "/leave":
            try await phone.leave(try room(of: phone))
            rooms[phone.name] = nil
        case "/photo":
            try await phone.send(photo: photos.appending(path: rest), in: try room(of: phone))
        case "/picture": try await phone.setPicture(photos.appending(path: rest))
        case "/save": try await phone.save(rest, to: saved)
        case "/at":
            let parts = rest.split(separator: " ", maxSplits: 2).map(String.init)
            guard parts.count == 3 else { throw ChatFailure("where? /at LATITUDE LONGITUDE TEXT") }
            try await phone.say(
                parts[2], at: Point(latitude: parts[0], longitude: parts[1]),
                in: try room(of: phone))
        case "/passwd":
            guard words.count == 2 else { throw ChatFailure("/passwd OLD NEW") }
            try await changePassword(of: phone, from: words[0], to: words[1])
            Terminal.say("[\(phone.name)]   the password is changed")
        case "/forge":
            try await phone.say(
                words.last ?? "", in: try room(of: phone), as: words.first ?? "")
        case "/rename":
            try await phone.rename(words.first ?? "", words.last ?? "")
        case "/offline", "/online": try await phone.setOnline(command == "/online")
        default:
            guard !command.hasPrefix("/") else { throw ChatFailure("unknown: \(line); see /help") }
            try await phone.say(line, in: try room(of: phone))
        }
    }

    /// Changes the user's password; the phone stays signed in.
    private func changePassword(of phone: Phone, from old: String, to new: String) async throws {
        #if Remote
            let remote = stores.remote(of: phone.name) as? ServerRemote
            try await remote?.changePassword(from: old, to: new)
            try server.keep(new, of: phone.name)
        #endif
    }

    private func room(of phone: Phone) throws -> String {
        guard let room = rooms[phone.name] else { throw ChatFailure("no room is open: /room NAME") }
        return room
    }
}
