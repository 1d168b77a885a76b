// The methods of a collection.
function help(title, lines) {
  return { toString: () =>
    [`${title}:`, '', ...lines.map(([a, b]) => '    ' + a.padEnd(43) + b)].join('\n') };
}
function say(title, lines) { __write(help(title, lines).toString()); }

methods.collection = {
  bulkWrite(operations, options) { return runBulk(this, operations, options || {}); },
  initializeOrderedBulkOp() { return new Bulk(this, true); },
  initializeUnorderedBulkOp() { return new Bulk(this, false); },
  exists() {
    return this.getDB().getCollectionInfos({ name: this.getName() })[0] || null;
  },
  hideIndex(index) {
    return this.runCommand('collMod', { index: { ...named(index), hidden: true } });
  },
  unhideIndex(index) {
    return this.runCommand('collMod', { index: { ...named(index), hidden: false } });
  },
  latencyStats(options) {
    return this.aggregate([{ $collStats: { latencyStats: options || {} } }]).toArray();
  },
  getShardDistribution() {
    throw invalid(`Collection ${this.getName()} is not sharded`);
  },
  getShardVersion() {
    return this.getDB().getSiblingDB('admin').runCommand(
      { getShardVersion: this.getFullName() });
  },
  compactStructuredEncryptionData() {
    return this.runCommand('compactStructuredEncryptionData');
  },
  reIndex() { return this.runCommand('reIndex'); },
  getPlanCache() {
    const c = this;
    return {
      clear: () => c.runCommand('planCacheClear'),
      list: (pipeline = []) =>
        c.aggregate([{ $planCacheStats: {} }, ...pipeline]).toArray(),
      clearPlansByQuery: (query, projection, sort) =>
        c.runCommand('planCacheClear', { query, projection, sort }),
    };
  },
  mapReduce(map, reduce, options = {}) {
    if (typeof options === 'string') options = { out: options };
    const command = { mapReduce: this.getName(), map: String(map),
      reduce: String(reduce), ...options };
    for (const name of ['finalize']) if (command[name]) command[name] =
      String(command[name]);
    return this.getDB().runCommand(command);
  },
  getSecondaryOk() { return false; },
  setSecondaryOk() {},
  getSearchIndexes(name) {
    return this.aggregate([{ $listSearchIndexes: name ? { name } : {} }]).toArray();
  },
  createSearchIndex(name, definition) {
    const index = typeof name === 'string' ? { name, definition } : name;
    return this.runCommand('createSearchIndexes',
      { indexes: [index] }).indexesCreated[0].name;
  },
  help() {
    say('Collection Class', [
      ['find(filter, projection, options)', 'the documents that match'],
      ['findOne(filter)', 'the first document that matches'],
      ['insertOne(document), insertMany(documents)', 'insert documents'],
      ['updateOne(filter, update, options)', 'change the first document that matches'],
      ['updateMany(filter, update, options)', 'change all documents that match'],
      ['replaceOne(filter, document, options)', 'replace a document'],
      ['deleteOne(filter), deleteMany(filter)', 'delete documents'],
      ['aggregate(pipeline, options)', 'run a pipeline'],
      ['countDocuments(filter), distinct(field)', 'count documents, list values'],
      ['createIndex(keys), getIndexes()', 'create and list indexes'],
      ['bulkWrite(operations, options)', 'run many writes'],
      ['explain(verbosity)', 'explain the next call'],
      ['watch(pipeline)', 'the changes from now on'],
      ['drop()', 'delete the collection'],
    ]);
  },
};
function named(index) {
  return typeof index === 'string' ? { name: index } : { keyPattern: index };
}
