import BSONStore
import StitchSync

// MARK: - Presence

extension Phone {
    /// Tells the directory whether the phone is on and online, unless the user chose to be away.
    func setPresence(isHere: Bool) async throws {
        var me: BSONDocument = ["_id": .string(name)]
        if isHere { me["choseAway"] = ["$ne": true] }
        try await user.updateOne(me, ["$set": ["presence": isHere ? "here" : "away"]])
    }

    /// Lets the user be away though the phone is on, or follow the phone again.
    func choosePresence(isHere: Bool) async throws {
        let choice: BSONDocument =
            isHere
            ? ["$set": ["presence": "here"], "$unset": ["choseAway": ""]]
            : ["$set": ["presence": "away", "choseAway": true]]
        try await user.updateOne(["_id": .string(name)], choice)
    }

    /// Tells the directory that the phone goes, where that can still be sent.
    func sayAway() async throws {
        guard engine.isOnline else { return }
        try await setPresence(isHere: false)
        do {
            try await engine.waitForUpload(timeout: .seconds(3))
        } catch let error as SyncError where [.timedOut, .authRequired].contains(error.code) {
            // The next time that the phone is on, it says that it is here.
        }
    }

    /// Begins or ends to be without a network.
    func setOnline(_ isOnline: Bool) async throws {
        if !isOnline { try await sayAway() }
        engine.setOnline(isOnline)
        if isOnline { try await setPresence(isHere: true) }
    }
}

// MARK: - Rooms

extension Phone {
    /// Makes a room; the backend lets the members in, or refuses a name that another room has.
    func makeRoom(_ room: String, _ members: [String]) async throws {
        guard !room.isEmpty, room.allSatisfy(\.isLetter) else {
            throw ChatFailure("a room's name has letters only")
        }
        for member in members { try await checkIsUser(member) }
        if let known = try await self.room(room), known["refused"] == nil {
            throw ChatFailure("there is a room \(room) already")
        }
        let all = Array(Set(members + [name])).sorted()
        try await change(
            room,
            [
                "$set": [
                    "conversations.\(room)": [
                        "owner": .string(name),
                        "members": .array(BSONArray(all.map(BSONValue.string))),
                    ]
                ]
            ])
    }

    /// Has the messages of one room on the phone in place of those of the room before.
    func open(_ room: String) async throws {
        guard !room.isEmpty else { throw ChatFailure("which room? /room NAME") }
        try await unlessUnreachable {
            // Without a network the messages come later.
            try await messages.subscribe(
                named: "conversation", waitForSync: engine.isOnline ? .onCreation : .never,
                timeout: Self.patience
            ) { $0.conversationID == room }
        }
        try await user.updateOne(
            ["_id": .string(name)], ["$unset": ["unread.\(room)": ""]])
    }

    /// Asks the backend to add a member to a room.
    func add(_ member: String, to room: String) async throws {
        try await checkIsUser(member)
        guard try await self.room(room)?["isOpen"] == true else {
            throw ChatFailure("you are no member of \(room)")
        }
        try await change(room, ["$set": ["conversations.\(room).adds.\(member)": true]])
    }

    /// Asks the backend to end the user's membership; the messages leave the phone at once.
    func leave(_ room: String) async throws {
        guard let known = try await self.room(room) else {
            throw ChatFailure("you are no member of \(room)")
        }
        let place = "conversations.\(room)"
        if known["refused"] != nil {
            try await change(room, ["$unset": [place: ""]])
        } else {
            guard known["isOpen"] == true else {
                throw ChatFailure("the room \(room) is being made")
            }
            try await change(room, ["$set": ["\(place).leaves": true]])
        }
        try await unlessUnreachable {
            try await engine.subscriptions.remove(
                named: "conversation", waitForSync: engine.isOnline ? .always : .never,
                timeout: Self.patience)
        }
    }

    /// A room as the user's document has it.
    private func room(_ room: String) async throws -> BSONDocument? {
        try user.findOne(id: .string(name))?[path: "conversations.\(room)"]?.documentValue
    }

    private func change(_ room: String, _ update: BSONDocument) async throws {
        let written = try await user.updateOne(["_id": .string(name)], update)
        guard written.matchedCount > 0 else {
            throw ChatFailure("your user is not on this phone yet")
        }
    }

    private func checkIsUser(_ member: String) async throws {
        guard try chatsters.find({ $0.id == member }).first() != nil else {
            throw ChatFailure("there is no user \(member)")
        }
    }
}

// MARK: - Writing

extension Phone {
    /// Writes a message, in another user's name where one is given: then it is taken back.
    func say(_ text: String, in room: String, as author: String? = nil) async throws {
        try await messages.insertOne(
            ChatMessage(conversationID: room, authorID: author ?? name, text: text))
    }

    /// Renames a user in the directory, which is taken back.
    func rename(_ other: String, _ newName: String) async throws {
        try await chatsters.updateOne({ $0.id == other }) { $0.userName.set(newName) }
    }
}
