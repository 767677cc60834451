// Jest's filter of test files. Loading the modules of a package for each of its test files takes longer than many of the
// tests, so suites named `all.test.ts` or `all-1.test.ts` run the files of their folder together. Files that the command line
// names run by themselves.
const { readdirSync } = require('node:fs');
const { basename, dirname, join } = require('node:path');

const isSuite = (path) => /^all(-\d+)?\.test\.ts$/.test(basename(path));

module.exports = (paths) => {
  const chosen = new Set(paths);
  for (const folder of new Set(paths.filter(isSuite).map(dirname))) {
    const tests = readdirSync(folder, { recursive: true })
      .filter((path) => path.endsWith('.test.ts'))
      .map((path) => join(folder, path));
    const parts = tests.filter((path) => !isSuite(path));
    const namedCount = parts.filter((path) => chosen.has(path)).length;
    const isSome = namedCount > 0 && namedCount < parts.length;
    for (const path of isSome ? tests.filter(isSuite) : parts) chosen.delete(path);
  }
  return { filtered: [...chosen] };
};
