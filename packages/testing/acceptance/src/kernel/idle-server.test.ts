import { CreateScheduledMessage } from '@parley/domain/writing';
import { composeParley } from '@parley/server/testing';
import { DrivenTime } from '@parley/testkit';
import { fieldsOf } from '../testing/expectations.js';
import { TestServer } from '../testing/test-server.js';
import { isOnPostgres } from '../testing/test-storage.js';

const HOUR = 3600;

// Driven time does not wait for the answers of PostgreSQL.
(isOnPostgres ? describe.skip : describe)('A server that nobody uses', () => {
  let base: TestServer;
  beforeEach(async () => {
    base = await TestServer.start();
  });

  /** Starts a server with all workers on the database, without a bus, and lets it become quiet. */
  async function startQuiet() {
    const time = new DrivenTime();
    const storage = await base.storage.openAgain();
    const parley = await composeParley({
      ...base.parts,
      unitOfWork: storage.uow,
      clock: time,
      timers: time,
      hasRateLimits: true,
      shedsLoad: true,
      verifyStorage: () => {},
      dataFolder: '/',
      release: () => storage.close(),
    });
    const read = () => parley.ports.unitOfWork.read(base.realmId, async () => {});
    await read();
    await time.advance(120);
    return { parley, time, read };
  }

  it('wakes at most once per ten seconds in an hour and twice in most minutes', async () => {
    const { parley, time } = await startQuiet();
    const perMinute: number[] = [];
    for (let minute = 0; minute < HOUR / 60; minute++) {
      const before = time.wakeUps;
      await time.advance(60);
      perMinute.push(time.wakeUps - before);
    }
    expect(perMinute.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(HOUR / 10);
    expect(perMinute.toSorted((a, b) => a - b)[HOUR / 120]).toBe(2);
    await parley.close();
    expect(time.pending).toBe(0);
  });

  it('sends a scheduled message in the second when it is due', async () => {
    const { parley, time } = await startQuiet();
    const { hamlet, iago } = base.people;
    const dueAt = time.now() + 1234;
    await parley
      .useCase(CreateScheduledMessage)
      .execute(
        { realmId: base.realmId, userId: hamlet.id, clientName: 'test' },
        { kind: 'direct', to: [iago.id], topic: '', content: 'later', dueAt, isReadBySender: true },
      );
    await time.advance(1235);
    await base.catchUp();
    const { messages } = fieldsOf(
      await base.get('/messages', iago, { anchor: 'newest', num_before: 1, num_after: 0 }),
    ) as { messages: { content: string; timestamp: number }[] };
    expect(messages).toMatchObject([{ content: '<p>later</p>', timestamp: dueAt }]);
    await parley.close();
  });

  it('reads commits of other processes before its next unit of work, and then every second', async () => {
    const { parley, time, read } = await startQuiet();
    const { hamlet, iago } = base.people;
    const follower = parley.part('follower');
    const seqAfterMessage = async () => {
      await base.sendMessage(hamlet, [iago], { content: 'hi' });
      return base.parley.part('follower').lastSeqOf(base.realmId);
    };
    const [before, first] = [follower.lastSeqOf(base.realmId), await seqAfterMessage()];
    await time.advance(1);
    expect(follower.lastSeqOf(base.realmId)).toBe(before);
    const seqs: number[] = [];
    await Promise.all([read(), read()].map((unit) => unit.then(() => seqs.push(follower.lastSeqOf(base.realmId)))));
    expect(seqs).toEqual([first, first]);
    const second = await seqAfterMessage();
    await time.advance(1);
    expect(follower.lastSeqOf(base.realmId)).toBeGreaterThanOrEqual(second);
    await parley.close();
  });
});
