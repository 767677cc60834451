/** @jest-config-loader esbuild-register */
import type { Config } from 'jest';
import jestConfig from '../../../jest.config';

const [project] = jestConfig.projects as Exclude<NonNullable<Config['projects']>[number], string>[];
const [[pattern, [, swc]]] = Object.entries(project!.transform!) as [[string, [string, Record<string, unknown>]]];

/** Configuration of `npm run faults`, which needs the built package. */
const config: Config = {
  ...project,
  rootDir: '../../..',
  displayName: 'faults',
  testRegex: '/packages/(?:domain|moving/import-plan)/src/.*\\.test\\.ts$',
  runner: '<rootDir>/packages/testing/repo-checks/dist/faults/fault-runner.js',
  transform: { [pattern]: ['<rootDir>/packages/testing/repo-checks/dist/faults/fault-transform.js', swc] },
  // The runner reports.
  reporters: [],
  testFailureExitCode: 0,
  testTimeout: 10_000,
  // Jest keeps parts of each run.
  workerIdleMemoryLimit: '1GB',
};

export default config;
