import { existsSync } from 'node:fs';
import { CHROMIUM, CHROMIUM_FLAGS } from '@parley/testkit';
import { defineConfig } from '@playwright/test';

/** True during `npm run endurance`. */
const isLong = process.env.HOSTILE_LOAD === 'long';

/** Chromium without windows, which opens a page in 60 % of the CPU time. */
const HEADLESS_SHELL = '/usr/bin/chromium-headless-shell';
const BROWSER = existsSync(HEADLESS_SHELL) ? HEADLESS_SHELL : CHROMIUM;

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
  timeout: isLong ? 15 * 60_000 : 120_000,
  // A repeated story runs against a new server and is reported as flaky.
  retries: process.env.CI === undefined ? 0 : 1,
  expect: { timeout: isLong ? 60_000 : 15_000 },
  use: {
    launchOptions: {
      ...(BROWSER !== undefined && { executablePath: BROWSER }),
      args: CHROMIUM_FLAGS,
    },
    viewport: { width: 1280, height: 800 },
    // Moving parts would be checked and clicked on the way.
    contextOptions: { reducedMotion: 'reduce' },
    // Recording takes a third of the time.
    trace: 'on-first-retry',
  },
});
