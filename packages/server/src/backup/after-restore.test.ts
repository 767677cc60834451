import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OpenSession, type User } from '@parley/domain/users';
import type { ParleyEvent } from '../facade/events.js';
import { createParley } from '../start/create-parley.js';
import { runCommand } from '../testing/run-command.js';

type Server = Awaited<ReturnType<typeof createParley>>;

const realm = 'shop';
const ANN = { realm, externalId: 'ann' };
/** Ids skipped after a loss of some seconds. */
const SKIPPED = 4096;

let directory: string;
let database: string;
let backup: string;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'parley-after-restore-'));
  database = join(directory, 'parley.db');
  backup = join(directory, 'backup.tar');
  await withServer(async (parley) => {
    await parley.realms.ensure({ name: realm, title: 'The Shop' });
    await parley.users.upsert({ ...ANN, name: 'Ann', role: 'owner', email: 'ann@example.com' });
    await parley.as(ANN).channels.ensure({ name: 'orders' });
  });
});
afterEach(() => rmSync(directory, { recursive: true }));

async function withServer<T>(work: (parley: Server) => Promise<T>): Promise<T> {
  const parley = await createParley({ database: `sqlite:${database}`, url: 'http://localhost' });
  try {
    return await work(parley);
  } finally {
    await parley.close();
  }
}

const say = (parley: Server, content: string, externalId?: string) =>
  parley.as(ANN).messages.send({ channel: 'orders', topic: 'Order 1', content, ...(externalId && { externalId }) });

/** Runs a command and returns its data. @throws Error if the command fails */
async function run(...args: readonly string[]) {
  const { code, out, err } = await runCommand([...args, '--json', `--database=sqlite:${database}`]);
  if (code !== 0) throw new Error(err);
  return JSON.parse(out);
}

const backUp = () => run('backup', backup, '--pace=0');

/** Loses the database and restores the backup. Returns the lines of the command. */
async function restore(...flags: readonly string[]): Promise<string> {
  for (const name of readdirSync(directory)) if (/^parley\.db/.test(name)) rmSync(join(directory, name));
  const { code, out, err } = await runCommand(['restore', backup, ...flags, `--database=sqlite:${database}`]);
  if (code !== 0) throw new Error(err);
  return out;
}

describe('restored database', () => {
  it('gives ids of lost objects to no later object', async () => {
    await backUp();
    const lost = await withServer(async (parley) => ({
      message: await say(parley, 'lost'),
      channel: await parley.as(ANN).channels.ensure({ name: 'lost' }),
      user: await parley.users.upsert({ realm, externalId: 'bob', name: 'Bob' }),
    }));
    await restore();
    await withServer(async (parley) => {
      const kept = await say(parley, 'kept');
      expect(kept.id).toBeGreaterThan(lost.message.id + SKIPPED - 1);
      const as = parley.as(ANN);
      await expect(as.messages.edit(lost.message.id, { content: 'edited' })).rejects.toMatchObject({
        code: 'UNKNOWN_MESSAGE',
      });
      expect((await as.channels.ensure({ name: 'new' })).id).toBeGreaterThan(lost.channel.id);
      const again = await parley.users.upsert({ realm, externalId: 'bob', name: 'Bob' });
      expect(again.id).toBeGreaterThan(lost.user.id);
      expect(await parley.users.find({ realm, userId: lost.user.id })).toBeNull();
    });
  });

  it('lets a consumer with a stored position miss and repeat nothing', async () => {
    let position = 0;
    const stored: string[] = [];
    /** Applies each event once, in one transaction with its position. */
    const apply = (events: readonly ParleyEvent<'message.sent'>[]) => {
      for (const { seq, message } of events) {
        if (seq <= position || message.topic !== 'Order 1') continue;
        position = seq;
        stored.push(message.content);
      }
    };
    const consume = async (parley: Server, content: string) => {
      await parley.consume('orders', apply, { types: ['message.sent'], from: 'oldest' });
      await say(parley, content);
      for (let turn = 0; turn < 500 && stored.at(-1) !== content; turn++) await new Promise(setImmediate);
    };
    await withServer((parley) => consume(parley, 'before'));
    await backUp();
    await withServer((parley) => consume(parley, 'lost'));
    const ofLost = position;
    await restore();
    await withServer((parley) => consume(parley, 'after'));
    expect(stored).toEqual(['before', 'lost', 'after']);
    expect(position).toBeGreaterThan(ofLost);
  });

  it('lets an outbox send a lost message again, and a restored one only once', async () => {
    const kept = await withServer((parley) => say(parley, 'kept', 'order-1'));
    await backUp();
    const lost = await withServer((parley) => say(parley, 'lost', 'order-2'));
    await restore();
    await withServer(async (parley) => {
      expect((await say(parley, 'kept', 'order-1')).id).toBe(kept.id);
      const again = await say(parley, 'lost', 'order-2');
      expect(again.id).toBeGreaterThan(lost.id);
      expect((await say(parley, 'lost', 'order-2')).id).toBe(again.id);
    });
  });
});

describe('credentials after parley restore', () => {
  const openSession = async () => {
    await withServer(async (parley) => {
      const realmId = (await parley.findRealm(realm))!;
      const { id } = (await parley.users.find(ANN))!;
      const user = { realmId, id, isActive: true } as User;
      const origin = { userAgent: 'Mozilla/5.0', ip: undefined, method: 'password' };
      await parley.useCase(OpenSession).execute({ user, ...origin });
    });
  };
  const sessions = async () => (await run('user', 'sessions', 'ann@example.com', `--realm=${realm}`)).sessions.length;
  const apiKey = async (): Promise<string> =>
    (await run('user', 'api-key', 'ann@example.com', `--realm=${realm}`)).apiKey;
  const tokens = () => withServer(async (parley) => (await parley.tokens.list(ANN)).length);
  const createToken = () =>
    withServer((parley) => parley.tokens.create({ user: ANN, conversations: [{ channel: 'orders' }] }));

  it('are those of the backup, except browser sessions, which end', async () => {
    await openSession();
    await createToken();
    const key = await apiKey();
    await backUp();
    const text = await restore();
    expect(text).toContain('All browser sessions have ended: 1.');
    expect(text).toMatch(
      /API keys and access tokens came back as of \S+, also those that were replaced or revoked since/,
    );
    expect([await sessions(), await tokens(), await apiKey()]).toEqual([0, 1, key]);
  });

  it('include the sessions that have ended since with --no-end-sessions', async () => {
    await openSession();
    await backUp();
    await run('user', 'sessions', 'ann@example.com', '--end', `--realm=${realm}`);
    const text = await restore('--no-end-sessions');
    expect(text).toMatch(/Browser sessions came back as of \S+, also those that people have ended since/);
    expect(await sessions()).toBe(1);
  });

  it('are all new or ended with --renew-keys', async () => {
    await openSession();
    await createToken();
    const key = await apiKey();
    await backUp();
    const text = await restore('--renew-keys');
    expect(text).toContain('All API keys and access tokens are new or have ended');
    expect([await sessions(), await tokens()]).toEqual([0, 0]);
    expect(await apiKey()).not.toBe(key);
  });

  it('cannot be renewed without ending the sessions', async () => {
    await backUp();
    await expect(restore('--renew-keys', '--no-end-sessions')).rejects.toThrow(
      '--renew-keys ends browser sessions too.',
    );
  });
});
