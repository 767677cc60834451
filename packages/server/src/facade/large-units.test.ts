import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_CHANNEL_OPTIONS, SubscribeUsers, UnsubscribeUsers } from '@parley/domain/channels';
import type { Caller, MessageId, UserId } from '@parley/domain/kernel';
import { CreateRealm } from '@parley/domain/log-in';
import { RegisterUser } from '@parley/domain/membership';
import { ChangeMessageFlags } from '@parley/domain/messages';
import { GetOwnUser } from '@parley/domain/users';
import { SendMessage } from '@parley/domain/writing';
import { machineSlowness, threadTimes } from '@parley/testkit/process-usage';
import { createParley, type Parley } from '../index.js';

/**
 * Large requests run in slices. Other callers get responses in between and see either the whole change or none of it.
 */
describe('large request', () => {
  const directory = mkdtempSync(join(tmpdir(), 'parley-large-'));
  let parley: Parley;
  let caller: Caller;
  let people: UserId[];

  beforeAll(async () => {
    parley = await createParley({ database: `sqlite:${join(directory, 'parley.db')}`, url: 'http://localhost' });
    const realm = await parley.useCase(CreateRealm).execute({ stringId: '', name: 'Large' });
    const users = await Promise.all(
      Array.from({ length: 60 }, (_, n) =>
        parley.useCase(RegisterUser).execute({
          realmId: realm.id,
          email: `person${n}@example.com`,
          fullName: `Person ${n}`,
          role: n === 0 ? 'owner' : 'member',
          password: null,
        }),
      ),
    );
    people = users.map(({ id }) => id);
    caller = { realmId: realm.id, userId: people[0]!, clientName: 'test' };
  });
  afterAll(async () => {
    await parley.close();
    rmSync(directory, { recursive: true });
  });

  const subscribe = (names: readonly string[], principals: readonly UserId[] | null = null) =>
    parley.useCase(SubscribeUsers).execute(caller, {
      channels: names.map((name) => ({ name, color: null, description: '' })),
      principals,
      options: DEFAULT_CHANNEL_OPTIONS,
      announce: false,
      failsOnInaccessible: true,
      notifyNewSubscribers: false,
    });
  const namesOf = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix} ${n}`);

  /**
   * Returns the number of sequential reads completed during the work, and the longest time for which the process
   * blocked one.
   */
  async function readsDuring(work: Promise<unknown>): Promise<{ readonly count: number; readonly longestMs: number }> {
    let isDone = false;
    void work.finally(() => {
      isDone = true;
    });
    let count = 0;
    let longestMs = 0;
    while (!isDone) {
      const before = threadTimes().workedMs;
      await parley.useCase(GetOwnUser).execute({ ...caller, userId: people[1]! });
      await new Promise((resolve) => setImmediate(resolve));
      longestMs = Math.max(longestMs, threadTimes().workedMs - before);
      count++;
    }
    await work;
    return { count, longestMs };
  }

  it.each<[string, () => Promise<unknown>]>([
    ['creates a thousand channels', () => subscribe(namesOf('new', 1000))],
    ['subscribes sixty people to a hundred channels', () => subscribe(namesOf('new', 100), people)],
    [
      'unsubscribes them again',
      () => parley.useCase(UnsubscribeUsers).execute(caller, { channelNames: namesOf('new', 100), principals: people }),
    ],
  ])('%s without blocking other requests', async (_, work) => {
    const { count, longestMs } = await readsDuring(work());
    expect(count).toBeGreaterThan(5);
    // Fifty milliseconds are expected; the limit allows for garbage collection.
    expect(longestMs).toBeLessThan(400 * (await machineSlowness()));
  });

  it('changes the flags of ten thousand messages without blocking other requests', async () => {
    await subscribe(['flags']);
    const ids: MessageId[] = [];
    for (let n = 0; n < 50; n++) {
      const sent = await Promise.all(
        Array.from({ length: 200 }, () =>
          parley.useCase(SendMessage).execute(caller, {
            to: { kind: 'channelName', name: 'flags' },
            topic: 'flags',
            content: 'a message',
            isReadBySender: true,
            echo: null,
          }),
        ),
      );
      ids.push(...sent.map(({ id }) => id));
    }
    for (const op of ['remove', 'add']) {
      const change = parley.useCase(ChangeMessageFlags).execute(caller, { ids, op, flag: 'read' });
      const { count } = await readsDuring(change);
      expect((await change).changedIds).toHaveLength(10_000);
      expect(count).toBeGreaterThan(1);
    }
  });

  it('changes nothing if one of its users is unknown', async () => {
    const taken = namesOf('again', 400);
    await expect(subscribe([...taken, 'x'.repeat(61)])).rejects.toMatchObject({ code: 'INVALID_CHANNEL_NAME' });
    const unknown = (Math.max(...people) + 1) as UserId;
    const failing = subscribe(taken, [...people, unknown]);
    await expect(failing).rejects.toMatchObject({ message: 'No such user' });
    const { subscribed } = await subscribe(taken);
    expect(subscribed.get(caller.userId)).toEqual(taken);
  });
});
