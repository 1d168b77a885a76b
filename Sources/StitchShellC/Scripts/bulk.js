// Bulk writes, and what the methods share.
const all = (reply, ...names) => {
  for (const name of names) delete reply[name];
  return reply;
};
const text = (value, name) => {
  if (typeof value !== 'string') throw invalid(`Missing required argument: ${name}`);
  return value;
};

class WriteError {
  constructor(err) { this.err = err; }
  get code() { return this.err.code; }
  get index() { return this.err.index; }
  get errmsg() { return this.err.errmsg; }
  get errInfo() { return this.err.errInfo; }
  getOperation() { return this.err.op; }
}
class BulkWriteResult {
  constructor(r) {
    this.insertedCount = r.nInserted;
    this.matchedCount = r.nMatched;
    this.modifiedCount = r.nModified;
    this.deletedCount = r.nRemoved;
    this.upsertedCount = r.upserted.length;
    this.upsertedIds = Object.fromEntries(r.upserted.map(u => [u.index, u._id]));
    this.insertedIds = r.insertedIds;
  }
  get ok() { return 1; }
}
function empty() {
  return { nInserted: 0, nMatched: 0, nModified: 0, nRemoved: 0, upserted: [],
    insertedIds: {}, errors: [] };
}
function failBulk(r) {
  const first = r.errors[0].err;
  throw failed(MongoBulkWriteError, first.errmsg, {
    code: first.code, writeErrors: r.errors, result: new BulkWriteResult(r),
  });
}
methods.failInsert = (reply, documents) => {
  const r = empty();
  r.nInserted = reply.n;
  const bad = new Set();
  for (const e of reply.writeErrors) {
    bad.add(e.index);
    r.errors.push(new WriteError({
      index: e.index, code: e.code, errmsg: e.errmsg, errInfo: e.errInfo,
        op: documents[e.index],
    }));
  }
  const stop = reply.writeErrors.length === 1 && r.nInserted < documents.length - 1
    ? reply.writeErrors[0].index : documents.length;
  documents.forEach((d, i) => {
    if (i < stop && !bad.has(i)) r.insertedIds[i] = d._id;
  });
  failBulk(r);
};
const kinds = {
  insertOne: 'insert', updateOne: 'update', updateMany: 'update', replaceOne: 'update',
  deleteOne: 'delete', deleteMany: 'delete',
};
function pick(from, ...names) {
  const to = {};
  for (const name of names) if (from[name] !== undefined) to[name] = from[name];
  return to;
}
function hasOperators(update) {
  return Array.isArray(update) || Object.keys(update).some(k => k.startsWith('$'));
}
function needed(value, name) {
  if (value === undefined || value === null) throw invalid(
    `Missing required argument: ${name}`);
  return value;
}
function item(name, value) {
  needed(value, name);
  switch (name) {
    case 'insertOne': {
      const document = 'document' in value ? needed(value.document, 'document') : value;
      return document._id === undefined ? { _id: ObjectId(), ...document } : document;
    }
    case 'replaceOne':
      if (hasOperators(needed(value.replacement, 'replacement'))) throw failed(MongoInvalidArgumentError,
        'Replacement document must not contain atomic operators');
      return { q: needed(value.filter, 'filter'), u: value.replacement,
        ...pick(value, 'upsert', 'collation', 'hint', 'sort') };
    case 'updateOne': case 'updateMany':
      if (!hasOperators(needed(value.update, 'update'))) throw failed(MongoInvalidArgumentError,
        'Update document requires atomic operators');
      return {
        q: needed(value.filter, 'filter'), u: value.update,
          ...(name === 'updateMany' ? { multi: true } : {}),
        ...pick(value, 'upsert', 'collation', 'arrayFilters', 'hint', 'sort'),
      };
    default:
      return { q: needed(value.filter, 'filter'), limit: name === 'deleteOne' ? 1 : 0,
        ...pick(value, 'collation', 'hint') };
  }
}
function runBulk(collection, operations, options = {}) {
  if (!Array.isArray(operations)) throw invalid(
    'Argument "operations" must be an array');
  if (!operations.length) throw failed(MongoInvalidArgumentError,
    'Invalid BulkOperation, Batch cannot be empty');
  const ordered = options.ordered !== false;
  const batches = [];
  const byKind = {};
  operations.forEach((operation, index) => {
    const name = Object.keys(operation || {})[0];
    const kind = kinds[name];
    if (!kind) {
      throw invalid(
        'bulkWrite only supports insertOne, insertMany, updateOne, updateMany, ' +
          'replaceOne, deleteOne, deleteMany');
    }
    let batch = ordered ? batches.at(-1) : byKind[kind];
    if (!batch || batch.kind !== kind || batch.items.length >= 10000) {
      batch = { kind, items: [], indexes: [] };
      batches.push(batch);
      byKind[kind] = batch;
    }
    batch.items.push(item(name, operation[name]));
    batch.indexes.push(index);
  });
  const r = empty();
  const fields = { insert: 'documents', update: 'updates', delete: 'deletes' };
  for (const { kind, items, indexes } of batches) {
    const reply = collection.getDB().runCommand({
      [kind]: collection.getName(), [fields[kind]]: items, ordered,
      ...pick(options, 'writeConcern', 'comment', 'bypassDocumentValidation', 'let'),
    });
    const upserted = reply.upserted || [];
    const errors = reply.writeErrors || [];
    switch (kind) {
      case 'insert': {
        r.nInserted += reply.n;
        const bad = new Set(errors.map(e => e.index));
        const stop = ordered && errors.length ? errors[0].index : items.length;
        items.forEach((d, i) => {
          if (i < stop && !bad.has(i)) r.insertedIds[indexes[i]] = d._id;
        });
        break;
      }
      case 'update':
        r.nMatched += reply.n - upserted.length;
        r.nModified += reply.nModified || 0;
        for (const u of upserted) r.upserted.push(
          { index: indexes[u.index], _id: u._id });
        break;
      default: r.nRemoved += reply.n;
    }
    for (const e of errors) {
      r.errors.push(new WriteError({
        index: indexes[e.index], code: e.code, errmsg: e.errmsg, errInfo: e.errInfo,
          op: items[e.index],
      }));
    }
    if (ordered && errors.length) break;
  }
  if (r.errors.length) failBulk(r);
  return {
    acknowledged: true, insertedCount: r.nInserted, insertedIds: r.insertedIds,
    matchedCount: r.nMatched, modifiedCount: r.nModified, deletedCount: r.nRemoved,
    upsertedCount: r.upserted.length,
    upsertedIds: Object.fromEntries(r.upserted.map(u => [u.index, u._id])),
  };
}
class Bulk {
  #collection; #ordered; #operations = []; #ran = false;
  constructor(collection, ordered) {
    this.#collection = collection;
    this.#ordered = ordered;
  }
  insert(document) { this.#operations.push({ insertOne: { document } }); return this; }
  find(filter) {
    if (!filter) throw invalid('Missing required argument: query');
    return new BulkFindOp(this, this.#operations, filter);
  }
  execute(writeConcern) {
    if (this.#ran) throw invalid('Batch cannot be re-executed');
    this.#ran = true;
    return runBulk(this.#collection, this.#operations,
      { ordered: this.#ordered, ...(writeConcern ? { writeConcern } : {}) });
  }
  toJSON() {
    const count = kind =>
      this.#operations.filter(o => kinds[Object.keys(o)[0]] === kind).length;
    return { nInsertOps: count('insert'), nUpdateOps: count('update'),
      nRemoveOps: count('delete'), nBatches: 1 };
  }
  tojson() { return this.toJSON(); }
  toString() { return JSON.stringify(this.toJSON()); }
  getOperations() { return this.#operations; }
}
class BulkFindOp {
  #bulk; #operations; #value;
  constructor(bulk, operations, filter) {
    this.#bulk = bulk;
    this.#operations = operations;
    this.#value = { filter };
  }
  #add(name, fields) {
    this.#operations.push({ [name]: { ...this.#value, ...fields } });
    return this.#bulk;
  }
  upsert() { this.#value.upsert = true; return this; }
  hint(hint) { this.#value.hint = hint; return this; }
  collation(collation) { this.#value.collation = collation; return this; }
  arrayFilters(arrayFilters) { this.#value.arrayFilters = arrayFilters; return this; }
  update(update) { return this.#add('updateMany', { update }); }
  updateOne(update) { return this.#add('updateOne', { update }); }
  replaceOne(replacement) { return this.#add('replaceOne', { replacement }); }
  delete() { return this.#add('deleteMany', {}); }
  deleteOne() { return this.#add('deleteOne', {}); }
  remove() { return this.#add('deleteMany', {}); }
  removeOne() { return this.#add('deleteOne', {}); }
}
