// The methods of `explain()` and the texts of `show`.
function explained(command) {
  return function (...values) {
    const c = this.collection;
    return c.getDB().runCommand(
      { explain: command(c.getName(), ...values), verbosity: this.verbosity });
  };
}
const verbs = {
  count: explained((name, query = {}, options = {}) =>
    ({ count: name, query, ...options })),
  distinct: explained((name, key, query = {}, options = {}) =>
    ({ distinct: name, key, query, ...options })),
  update: explained((name, q, u, options = {}) =>
    ({ update: name,
    updates: [{ q, u,
    ...pick(options, 'multi', 'upsert', 'collation', 'arrayFilters', 'hint') }] })),
  updateOne: explained((name, q, u, options = {}) =>
    ({ update: name,
    updates: [{ q, u,
    ...pick(options, 'upsert', 'collation', 'arrayFilters', 'hint') }] })),
  updateMany:
    explained((name, q, u, options = {}) =>
    ({ update: name,
    updates: [{ q, u, multi: true,
    ...pick(options, 'upsert', 'collation', 'arrayFilters', 'hint') }] })),
  replaceOne:
    explained((name, q, u, options = {}) =>
    ({ update: name,
    updates: [{ q, u, ...pick(options, 'upsert', 'collation', 'hint') }] })),
  remove: explained((name, q = {}, options = {}) =>
    ({ delete: name,
    deletes: [{ q, limit: options === true || options.justOne ? 1 : 0,
    ...pick(options, 'collation', 'hint') }] })),
  deleteOne: explained((name, q = {}) =>
    ({ delete: name, deletes: [{ q, limit: 1 }] })),
  deleteMany:
    explained((name, q = {}) => ({ delete: name, deletes: [{ q, limit: 0 }] })),
  findAndModify: explained((name, options) => ({ findAndModify: name, ...options })),
  findOneAndDelete:
    explained((name, query, options = {}) =>
    ({ findAndModify: name, query, remove: true,
    ...pick(options, 'sort', 'hint', 'collation') })),
  findOneAndUpdate:
    explained((name, query, update, options = {}) =>
    ({ findAndModify: name, query, update,
    ...pick(options, 'sort', 'upsert', 'hint', 'collation', 'arrayFilters') })),
  findOneAndReplace:
    explained((name, query, update, options = {}) =>
    ({ findAndModify: name, query, update,
    ...pick(options, 'sort', 'upsert', 'hint', 'collation') })),
  findOne: explained((name, filter = {}, projection) =>
    ({ find: name, filter, limit: 1, ...(projection ? { projection } : {}) })),
  mapReduce: explained((name, map, reduce, options = {}) =>
    ({ mapReduce: name, map: String(map), reduce: String(reduce), ...options })),
};
methods.explainable = {
  ...verbs,
  getCollection() { return this.collection; },
  getVerbosity() { return this.verbosity; },
};
methods.show = (database, what, detail) => {
  switch (what) {
    case 'profile': {
      const rows =
        database.getCollection('system.profile').find({ millis: { $gt: 0 } }).sort(
        { $natural: -1 }).limit(5).toArray();
      if (rows.length) return rows.map(r =>
        `${r.op}\t${r.ns} ${r.millis}ms ${r.ts}`).join('\n');
      return "db.system.profile is empty.\n" +
        "Use db.setProfilingLevel(2) will enable profiling.\n" +
        "Use db.getCollection('system.profile').find() to show raw profile entries.";
    }
    case 'logs': return database.adminCommand({ getLog: '*' }).names.join('\n');
    default: return database.adminCommand({ getLog: detail || 'global' }).log.join(
      '\n');
  }
};
