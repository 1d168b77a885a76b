package import BSONStore

/// The fields by which a user's subscriptions may ask for documents of a collection.
///
/// They bind subscriptions, not other reads, as in Device Sync: roles decide what a user may read.
package struct QueryableFields: Sendable {
    private let names: Set<Name>
    private let collection: String

    /// Device Sync's error number of an unsupported query.
    private static let badQuery = StoreError.Code(rawValue: 226)

    /// The comment of a request that asks for the documents of a subscription, by which a server
    /// tells it from other reads.
    package static let comment = "stitchsync subscription"

    /// Returns the fields that the rules declare for a collection; `nil` where they declare none.
    package init?(_ rules: RuleAccessPolicy, _ namespace: Namespace) {
        names = rules.queryableFields(namespace.collection)
        collection = namespace.collection
        if names.isEmpty { return nil }
    }

    /// Checks that a subscription's filter uses only queryable fields.
    ///
    /// - Throws: `StoreError` of code 226, naming the field.
    package func check(_ filter: BSONDocument) throws(StoreError) {
        for field in Self.conditionFields(of: filter).sorted()
        where field != "_id" && !names.contains(field) {
            throw StoreError(
                Self.badQuery,
                "Client provided query with bad syntax: unsupported query for table "
                    + "\"\(collection)\": key \"\(field)\" is not a queryable field")
        }
    }

    /// Returns the top-level fields that a filter's conditions use.
    private static func conditionFields(of filter: BSONDocument) -> Set<Name> {
        var fields: Set<Name> = []
        for (key, value) in filter {
            if !key.hasBytePrefix("$") {
                fields.insert(Name(key.splitAtFirstDot?.head ?? key))
            } else {
                for part in value.arrayValue?.values ?? [] {
                    guard let condition = part.documentValue else { continue }
                    fields.formUnion(conditionFields(of: condition))
                }
            }
        }
        return fields
    }
}
