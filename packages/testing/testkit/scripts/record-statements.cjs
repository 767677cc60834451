// Records what each test file sends to PostgreSQL, if `PARLEY_STATEMENTS` names a folder (docs/testing.md): one file per test
// file with a line for each different statement of the product, and a line with the CPU time of the tests.
const { appendFileSync, mkdirSync, rmSync } = require('node:fs');
const { join } = require('node:path');
const pg = require('pg');

const folder = process.env.PARLEY_STATEMENTS;
mkdirSync(folder, { recursive: true });
const path = expect.getState().testPath.split('/packages/').at(-1);
const recording = join(folder, `${path.replaceAll('/', '__')}.jsonl`);
rmSync(recording, { force: true });
const write = (value) => appendFileSync(recording, `${JSON.stringify(value)}\n`);

const started = process.cpuUsage();
const recorded = new Set();
const { query } = pg.Client.prototype;

/** True if a test calls the function instead of the product. */
function isCalledByTest(called) {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 1;
  const caller = {};
  Error.captureStackTrace(caller, called);
  Error.stackTraceLimit = stackTraceLimit;
  return /\.test\.ts|\/testing\//.test(caller.stack);
}

pg.Client.prototype.query = function recordedQuery(...args) {
  const statement = typeof args[0] === 'string' ? args[0] : args[0]?.text;
  if (statement && !recorded.has(statement) && !isCalledByTest(recordedQuery)) {
    recorded.add(statement);
    write({ statement });
  }
  return query.apply(this, args);
};

afterAll(() => {
  const { user, system } = process.cpuUsage(started);
  write({ cpuMs: Math.round((user + system) / 1000) });
});
