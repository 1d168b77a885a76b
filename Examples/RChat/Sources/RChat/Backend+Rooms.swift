import BSONStore
import StitchSync

/// What users ask for by fields of a room in their document, and what the backend answers there.
///
/// - A room of the user without `isOpen` is to be made. The backend lets the members in and sets
///   `isOpen`, or sets `refused` to the reason.
/// - `adds` has a field for each user whom a member adds.
/// - `leaves` asks to leave the room. The backend removes the room from the document.
///
/// Only a membership counts, which no user can write: neither `owner` nor `members` gives a right.
extension Backend {
    /// Does what a user asks for in one room.
    func serve(_ room: BSONDocument, _ name: String, of id: BSONValue) async throws {
        // A name with a dot would be a path.
        guard name.allSatisfy(\.isLetter) else { return }
        if room["leaves"] == true { return try await leave(name, id) }
        for (added, _) in room["adds"]?.documentValue ?? [:] {
            try await add(added, to: name, by: id)
        }
        if room["owner"] == id, room["isOpen"] != true, room["refused"] == nil {
            try await make(name, room["members"]?.arrayValue ?? [], by: id)
        }
    }

    /// Makes a room, or refuses it: the first user who takes a name has it.
    private func make(_ name: String, _ members: BSONArray, by id: BSONValue) async throws {
        let owners = try memberships.find(["owns": .string(name), "userID": ["$ne": id]]).count()
        guard owners == 0 else {
            guard try await !isMember(id, of: name) else { return try await settle(id) }
            try await users.updateOne(
                ["_id": id], ["$set": ["conversations.\(name).refused": "the name is taken"]])
            return
        }
        try await admit(id, to: name, asOwner: true)
        for member in members where member != id { try await admit(member, to: name) }
    }

    private func add(_ added: String, to name: String, by id: BSONValue) async throws {
        if try await isMember(id, of: name) { try await admit(.string(added), to: name) }
        try await users.updateOne(
            ["_id": id], ["$unset": ["conversations.\(name).adds.\(added)": ""]])
    }

    private func admit(_ member: BSONValue, to name: String, asOwner: Bool = false) async throws {
        guard try users.findOne(id: member) != nil else { return }
        var sets: BSONDocument = ["rooms": .string(name)]
        if asOwner { sets["owns"] = .string(name) }
        try await memberships.updateOne(
            ["_id": member], ["$set": ["userID": member], "$addToSet": .document(sets)],
            upsert: true)
        try await settle(member)
    }

    /// Ends a membership; another member becomes the owner.
    ///
    /// The last member stays the owner: nobody else can make a room of that name and read what was
    /// said in it.
    private func leave(_ name: String, _ id: BSONValue) async throws {
        let room = BSONValue.string(name)
        let heirs = try memberships.find(["rooms": room, "userID": ["$ne": id]]).fetch()
        if let heir = heirs.first?["_id"],
            try memberships.find(["userID": id, "owns": room]).count() > 0
        {
            try await memberships.updateOne(["_id": heir], ["$addToSet": ["owns": room]])
            try await memberships.updateOne(["_id": id], ["$pull": ["owns": room]])
        }
        try await memberships.updateOne(["_id": id], ["$pull": ["rooms": room]])
        try await settle(id)
    }

    private func isMember(_ id: BSONValue, of name: String) async throws -> Bool {
        try memberships.find(["userID": id, "rooms": .string(name)]).count() > 0
    }

    /// Tells the user of a membership that the server knows already; otherwise its commit does.
    private func settle(_ member: BSONValue) async throws {
        guard try await !memberships.pendingIDs.contains(member) else { return }
        if let known = try memberships.findOne(id: member) { try await committed(known) }
    }

    /// The server knows of a membership: its rooms open for the member, and those left go.
    func committed(_ membership: BSONDocument) async throws {
        guard let member = membership["userID"], let user = try users.findOne(id: member)
        else { return }
        let rooms = (membership["rooms"]?.arrayValue ?? []).compactMap(\.stringValue)
        for name in rooms { try await list(name, openingFor: member) }
        for (name, room) in user["conversations"]?.documentValue ?? [:]
        where room.documentValue?["leaves"] == true && !rooms.contains(name) {
            try await users.updateOne(
                ["_id": member],
                ["$unset": ["conversations.\(name)": "", "unread.\(name)": ""]])
            try await list(name)
        }
    }

    /// Writes a room's members into the documents of those for whom it is open.
    private func list(_ name: String, openingFor member: BSONValue? = nil) async throws {
        let place = "conversations.\(name)"
        let owner = try memberships.find(["owns": .string(name)]).first()?["userID"]
        let members = try memberships.find(["rooms": .string(name)]).fetch()
            .compactMap { $0["userID"]?.stringValue }.sorted().map(BSONValue.string)
        let all = BSONValue.array(BSONArray(members))
        if let member {
            try await users.updateOne(
                ["_id": member],
                ["$set": ["\(place).isOpen": true], "$unset": ["\(place).refused": ""]])
        }
        try await users.updateMany(
            ["_id": ["$in": all], "\(place).isOpen": true],
            ["$set": ["\(place).owner": owner ?? .null, "\(place).members": all]])
    }
}
