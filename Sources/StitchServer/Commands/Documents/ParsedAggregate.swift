internal import BSONStore

/// Is what an `aggregate` asks for, read.
struct ParsedAggregate: Sendable {
    /// What is to be done.
    enum Work: Sendable {
        case stream(Result<ChangeStreamStage, any Error>)
        case pipeline(Result<Pipeline, any Error>)
        /// Neither can be made of it.
        case refused(any Error)
    }

    /// The collection, or what stands for the database.
    let namespace: Result<Namespace, any Error>
    let request: Result<AggregateRequest, any Error>
    let work: Work

    /// - Parameter store: where stages of the server come from; `nil` when it is to be explained.
    init(_ call: CommandCall, _ store: StoreBackend?) {
        namespace = Result { try AggregateCommand.target(call) }
        let request = Result<AggregateRequest, any Error> { try AggregateRequest(call) }
        self.request = request
        do {
            let request = try request.get()
            if let options = try request.changeStream() {
                work = .stream(Result { try ChangeStreamStage(options) })
            } else {
                work = .pipeline(Result { try request.pipeline(for: call, store) })
            }
        } catch {
            work = .refused(error)
        }
    }

    /// The pipeline.
    ///
    /// - Throws: what reading it threw; 40602 for a change stream.
    var pipeline: Pipeline {
        get throws {
            switch work {
            case .pipeline(let pipeline): return try pipeline.get()
            case .refused(let error): throw error
            case .stream: throw ChangeStreamStage.mustBeFirst
            }
        }
    }

    /// The collection that it writes; `nil` where it writes none, or cannot be carried out.
    var target: Namespace? {
        guard case .pipeline(.success(let pipeline)) = work,
            case .success(let namespace) = namespace
        else { return nil }
        return pipeline.target(from: namespace)
    }

    /// Whether it tells of the changes of all databases.
    var isForCluster: Bool {
        guard case .stream(.success(let stage)) = work else { return false }
        return stage.isForCluster
    }
}
