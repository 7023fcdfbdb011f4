// Runs a script that is written for mongosh: mongosh itself refuses servers as old as mongo-java-server says it is.
//   node mongo_script.js NODE_MODULES URL DATABASE SCRIPT
// A script of mongosh does one thing after another and sees each answer, without `await`. So the script runs in this
// thread, the driver in a second one, and this one sleeps while a call is under way. What is not here fails: better
// that than doing what mongosh would not. One difference is known: a long that is read and fits into a number is one.
'use strict';
const fs = require('fs');
const path = require('path');
const util = require('util');
const vm = require('vm');
const { Worker, MessageChannel, isMainThread, receiveMessageOnPort, workerData } = require('worker_threads');

if (isMainThread) runScript(...process.argv.slice(2));
else serveCalls(workerData);

function runScript(modules, url, databaseName, script) {
  const { BSON } = require(path.join(modules, 'mongodb'));
  const { EJSON } = BSON;
  const answered = new Int32Array(new SharedArrayBuffer(4));
  const { port1: port, port2: otherPort } = new MessageChannel();
  new Worker(__filename, { workerData: { modules, url, answered, port: otherPort }, transferList: [otherPort] });

  // `cursor` is the list of what is asked of the cursor that the method gives: [['sort', {a: 1}], …].
  function call(database, collection, method, args, cursor) {
    Atomics.store(answered, 0, 0);
    port.postMessage(BSON.serialize({ database, collection, method, args, cursor: cursor || null }));
    Atomics.wait(answered, 0, 0);
    const answer = BSON.deserialize(receiveMessageOnPort(port).message);
    if (!answer.error) return answer.result;
    throw Object.assign(new Error(answer.error.message), answer.error);
  }

  class Cursor {
    constructor(run, steps = []) { this.run = run; this.steps = steps; }
    with(...step) { return new Cursor(this.run, [...this.steps, step]); }
    sort(keys) { return this.with('sort', keys); }
    limit(count) { return this.with('limit', count); }
    skip(count) { return this.with('skip', count); }
    hint(index) { return this.with('hint', index); }
    toArray() { return (this.documents = this.documents || this.run(this.steps)); }
    hasNext() { return this.toArray().length > 0; }
    next() { return this.toArray().shift(); }
    forEach(action) { this.toArray().forEach(action); }
    map(action) { return this.toArray().map(action); }
    itcount() { return this.toArray().length; }
    [Symbol.iterator]() { return this.toArray()[Symbol.iterator](); }
  }

  class Collection {
    constructor(database, name) { this.database = database; this.name = name; }
    call(method, ...args) { return call(this.database, this.name, method, args); }
    getName() { return this.name; }
    getIndexes() { return this.call('indexes'); }
    createIndexes(keys, options = {}) { return this.call('createIndexes', keys.map((key) => ({ key, ...options }))); }
    find(filter = {}, projection, options = {}) {
      const all = projection ? { projection, ...options } : options;
      return new Cursor((steps) => call(this.database, this.name, 'find', [filter, all], steps));
    }
    findOne(filter = {}, projection, options = {}) {
      return this.find(filter, projection, options).limit(1).toArray()[0] || null;
    }
    aggregate(pipeline = [], options = {}) {
      return new Cursor((steps) => call(this.database, this.name, 'aggregate', [pipeline, options], steps));
    }
  }
  for (const method of ['createIndex', 'dropIndex', 'drop', 'insertOne', 'insertMany', 'updateOne', 'updateMany',
                        'replaceOne', 'deleteOne', 'deleteMany', 'bulkWrite', 'countDocuments',
                        'estimatedDocumentCount', 'distinct'])
    Collection.prototype[method] = function (...args) { return this.call(method, ...args); };
  // The driver wraps the document, mongosh does not.
  for (const method of ['findOneAndUpdate', 'findOneAndReplace', 'findOneAndDelete'])
    Collection.prototype[method] = function (...args) { return this.call(method, ...args).value; };

  class Database {
    constructor(name) { this.name = name; }
    getName() { return this.name; }
    getSiblingDB(name) { return database(name); }
    getCollection(name) { return collection(this.name, name); }
    createCollection(name, options = {}) {
      call(this.name, null, 'createCollection', [name, options]);
      return { ok: 1 };
    }
    createView(name, viewOn, pipeline, options = {}) {
      return this.createCollection(name, { viewOn, pipeline, ...options });
    }
    runCommand(command) { return call(this.name, null, 'command', [command]); }
    adminCommand(command) { return call('admin', null, 'command', [command]); }
    dropDatabase() { return call(this.name, null, 'dropDatabase', []); }
    getCollectionInfos(filter = {}) { return call(this.name, null, 'listCollections', [filter], []); }
    getCollectionNames() { return this.getCollectionInfos().map((info) => info.name); }
  }

  // Any other member of a database is a collection, and any other member of `a` is the collection `a.member`.
  function withMembers(value, member) {
    return new Proxy(value, {
      get: (target, name) => (typeof name === 'symbol' || name in target ? target[name] : member(name)),
    });
  }
  function collection(database, name) {
    return withMembers(new Collection(database, name), (member) => collection(database, `${name}.${member}`));
  }
  function database(name) {
    return withMembers(new Database(name), (member) => collection(name, member));
  }

  const shown = (value) => (typeof value === 'string' ? value : util.inspect(value, { depth: null }));
  Object.assign(globalThis, {
    db: database(databaseName),
    use: (name) => { globalThis.db = database(name); },
    print: (...values) => fs.writeSync(1, values.map(shown).join(' ') + '\n'),
    printjson: (value) => fs.writeSync(1, EJSON.stringify(value, { relaxed: true }) + '\n'),
    EJSON,
    ObjectId: (id) => new BSON.ObjectId(id),
    ISODate: (text) => (text === undefined ? new Date() : new Date(text)),
    NumberInt: (value) => new BSON.Int32(value),
    NumberLong: (value) => BSON.Long.fromString(String(value)),
    NumberDecimal: (value) => BSON.Decimal128.fromString(String(value)),
    Double: BSON.Double, Int32: BSON.Int32, Long: BSON.Long, Decimal128: BSON.Decimal128,
    UUID: (text) => new BSON.UUID(text),
    BinData: (subtype, base64) => new BSON.Binary(Buffer.from(base64, 'base64'), subtype),
    Timestamp: BSON.Timestamp, MinKey: BSON.MinKey, MaxKey: BSON.MaxKey,
  });
  try {
    vm.runInThisContext(fs.readFileSync(script, 'utf8'), { filename: script });
  } catch (error) {
    fs.writeSync(2, `${error.stack}\n`);
    process.exit(1);
  }
  process.exit(0);
}

