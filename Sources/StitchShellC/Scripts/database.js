// The methods of a database, a connection and a cursor.
const command = (name, ...keys) => function (...values) {
  const given = { [name]: 1 };
  keys.forEach((key, i) => { if (values[i] !== undefined) given[key] = values[i]; });
  return this.adminCommand(given);
};
const namedCommand = name => function (value, ...lists) {
  return this.runCommand({ [name]: text(value, 'name'), ...lists[0] });
};
function logComponents(database, run) {
  try {
    return run();
  } catch (error) {
    if (error.code !== 72) throw error;
    throw failed(MongoshUnimplementedError,
      'the server has one log level and no components; start it with --log-level debug, ' +
      "and read its lines with `show log` or db.adminCommand({ getLog: 'global' })");
  }
}
methods.database = {
  getRole(role, options = {}) {
    return this.runCommand({ rolesInfo: text(role, 'role'), ...options }).roles[0] ||
      null;
  },
  getRoles(options = {}) { return this.runCommand({ rolesInfo: 1, ...options }); },
  createRole(role) {
    const { role: name, ...rest } = role;
    return this.runCommand({ createRole: name, ...rest });
  },
  updateRole(name, role) {
    return this.runCommand({ updateRole: text(name, 'role'), ...role });
  },
  dropRole: namedCommand('dropRole'),
  dropAllRoles() { return this.runCommand({ dropAllRolesFromDatabase: 1 }); },
  dropAllUsers() { return this.runCommand({ dropAllUsersFromDatabase: 1 }); },
  grantRolesToRole(role, roles) {
    return this.runCommand({ grantRolesToRole: text(role, 'role'), roles });
  },
  revokeRolesFromRole(role, roles) {
    return this.runCommand({ revokeRolesFromRole: text(role, 'role'), roles });
  },
  grantPrivilegesToRole(role, privileges) {
    return this.runCommand({ grantPrivilegesToRole: text(role, 'role'), privileges });
  },
  revokePrivilegesFromRole(role, privileges) {
    return this.runCommand({ revokePrivilegesFromRole: text(role, 'role'), privileges });
  },
  setLogLevel(level, component) {
    return logComponents(this, () => {
      let value = { verbosity: level };
      for (const part of String(component || '').split('.').filter(Boolean).reverse()) {
        value = { [part]: value };
      }
      return this.adminCommand({ setParameter: 1, logComponentVerbosity: value });
    });
  },
  getLogComponents() {
    return logComponents(this, () => this.adminCommand(
      { getParameter: 1, logComponentVerbosity: 1 }).logComponentVerbosity);
  },
  fsyncLock() { return this.adminCommand({ fsync: 1, lock: true }); },
  fsyncUnlock() { return this.adminCommand({ fsyncUnlock: 1 }); },
  shutdownServer(options) { return this.adminCommand({ shutdown: 1, ...options }); },
  rotateCertificates() { return this.adminCommand({ rotateCertificates: 1 }); },
  getLastError() { return null; },
  getLastErrorObj(w) {
    return this.runCommand({ getLastError: 1, ...(w !== undefined ? { w } : {}) });
  },
  commandHelp(name) { return this.runCommand({ [name]: 1, help: true }).help; },
  printCollectionStats() {
    for (const name of this.getCollectionNames()) {
      print(name);
      print(this.getCollection(name).stats());
      print('---');
    }
  },
  getReplicationInfo() {
    throw failed(MongoshRuntimeError,
      '[COMMON-90002] local.oplog.rs is empty or this is not a replica set');
  },
  cloneDatabase() {
    throw failed(MongoshUnimplementedError,
      '`cloneDatabase()` was removed because it was deprecated in MongoDB 4.0');
  },
  copyDatabase() {
    throw failed(MongoshUnimplementedError,
      '`copyDatabase()` was removed because it was deprecated in MongoDB 4.0');
  },
  getCollections() {
    return this.getCollectionNames().map(name => this.getCollection(name));
  },
  sql(text) { return this.aggregate([{ $sql: { statement: text } }]); },
  help() {
    say('Database Class', [
      ['getCollection(name), db.NAME', 'a collection'],
      ['getCollectionNames(), getCollectionInfos()', 'the collections'],
      ['createCollection(name, options)', 'create a collection'],
      ['createView(name, source, pipeline)', 'create a view'],
      ['runCommand(command), adminCommand(command)', 'run a command'],
      ['aggregate(pipeline)', 'run a pipeline without a collection'],
      ['getSiblingDB(name), getMongo()', 'another database, the connection'],
      ['stats(), serverStatus(), version()', 'what the server reports'],
      ['createUser(user), getUsers(), dropUser(name)', 'users'],
      ['dropDatabase()', 'delete the database'],
    ]);
  },
};
methods.mongo = {
  getDBs(options) {
    return this.getDB('admin').runCommand({ listDatabases: 1, ...options });
  },
  getDBNames(options) { return this.getDBs(options).databases.map(d => d.name); },
  setReadPref() {},
  getReadPref() { return { mode: 'primary' }; },
  getReadPrefMode() { return 'primary'; },
  getReadPrefTagSet() { return []; },
  setReadConcern() {},
  getReadConcern() { return undefined; },
  setWriteConcern() {},
  getWriteConcern() { return undefined; },
  setCausalConsistency() {},
  isCausalConsistency() { return false; },
  close() {},
  setSecondaryOk() {},
  adminCommand(command) { return this.getDB('admin').runCommand(command); },
  getOptions() { return {}; },
  watch(pipeline, options) {
    return this.getDB('admin').watch(pipeline,
      { allChangesForCluster: true, ...options });
  },
};
methods.cursor = {
  length() { return this.toArray().length; },
  help() {
    say('Cursor Class', [
      ['sort(order), limit(n), skip(n)', 'which documents follow, and in which order'],
      ['projection(fields)', 'which fields they have'],
      ['toArray(), forEach(f), map(f)', 'all documents'],
      ['hasNext(), next(), tryNext()', 'one document after the other'],
      ['count(), itcount()', 'the number of documents'],
      ['explain(verbosity)', 'the plan'],
      ['table()', 'show the documents as a table'],
    ]);
  },
  setReadConcern(level) { return this.readConcern(level); },
  maxScan() { return this; },
  disableBlockWarnings() { return this; },
};
