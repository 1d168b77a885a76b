import BSONStore
import StitchSync

extension FieldMerge {
    /// Returns the resolution of a conflict: a merge if both sides have the document; an edit wins
    /// against a delete.
    static func resolution(of conflict: Conflict<BSONDocument>) -> ConflictResolution<BSONDocument>
    {
        switch (conflict.local, conflict.remote) {
        case (nil, nil): .delete
        case (_?, nil): .useLocal
        case (nil, _?): .useRemote
        case (let local?, let remote?):
            .use(merge(base: conflict.base, local: local, remote: remote))
        }
    }
}
