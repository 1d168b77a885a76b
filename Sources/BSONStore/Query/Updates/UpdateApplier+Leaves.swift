extension UpdateApplier {
    /// Applies an operator to the value at its path, after the checks that all operators share.
    mutating func leaf(
        _ operation: UpdateOperation, _ depth: Int, at place: Place
    ) throws(StoreError) -> Outcome {
        if case .setOnInsert = operation, !context.isInsert { return .same }
        if case .rename(let source) = operation {
            guard let value = try renamed(from: source, at: place) else { return .same }
            return try put(value, by: operation, UpdateLimits.depth(value), at: place)
        }
        switch place {
        case .value(let old):
            let outcome = try change(old, by: operation)
            if case .same = outcome { return .same }
            try checkID(operation)
            try checkName(operation)
            try checkDepth(depth)
            return outcome
        case .missing:
            guard operation.creates else { return .same }
            return try put(try make(by: operation), by: operation, depth, at: place)
        case .blocked(let obstacle):
            try refuse(operation, obstacle)
            return .same
        }
    }

    /// Sets a new value at the path, unless it is the old one.
    private mutating func put(
        _ value: BSONValue, by operation: UpdateOperation, _ depth: Int, at place: Place
    ) throws(StoreError) -> Outcome {
        switch place {
        case .value(let old):
            if old == value { return .same }
            try checkID(operation)
        case .missing: try checkIDGrowth(value)
        case .blocked(let obstacle): try refuse(operation, obstacle)
        }
        try checkName(operation)
        try checkDepth(depth)
        return .set(value)
    }

    private func checkDepth(_ depth: Int) throws(StoreError) {
        guard path.count + depth <= UpdateLimits.depthMax else { throw UpdateLimits.tooDeep }
    }

    /// Throws for a change of the `_id` or of a part of it.
    private func checkID(_ operation: UpdateOperation) throws(StoreError) {
        guard path[0] == "_id", let id = original["_id"] else { return }
        if case .renameSource = operation {
            throw StoreError(
                .immutableField,
                "Unsetting the path '\(displayPath)' using $rename would modify the immutable field "
                    + "'_id'", documentID: id)
        }
        throw StoreError(
            .immutableField,
            "Performing an update on the path '\(displayPath)' would modify the immutable field '_id'",
            documentID: id)
    }

    /// Throws for additional fields in an `_id` that is a document.
    private func checkIDGrowth(_ value: BSONValue) throws(StoreError) {
        guard path[0] == "_id", path.count > 1, let id = original["_id"] else { return }
        var taken = 1
        var holder = id
        while taken < path.count - 1, let next = holder.documentValue?[path[taken]] {
            holder = next
            taken += 1
        }
        let added = path[(taken + 1)...].reversed().reduce(value) { [$1: $0] }
        if case .document(var document) = holder {
            document[path[taken]] = added
            holder = .document(document)
        }
        throw StoreError(
            .immutableField,
            "Updating the path '\(path.prefix(taken).joined(separator: "."))' to "
                + "\(path[taken - 1]): \(ShellText.text(of: holder)) would modify the immutable "
                + "field '_id'", documentID: id)
    }

    /// Throws for a top-level name with a dollar, except for those of a DBRef.
    private func checkName(_ operation: UpdateOperation) throws(StoreError) {
        if case .unset = operation { return }
        if case .renameSource = operation { return }
        guard path.count == 1, !context.isInsert else { return }
        try Update.checkTopLevel(path[0])
    }

    private func refuse(
        _ operation: UpdateOperation, _ obstacle: Obstacle
    ) throws(StoreError) {
        switch operation {
        case .unset, .renameSource: return
        case .pull, .pullAll, .pop:
            throw StoreError(
                .pathNotViable,
                "Cannot use the part (\(obstacle.part)) of (\(displayPath)) to traverse the element "
                    + "({\(obstacle.key): \(ShellText.text(of: obstacle.value))})",
                documentID: original["_id"])
        case .set, .setOnInsert, .increment, .multiply, .least, .greatest, .currentDate, .rename,
            .push, .addToSet, .bit:
            throw StoreError(
                .pathNotViable,
                "Cannot create field '\(obstacle.part)' in element {\(obstacle.key): "
                    + "\(ShellText.text(of: obstacle.value))}", documentID: original["_id"])
        }
    }

    /// Returns the value that a rename moves here, `nil` if there is none.
    private func renamed(
        from source: UpdatePath, at place: Place
    ) throws(StoreError) -> BSONValue? {
        var value = BSONValue.document(original)
        var fields: IndexedDocument? = index
        var array: String?
        for (index, part) in source.parts.enumerated() {
            let next: BSONValue?
            switch value {
            case .document(let document):
                next = fields.map { $0[part] } ?? document[part]
            case .array(let values):
                array = array ?? source.parts[index - 1]
                guard let position = UpdatePath.index(part) else {
                    throw notTraversable(source, index, value)
                }
                next = values[position]
            default: throw notTraversable(source, index, value)
            }
            guard let next else { return nil }
            fields = fields?.nested(part)
            value = next
        }
        if let array { throw arrayElement("source", source.description, array) }
        try checkTarget()
        return value
    }

    private func notTraversable(
        _ source: UpdatePath, _ index: Int, _ value: BSONValue
    ) -> StoreError {
        StoreError(
            .pathNotViable,
            "cannot use the part (\(source.parts[index - 1]) of \(source)) to traverse the element "
                + "({\(source.parts[index - 1]): \(ShellText.text(of: value))})",
            documentID: original["_id"])
    }

    /// Throws for a rename into an array.
    private func checkTarget() throws(StoreError) {
        var value = BSONValue.document(original)
        var fields: IndexedDocument? = index
        for (index, part) in path.enumerated() {
            switch value {
            case .document(let document):
                guard let next = fields.map({ $0[part] }) ?? document[part] else { return }
                fields = fields?.nested(part)
                value = next
            case .array: throw arrayElement("destination", displayPath, path[index - 1])
            default: return
            }
        }
    }

    private func arrayElement(_ role: String, _ path: String, _ array: String) -> StoreError {
        let id = original["_id"].map { "_id: \(ShellText.text(of: $0))" } ?? "no id"
        return StoreError(
            .badValue,
            "The \(role) field cannot be an array element, '\(path)' in doc with \(id) has an array "
                + "field called '\(array)'", documentID: original["_id"])
    }

    var displayPath: String { path.joined(separator: ".") }

    /// The document's id as errors show it.
    var displayID: String {
        "{\(original["_id"].map { "_id: \(ShellText.text(of: $0))" } ?? "no id")}"
    }
}
