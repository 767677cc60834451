import { defineConfig } from '@playwright/test';
import { HEADLESS_SHELL } from './tests/browsers.js';

/** True during `npm run endurance`. */
const isLong = process.env.HOSTILE_LOAD === 'long';

/** Stories in the system's Chromium against the built server. */
export default defineConfig({
  testDir: 'tests',
  testIgnore: [
    // Creating its organization takes longer than most stories.
    ...(isLong ? [] : ['large-organization.test.ts']),
    // Writes files of the documentation.
    ...(process.env.PICTURES === undefined ? ['pictures.test.ts'] : []),
  ],
  outputDir: 'dist/test-results',
  reporter: [['list']],
  // Stories of one file share a server and run in order; those of other files have no effect on them.
  fullyParallel: false,
  // Stories also wait: three workers keep two cores busy.
  workers: 3,
  // A busy machine delays what stories wait for. `.ci/run` names the repeated ones.
  retries: process.env.CI === undefined ? 0 : 1,
  timeout: isLong ? 15 * 60_000 : 120_000,
  expect: { timeout: isLong ? 60_000 : 15_000 },
  use: {
    launchOptions: HEADLESS_SHELL,
    viewport: { width: 1280, height: 800 },
    // Moving parts would be checked and clicked on the way.
    contextOptions: { reducedMotion: 'reduce' },
  },
});
