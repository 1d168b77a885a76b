/// A copier of the chosen fields of documents from bytes into bytes.
struct ProjectionCopier {
    let kind: Projection.Kind

    /// Copies the chosen fields of a document; computed ones are added later.
    func choose(
        _ node: ProjectionNode, from document: UnsafeRawBufferPointer,
        into builder: inout BSONDocumentBuilder
    ) {
        var cursor = BSONCursor(document)
        var hint = 0
        var missing = node.fields.count
        while let element = cursor.next() {
            _ = WorkBudget.isOver()
            guard let index = node.index(of: element.key, &hint) else {
                if kind == .exclusion { builder.append(element) }
                continue
            }
            missing -= 1
            switch node.fields[index].content {
            case .choose: if kind == .inclusion { builder.append(element) }
            case .nested(let inner): nested(inner, element, &builder)
            case .compute, .element: if kind == .exclusion { builder.append(element) }
            }
            // Fields behind the last named one are not read.
            if missing == 0, kind == .inclusion { return }
        }
    }

    private func nested(
        _ node: ProjectionNode, _ element: BSONRawElement,
        _ builder: inout BSONDocumentBuilder
    ) {
        switch element.value.type {
        case .document, .array:
            let outer = builder.begin(element.value.typeByte, element.key)
            inside(element.value, node, &builder)
            builder.end(outer)
        default:
            switch kind {
            case .exclusion: builder.append(element)
            case .inclusion:
                guard node.computes else { return }
                builder.end(builder.begin(BSONType.document.rawValue, element.key))
            }
        }
    }

    private func inside(
        _ value: BSONRawValue, _ node: ProjectionNode, _ builder: inout BSONDocumentBuilder
    ) {
        guard value.type == .array else {
            return choose(node, from: value.bytes, into: &builder)
        }
        var cursor = BSONCursor(value)
        var count = 0
        while let element = cursor.next() {
            _ = WorkBudget.isOver()
            let type = element.value.type
            if type == .document || type == .array {
                let outer = builder.begin(element.value.typeByte, index: count)
                inside(element.value, node, &builder)
                builder.end(outer)
            } else if kind == .exclusion {
                builder.append(index: count, element.value)
            } else if node.computes {
                // The computed fields turn any value into a document.
                builder.end(builder.begin(BSONType.document.rawValue, index: count))
            } else {
                continue
            }
            count += 1
        }
    }
}

extension BSONDocumentBuilder {
    /// Starts a nested document or array under a key that is known to contain no NUL.
    mutating func begin(_ typeByte: UInt8, _ key: UnsafeRawBufferPointer) -> Int {
        append(key: key, BSONRawValue(typeByte: typeByte, start: base, count: 0))
        reserve(4)
        return begin()
    }

    /// Starts a nested document or array at a position of an array.
    mutating func begin(_ typeByte: UInt8, index: Int) -> Int {
        append(index: index, BSONRawValue(typeByte: typeByte, start: base, count: 0))
        reserve(4)
        return begin()
    }
}
