import BSONStore
import Foundation
import StitchSync

// MARK: - Photos and places

extension Phone {
    /// Sends a photo: the content is stored on the phone, then the message that refers to it.
    func send(photo file: URL, in room: String) async throws {
        let photo = try await messages.store(contentsOf: file, contentType: "image/jpeg")
        try await messages.insertOne(
            ChatMessage(conversationID: room, authorID: name, text: "", photo: photo))
    }

    /// Writes a message with the place where the user is.
    func say(_ text: String, at location: Point, in room: String) async throws {
        try await messages.insertOne(
            ChatMessage(conversationID: room, authorID: name, text: text, location: location))
    }

    /// Makes a photo the user's picture in the directory.
    func setPicture(_ file: URL) async throws {
        try await chatsters.attach(
            contentsOf: file, to: .string(name), \.picture, contentType: "image/jpeg")
    }

    /// Saves the last photo or picture of a name to a folder.
    func save(_ photo: String, to folder: URL) async throws {
        guard let file = try photos().last(where: { $0.place.attachment.name == photo }) else {
            throw ChatFailure("there is no photo \(photo)")
        }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // The name is another user's: it must not lead out of the folder.
        let safe = URL(filePath: photo).lastPathComponent
        do {
            try await file.copy(to: folder.appending(path: "\(name)-\(safe)"))
        } catch let error as SyncError where error.code == .fileMissing {
            throw ChatFailure("\(photo) is on its way")
        }
        Terminal.say("[\(name)]   saved \(file.place.attachment.shown)")
    }

    /// All photos that the phone knows of.
    private func photos() throws -> [AttachmentFile] {
        try messages.find().sort { $0.timestamp.ascending }.fetch().compactMap { message in
            message.photo.map { messages.file($0, of: .objectID(message.id)) }
        }
            + chatsters.find().fetch().compactMap { chatster in
                chatster.picture.map { chatsters.file($0, of: .string(chatster.id)) }
            }
    }

    /// A message as it is shown, with where its photo is.
    func line(_ message: ChatMessage) throws -> String {
        guard let photo = message.photo else { return message.line }
        return try message.line + " " + shown(messages.file(photo, of: .objectID(message.id)))
    }

    /// Where a file is, in words.
    func shown(_ file: AttachmentFile) throws -> String {
        switch try file.state() {
        case .here: "is here"
        case .sending: "is being sent"
        case .loading, .onItsWay: "is on its way"
        case .atRemote: "is at the server"
        case .failed(let reason): "failed: \(reason)"
        }
    }

    /// Follows the photos that arrive, so that the screen shows where they are.
    func followPhotos() async {
        await withDiscardingTaskGroup { group in
            for await file in arrivals {
                group.addTask {
                    do {
                        for try await state in file.updates {
                            self.refresh()
                            if state == .here { return }
                        }
                    } catch {
                        Terminal.say("[\(self.name)] \(error)")
                    }
                }
            }
        }
    }
}
