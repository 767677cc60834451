import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createParley } from '../start/create-parley.js';
import type { ComposedParley } from './parley.js';

/** Ports through which a server reaches people and other servers. */
const WAYS_OUT = new Set<unknown>([
  'mailer',
  'pushService',
  'webPushService',
  'webhookClient',
  'pictureDownloads',
  'linkPreviewFetcher',
  'meetingServer',
]);
/** Removes kept emails to an erased person. */
const SENDS_NOTHING = ['ErasePerson'];

interface Injected {
  readonly inject?: readonly unknown[];
}

const usesWayOut = (part: unknown): boolean =>
  WAYS_OUT.has(part) || (typeof part === 'function' && ((part as Injected).inject ?? []).some(usesWayOut));

it('jobs that reach people or other servers wait while a server is quiet', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-quiet-'));
  const database = `sqlite:${join(folder, 'parley.db')}`;
  const parley = (await createParley({ database, url: 'http://localhost' })) as ComposedParley;
  const handlers = parley.part('jobHandlers');
  const reaching = handlers.filter((handler) => usesWayOut(handler.constructor));
  expect(reaching.length).toBeGreaterThan(10);
  const names = reaching.filter(({ kind }) => !kind.waitsWhileQuiet).map((handler) => handler.constructor.name);
  expect(names).toEqual(SENDS_NOTHING);
  await parley.close();
  rmSync(folder, { recursive: true });
});
