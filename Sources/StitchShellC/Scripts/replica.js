// The names `rs` and `sh`.
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
