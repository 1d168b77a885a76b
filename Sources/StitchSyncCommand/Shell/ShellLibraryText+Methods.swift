#if CommandLine
    extension ShellLibraryText {
        /// The methods of databases, collections and the other objects.
        static let methods = #"""
            const all = (reply, ...names) => {
              for (const name of names) delete reply[name];
              return reply;
            };
            const text = (value, name) => {
              if (typeof value !== 'string') throw invalid(`Missing required argument: ${name}`);
              return value;
            };

            // Bulk writes
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
            function item(name, value) {
              switch (name) {
                case 'insertOne': {
                  const document = value.document || value;
                  return document._id === undefined ? { _id: ObjectId(), ...document } : document;
                }
                case 'replaceOne':
                  if (hasOperators(value.replacement)) throw failed(MongoInvalidArgumentError,
                    'Replacement document must not contain atomic operators');
                  return { q: value.filter || {}, u: value.replacement,
                    ...pick(value, 'upsert', 'collation', 'hint', 'sort') };
                case 'updateOne': case 'updateMany':
                  if (!value.update ||
                    !hasOperators(value.update)) throw failed(MongoInvalidArgumentError,
                    'Update document requires atomic operators');
                  return {
                    q: value.filter || {}, u: value.update,
                      ...(name === 'updateMany' ? { multi: true } : {}),
                    ...pick(value, 'upsert', 'collation', 'arrayFilters', 'hint', 'sort'),
                  };
                default:
                  return { q: value.filter || {}, limit: name === 'deleteOne' ? 1 : 0,
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

            const command = (name, ...keys) => function (...values) {
              const given = { [name]: 1 };
              keys.forEach((key, i) => { if (values[i] !== undefined) given[key] = values[i]; });
              return this.adminCommand(given);
            };
            const namedCommand = name => function (value, ...lists) {
              return this.runCommand({ [name]: text(value, 'name'), ...lists[0] });
            };
            methods.database = {
              auth(user, password) {
                throw failed(MongoshUnimplementedError,
                  'a connection keeps its user; start the shell with --username');
              },
              logout() { return this.runCommand({ logout: 1 }); },
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
                return this.runCommand(
                  { revokePrivilegesFromRole: text(role, 'role'), privileges });
              },
              setLogLevel(level, component) {
                let value = { verbosity: level };
                for (const part of String(component ||
                  '').split('.').filter(Boolean).reverse()) value = { [part]: value };
                return this.adminCommand({ setParameter: 1, logComponentVerbosity: value });
              },
              getLogComponents() {
                return this.adminCommand(
                  { getParameter: 1, logComponentVerbosity: 1 }).logComponentVerbosity;
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
              setReadPref() {}, getReadPref() {
                return { mode: 'primary' };
              }, getReadPrefMode() { return 'primary'; },
              getReadPrefTagSet() {
                return [];
              }, setReadConcern() {}, getReadConcern() { return undefined; },
              setWriteConcern() {}, getWriteConcern() {
                return undefined;
              }, setCausalConsistency() {},
              isCausalConsistency() { return false; }, close() {}, setSecondaryOk() {},
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
                ]);
              },
              setReadConcern(level) { return this.readConcern(level); },
              returnKey() {
                return this;
              }, maxScan() { return this; }, disableBlockWarnings() { return this; },
            };
            delete methods.cursor.returnKey;
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

            const admin = () => db.getSiblingDB('admin');
            g.rs = {
              status: () => admin().runCommand({ replSetGetStatus: 1 }),
              hello: () => db.hello(),
              isMaster: () => db.isMaster(),
              conf: () => admin().runCommand({ replSetGetConfig: 1 }).config,
              config: () => g.rs.conf(),
              initiate: (config = {}) => admin().runCommand({ replSetInitiate: config }),
              reconfig: (config, options = {}) =>
                admin().runCommand({ replSetReconfig: config, ...options }),
              stepDown: (seconds = 60) => admin().runCommand({ replSetStepDown: seconds }),
              freeze: seconds => admin().runCommand({ replSetFreeze: seconds }),
              syncFrom: host => admin().runCommand({ replSetSyncFrom: host }),
              printReplicationInfo: () => db.getReplicationInfo(),
              secondaryOk: () => undefined,
              help: () =>
                say('Replica Set Class',
                [['status(), hello(), conf()', 'what the server reports']]),
            };
            const notSharded = () => {
              throw failed(MongoshInvalidInputError,
                '[SHAPI-10001] db.printShardingStatus() only works on mongos');
            };
            g.sh = {
              status: notSharded, isBalancerRunning: notSharded, getBalancerState: notSharded,
              enableSharding: name => admin().runCommand({ enableSharding: name }),
              shardCollection: (name, key, unique) =>
                admin().runCommand(
                { shardCollection: name, key, ...(unique ? { unique: true } : {}) }),
              addShard: url => admin().runCommand({ addShard: url }),
              startBalancer: notSharded, stopBalancer: notSharded,
            };
            """#
    }
#endif
