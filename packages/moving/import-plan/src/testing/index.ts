export { aRecord } from './generated-records.js';
export { openRecords, type TestRecords } from './open-records.js';
export { couldRead } from './source-readers.js';