function serveCalls({ modules, url, answered, port }) {
  const { BSON, MongoClient } = require(path.join(modules, 'mongodb'));
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 10000 });

  async function result({ database, collection, method, args, cursor }) {
    const target = collection ? client.db(database).collection(collection) : client.db(database);
    let value = target[method](...args);
    if (cursor) {
      for (const [step, ...arguments_] of cursor) value = value[step](...arguments_);
      return value.toArray();
    }
    value = await value;
    return method === 'createCollection' ? null : value;
  }

  // Numbers keep the type they have in the script, but the driver wants to see plain ones where they can be.
  function plain(value) {
    if (Array.isArray(value)) return value.map(plain);
    if (value instanceof BSON.Int32) return value.value;
    if (!value || Object.getPrototypeOf(value) !== Object.prototype) return value;
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member)]));
  }

  port.on('message', async (bytes) => {
    let answer;
    try {
      answer = { result: await result(plain(BSON.deserialize(bytes, { promoteValues: false }))) };
    } catch (error) {
      const { name, message, code, codeName } = error;
      answer = { error: { name, message, code, codeName } };
    }
    port.postMessage(BSON.serialize(answer, { ignoreUndefined: true }));
    Atomics.store(answered, 0, 1);
    Atomics.notify(answered, 0);
  });
}
