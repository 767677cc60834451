import { existsSync } from 'node:fs';
import { CHROMIUM, CHROMIUM_FLAGS } from '@parley/testkit';
import type { LaunchOptions } from '@playwright/test';

const SHELL = '/usr/bin/chromium-headless-shell';

const optionsOf = (executablePath: string | undefined): LaunchOptions => ({
  ...(executablePath !== undefined && { executablePath }),
  args: CHROMIUM_FLAGS,
});

/** The system's Chromium, which asks for permissions. */
export const FULL_CHROMIUM = optionsOf(CHROMIUM);

/** Chromium without windows: opens pages in less CPU time, but denies notifications without a question. */
export const HEADLESS_SHELL = existsSync(SHELL) ? optionsOf(SHELL) : FULL_CHROMIUM;
