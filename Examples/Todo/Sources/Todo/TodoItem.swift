import BSONStore
import StitchSync

/// One line of the list.
struct TodoItem: Codable, Sendable, Equatable {
    /// What people call it by; two devices may give the same number, which is a conflict, too.
    // swift-format-ignore: NoLeadingUnderscores
    var _id: Int
    /// What is to be done.
    var text: String
    /// Whether it is done.
    var isDone: Bool
}

extension TodoItem {
    /// The handler of an item that both sides changed.
    ///
    /// What is done stays done, and both texts are kept where both changed it. Who deleted an item
    /// that the other one edited gets it back.
    static let conflictHandler = ConflictHandler<TodoItem> { conflict in
        guard let mine = conflict.local else { return .useRemote }
        guard let theirs = conflict.remote else { return .useLocal }
        return .use(merged(mine, theirs, base: conflict.base))
    }

    /// One item of two editions.
    static func merged(_ mine: TodoItem, _ theirs: TodoItem, base: TodoItem?) -> TodoItem {
        var item = theirs
        item.isDone = mine.isDone || theirs.isDone
        if theirs.text == base?.text {
            item.text = mine.text
        } else if mine.text != base?.text && mine.text != theirs.text {
            item.text = "\(theirs.text) / \(mine.text)"
        }
        return item
    }
}
