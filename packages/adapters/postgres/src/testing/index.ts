export { MIGRATIONS } from '../features.js';
/** Databases for other packages' tests. */
export { createDatabase, type TestDatabase } from './databases.js';
export { openGate } from './gate.js';
export { type Recording, recordStatements, UnorderedSends, withoutOrder } from './replay.js';
export { findBinaries, startCopy, startRecovered, startServer, startStandby, type TestServer } from './server.js';
