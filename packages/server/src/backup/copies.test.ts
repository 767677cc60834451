import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FolderBlobStore } from '@parley/blobs';
import type { Email } from '@parley/domain/access';
import { type BlobKey, inOneChunk } from '@parley/domain/files';
import type { UserId } from '@parley/domain/kernel';
import { InviteByEmail } from '@parley/domain/membership';
import type { ComposedParley } from '../composition/parley.js';
import { createParley } from '../start/create-parley.js';
import { runCommand } from '../testing/run-command.js';

const ORIGINAL = 'https://chat.example.com';
const STAGING = 'https://staging.example.com';
const BLOB = 'ab'.padEnd(32, '0') as BlobKey;

let directory: string;
let backup: string;
let emails: string[];
let warnings: string[];
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'parley-copies-'));
  backup = join(directory, 'backup.tar');
  [emails, warnings] = [[], []];
  await withServer('original', { url: ORIGINAL }, async (parley) => {
    await parley.realms.ensure({ name: 'shop', title: 'The Shop' });
    await parley.users.upsert({
      realm: 'shop',
      externalId: 'ann',
      name: 'Ann',
      role: 'owner',
      email: 'ann@example.com',
    });
  });
  await new FolderBlobStore(join(directory, 'original/files')).put(BLOB, inOneChunk(Buffer.from('some bytes')));
  await run('original', 'backup', backup, '--pace=0', `--url=${ORIGINAL}`);
});
afterEach(() => rmSync(directory, { recursive: true }));

const databaseIn = (folder: string) => `sqlite:${join(directory, folder, 'parley.db')}`;
const run = (folder: string, ...args: readonly string[]) => runCommand([...args, `--database=${databaseIn(folder)}`]);
const restore = (folder: string, ...args: readonly string[]) => run(folder, 'restore', backup, ...args);

async function withServer(
  folder: string,
  options: { readonly url: string; readonly quiet?: boolean },
  work: (parley: ComposedParley) => Promise<void>,
): Promise<void> {
  const mailer = { send: async ({ to }: Email) => void emails.push(to) };
  const logger = { info: () => {}, error: () => {}, warn: (_: object, text: string) => void warnings.push(text) };
  const parley = await createParley({ database: databaseIn(folder), mailer, logger, ...options });
  await work(parley as ComposedParley).finally(() => parley.close());
}

/** Invites a person, and waits for the email to be sent. */
async function invite(parley: ComposedParley, invitees: string): Promise<void> {
  const realmId = (await parley.findRealm('shop'))!;
  const { id } = (await parley.users.find({ realm: 'shop', externalId: 'ann' }))!;
  const caller = { realmId, userId: id as UserId, clientName: 'test' };
  await parley.useCase(InviteByEmail).execute(caller, {
    ...{ invitees, role: 'member', channelIds: [], groupIds: [], includesDefaultChannels: false, welcomeText: null },
    ...{ expiresInMinutes: undefined, notifiesInviter: false },
  });
  await sleep(300);
}

describe('parley restore at another address', () => {
  it('is refused with both ways named, and changes nothing', async () => {
    expect(await restore('copy', `--url=${STAGING}`)).toMatchObject({
      code: 1,
      err: expect.stringContaining(
        `The backup is of the server at ${ORIGINAL}, but this one is at ${STAGING}. Add --copy to try things, so that ` +
          'nothing leaves the restored server, or --original if it replaces that server.',
      ),
    });
    expect((await restore('copy')).err).toContain('but this one has no address (--url)');
    expect(readdirSync(directory)).not.toContain('copy');
    expect((await restore('copy', '--copy', '--original')).err).toContain('--copy and --original exclude each other.');
  });

  it('restores the server itself with --original, and at the same address without a word', async () => {
    expect(await restore('moved', '--original', `--url=${STAGING}`)).toMatchObject({ code: 0 });
    const { code, out } = await restore('same', `--url=${ORIGINAL}`);
    expect([code, out]).toEqual([0, expect.not.stringContaining('copy for trying things')]);
    await withServer('moved', { url: STAGING }, (parley) => invite(parley, 'bob@example.com'));
    expect([emails, warnings]).toEqual([['bob@example.com'], []]);
  });
});

describe('parley restore --copy', () => {
  const COPY = 'copy for trying things: emails, webhooks, previews, scheduled messages and reminders wait';

  it('makes a server that sends nothing until it is told to, also after a restart', async () => {
    expect((await restore('copy', '--copy', `--url=${STAGING}`)).out).toContain(COPY);
    await withServer('copy', { url: STAGING }, (parley) => invite(parley, 'bob@example.com'));
    await withServer('copy', { url: STAGING }, () => sleep(300));
    expect(emails).toEqual([]);
    const warning = expect.stringMatching(/^the server is quiet: emails, .* wait/);
    expect(warnings).toEqual([warning, warning]);
    await withServer('copy', { url: STAGING, quiet: false }, () => sleep(300));
    expect(emails).toEqual(['bob@example.com']);
  });

  it('is named by doctor, unless the setting says otherwise', async () => {
    await restore('copy', '--copy', `--url=${STAGING}`);
    const quiet = /consider quiet: the server sends nothing: .* PARLEY_QUIET=off/;
    expect((await run('copy', 'doctor')).out).toMatch(quiet);
    expect((await run('copy', 'doctor', '--quiet=off')).out).not.toMatch(quiet);
    expect((await run('original', 'doctor')).out).not.toMatch(quiet);
    expect((await run('original', 'doctor', '--quiet=on')).out).toMatch(quiet);
  });

  it('marks backups of the copy too, until one is restored with --original', async () => {
    await restore('copy', '--copy', `--url=${STAGING}`);
    backup = join(directory, 'of-copy.tar');
    await run('copy', 'backup', backup, '--pace=0', `--url=${STAGING}`);
    expect((await restore('again', `--url=${STAGING}`)).out).toContain(COPY);
    expect((await restore('original-again', '--original', `--url=${ORIGINAL}`)).out).not.toContain(COPY);
    const { out } = await run('original-again', 'doctor');
    expect(out).not.toContain('quiet');
  });

  it('refuses the files of the original, which stay', async () => {
    const files = join(directory, 'original/files');
    const { code, err } = await restore('copy', '--copy', `--files=folder:${files}`, `--url=${STAGING}`);
    expect([code, err]).toEqual([1, expect.stringContaining('holds the files of another database')]);
    rmSync(join(directory, 'original/parley.db'));
    // The folder still names the deleted database.
    expect((await restore('original', '--copy', `--url=${STAGING}`)).err).toContain('the files of another database');
    expect(await new FolderBlobStore(files).sizeOf(BLOB)).toBe(10);
  });
});

it('createParley with quiet sends nothing, and what waits afterwards', async () => {
  await withServer('original', { url: ORIGINAL, quiet: true }, (parley) => invite(parley, 'bob@example.com'));
  expect(emails).toEqual([]);
  await withServer('original', { url: ORIGINAL }, () => sleep(300));
  expect(emails).toEqual(['bob@example.com']);
});
