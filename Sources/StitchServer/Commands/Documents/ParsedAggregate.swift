internal import BSONStore

/// The parsed arguments of an `aggregate`.
struct ParsedAggregate: Sendable {
    /// The kind of pipeline.
    enum Work: Sendable {
        case stream(Result<ChangeStreamStage, any Error>)
        case pipeline(Result<Pipeline, any Error>)
        /// A pipeline that cannot be read.
        case refused(any Error)
    }

    /// The collection, or the name that stands for the whole database.
    let namespace: Result<Namespace, any Error>
    let request: Result<AggregateRequest, any Error>
    let work: Work

    /// - Parameter backend: the backend of the server's own stages; `nil` for an explanation.
    init(_ call: CommandCall, _ backend: StoreBackend?) {
        namespace = Result { try AggregateCommand.target(call) }
        let request = Result<AggregateRequest, any Error> { try AggregateRequest(call) }
        self.request = request
        do {
            let request = try request.get()
            if let options = try request.changeStream() {
                work = .stream(Result { try ChangeStreamStage(options) })
            } else {
                work = .pipeline(Result { try request.pipeline(for: call, backend) })
            }
        } catch {
            work = .refused(error)
        }
    }

    /// The parsed pipeline.
    ///
    /// - Throws: the parse error; 40602 for a change stream.
    var pipeline: Pipeline {
        get throws {
            switch work {
            case .pipeline(let pipeline): return try pipeline.get()
            case .refused(let error): throw error
            case .stream: throw ChangeStreamStage.mustBeFirst
            }
        }
    }

    /// The collection that the pipeline writes; `nil` if it writes none or cannot be parsed.
    var target: Namespace? {
        guard case .pipeline(.success(let pipeline)) = work,
            case .success(let namespace) = namespace
        else { return nil }
        return pipeline.target(from: namespace)
    }

    /// Whether it is a change stream over all databases.
    var isForCluster: Bool {
        guard case .stream(.success(let stage)) = work else { return false }
        return stage.isForCluster
    }
}
