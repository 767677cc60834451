import { readdirSync } from 'node:fs';
import { join } from 'node:path';

// Chosen by packages/testkit/scripts/choose-tests.cjs where all tests of the package run.
for (const path of readdirSync(__dirname, { recursive: true, encoding: 'utf8' }).sort()) {
  if (!path.endsWith('.test.ts') || path === 'all.test.ts') continue;
  describe(path, () => {
    require(join(__dirname, path));
  });
}
