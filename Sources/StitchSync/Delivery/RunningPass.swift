internal import BSONStore

/// The engines whose pass or conflict handler runs in the current task.
enum RunningPass {
    @TaskLocal static var engines: Set<ObjectIdentifier> = []
}
