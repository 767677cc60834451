// Jest's filter of test files. Loading the modules of a package for each of its test files takes longer than the tests,
// so `all.test.ts` runs all of them at once; single files run alone where the command line asks for some of them.
const { readdirSync } = require('node:fs');
const { dirname, join } = require('node:path');

module.exports = (paths) => {
  const left = new Set(paths);
  for (const all of paths.filter((path) => path.endsWith('all.test.ts'))) {
    const folder = dirname(all);
    const parts = readdirSync(folder, { recursive: true })
      .filter((path) => path.endsWith('.test.ts'))
      .map((path) => join(folder, path))
      .filter((path) => path !== all);
    if (parts.every((path) => left.has(path))) for (const path of parts) left.delete(path);
    else left.delete(all);
  }
  return { filtered: [...left] };
};
