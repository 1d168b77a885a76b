/// The number of elements of an array, for conditions.
///
/// ```swift
/// items.find { $0.tags.count == 2 }   // {"tags": {"$size": 2}}
/// items.find { $0.tags.count >= 2 }   // {"tags.1": {"$exists": true}}
/// ```
///
/// A missing array has fewer elements than any number, but not 0: `count < 1` holds for it, and
/// `count == 0` does not.
public struct FieldCount: FilterOperand, Sendable {
    let path: TypedFieldPath

    /// Returns the condition that a comparison with a number holds.
    public func compared(
        _ comparison: FieldComparison, to value: some Codable & Sendable
    ) -> TypedFilter {
        guard let number = value as? Int else {
            preconditionFailure("The number of elements is compared with an Int")
        }
        return switch comparison {
        case .equal: isEqual(to: number)
        case .notEqual: !isEqual(to: number)
        case .less: !isGreater(than: number, orEqual: true)
        case .lessOrEqual: !isGreater(than: number, orEqual: false)
        case .greater: isGreater(than: number, orEqual: false)
        case .greaterOrEqual: isGreater(than: number, orEqual: true)
        }
    }

    private func isEqual(to number: Int) -> TypedFilter {
        number < 0 ? .none : TypedFilter(.field(path, .size(number)))
    }

    private func isGreater(than number: Int, orEqual isIncluded: Bool) -> TypedFilter {
        guard number >= (isIncluded ? 1 : 0) else { return .all }
        let position = isIncluded ? number - 1 : number
        return TypedFilter(.field(path.appending(.position(String(position))), .exists))
    }
}

extension FieldCount {
    /// The type of the number.
    public typealias Value = Int
}
