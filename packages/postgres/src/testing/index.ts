/** Databases for tests of other packages. */
export { createDatabase } from './databases.js';
