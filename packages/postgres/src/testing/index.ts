/** Databases for tests of other packages. */
export { createDatabase } from './databases.js';
export { findBinaries, startServer, type TestServer } from './server.js';
