import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MessageId } from '@parley/domain/kernel';
import { type MessageFilter, receivedMessagesIn } from '@parley/domain/messages';
import { aChannel, aMessage, aUser, createFixtureOn, FixedClock, type Fixture } from '@parley/testkit';
import fc from 'fast-check';
import { openSqliteStorage, type SqliteStorage } from '../index.js';

const TOPICS = 60;
/** More than one window of a read set. */
const MESSAGES = 4300;
const READERS = 12;

/** Interleaved conversations turn read sets into bitmaps; random histories are too short for that. */
describe('read state of many interleaved topics', () => {
  const directory = mkdtempSync(join(tmpdir(), 'parley-topics-'));
  let storage: SqliteStorage;
  let fixture: Fixture;
  let ids: readonly MessageId[];
  beforeAll(async () => {
    const clock = new FixedClock();
    storage = openSqliteStorage({ path: join(directory, 'parley.db'), clock });
    const readers = Array.from({ length: READERS }, (_, n) => `reader ${n}`);
    fixture = await createFixtureOn(
      storage.uow,
      clock,
      ...['writer', ...readers].map((name) => aUser({ name })),
      aChannel({ name: 'busy', subscribers: ['writer', ...readers] }),
      ...Array.from({ length: MESSAGES }, (_, n) => aMessage({ from: 'writer', to: 'busy', topic: `t${topicOf(n)}` })),
    );
    ids = fixture.messages.map(({ id }) => id);
  });
  afterAll(async () => {
    await storage.close();
    rmSync(directory, { recursive: true });
  });

  /** Interleaved but irregular, so that neighbouring bitmap bytes differ. */
  const topicOf = (n: number): number => (n * 7 + (n >> 5)) % TOPICS;

  const topic = fc.nat({ max: TOPICS - 1 }).map((number) => ({ kind: 'topic', number }) as const);
  const stretch = fc
    .tuple(
      fc.nat({ max: MESSAGES - 1 }),
      fc.integer({ min: 1, max: 700 }),
      fc.integer({ min: 1, max: 9 }),
      fc.boolean(),
    )
    .map(([from, length, step, read]) => ({ kind: 'stretch', from, length, step, read }) as const);
  const everything = fc.constant({ kind: 'everything' } as const);
  const steps = fc.array(fc.oneof({ weight: 6, arbitrary: topic }, { weight: 3, arbitrary: stretch }, everything), {
    minLength: 1,
    maxLength: 30,
  });

  it('reports changed and remaining messages like a plain set', async () => {
    let reader = 0;
    await fc.assert(
      fc.asyncProperty(steps, async (taken) => {
        const viewer = fixture.viewer(`reader ${reader++ % READERS}`);
        const { recipientId } = fixture.channel('busy');
        const unreadOf = (filter: MessageFilter) =>
          storage.uow.read(viewer.realmId, ({ personal }) => personal.listUnread(viewer, MESSAGES, filter));
        const busy = receivedMessagesIn(recipientId);
        const unread = new Set((await unreadOf(busy)).map(({ id }) => id));
        for (const step of taken) {
          const read = step.kind === 'stretch' ? step.read : true;
          const meant = ids.filter((_, n) => {
            if (step.kind === 'topic') return topicOf(n) === step.number;
            if (step.kind === 'everything') return true;
            return n >= step.from && n < step.from + step.length && (n - step.from) % step.step === 0;
          });
          const changing = meant.filter((id) => unread.has(id) === read);
          const changed = await storage.uow.write(viewer.realmId, ({ personal }) =>
            step.kind === 'stretch'
              ? personal.setRead(viewer, meant, read)
              : personal.markRead(
                  viewer,
                  step.kind === 'topic' ? receivedMessagesIn(recipientId, `t${step.number}`) : busy,
                ),
          );
          expect(changed).toEqual(changing);
          for (const id of changing) {
            if (read) unread.delete(id);
            else unread.add(id);
          }
          expect((await unreadOf(busy)).map(({ id }) => id)).toEqual(ids.filter((id) => unread.has(id)));
        }
      }),
      { numRuns: 20 },
    );
  });
});
