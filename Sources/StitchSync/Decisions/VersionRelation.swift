/// Relates the version field that the remote shows to the one that the base was taken with.
///
/// Only `same` and "not the same" decide; the finer cases are for reports. A version is never
/// compared by order to find out what is newer (invariant I3).
enum VersionRelation: String, CaseIterable {
    /// Both hold the same version, or none.
    case same
    /// The same lineage with a greater counter.
    case advanced
    /// The same lineage with a smaller counter, or the same counter by another attempt.
    case regressed
    /// Another lineage: deleted and inserted again, or written by two who claimed it.
    case otherLineage
    /// There was none and now there is one.
    case appeared
    /// There was one and now there is none: another tool wrote.
    case unset
    /// What the remote shows is no version that we understand, and it is new.
    case foreign

    /// Compares what the base was taken with against what is there now.
    init(base: VersionField, remote: VersionField) {
        switch (base, remote) {
        case (.absent, .absent): self = .same
        case (.foreign(let old), .foreign(let new)): self = old == new ? .same : .foreign
        case (.absent, .foreign), (.version, .foreign): self = .foreign
        case (.absent, .version), (.foreign, .version): self = .appeared
        case (.version, .absent), (.foreign, .absent): self = .unset
        case (.version(let old), .version(let new)):
            if old == new {
                self = .same
            } else if !old.lineage.utf8.elementsEqual(new.lineage.utf8) {
                self = .otherLineage
            } else {
                self = new.counter > old.counter ? .advanced : .regressed
            }
        }
    }
}
