import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Names of suites, chosen by packages/testkit/scripts/choose-tests.cjs instead of the test files that they run. */
const SUITE = /^all(-\d+)?\.test\.ts$/;

/**
 * Runs the test files of a folder as one suite, which loads each module once. `part` of `parts` runs a share of the
 * files, so that several workers have something to do.
 */
export function runTestFiles(folder: string, part = 1, parts = 1): void {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts') && !SUITE.test(path))
    .sort();
  for (const [index, path] of paths.entries()) {
    if (index % parts !== part - 1) continue;
    describe(path, () => {
      jest.requireActual(join(folder, path));
    });
  }
}
