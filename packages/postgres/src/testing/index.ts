/** Databases for tests of other packages. */
export { createDatabase } from './databases.js';
export { findBinaries, startServer, startStandby, type TestServer } from './server.js';
