import BSONStore
import StitchSync

struct Note: Codable, Sendable {
    // swift-format-ignore: NoLeadingUnderscores
    var _id: String
    var text: String
    var tags: [String]
}

extension Note {
    static let conflictHandler = ConflictHandler<Note> { conflict in
        guard let mine = conflict.local else { return .useRemote }  // deleted here, edited there
        guard var note = conflict.remote else { return .useLocal }  // edited here, deleted there
        if mine.text != conflict.base?.text { note.text = mine.text }
        note.tags += mine.tags.filter { !note.tags.contains($0) }
        return .use(note)
    }
}
