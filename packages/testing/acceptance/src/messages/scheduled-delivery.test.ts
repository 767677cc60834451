import { PublishingUnitOfWork } from '@parley/domain/composition';
import type { ScheduledMessageId } from '@parley/domain/kernel';
import {
  BotOwnerWarnings,
  ChangeScheduledMessage,
  CreateReminder,
  CreateScheduledMessage,
  DeleteScheduledMessage,
  DeliverReminder,
  DeliverScheduledMessage,
  HostReview,
  MessageSender,
  SystemMessages,
  UserTextParser,
} from '@parley/domain/writing';
import { JobWorkers } from '@parley/server/testing';
import {
  aChannel,
  aMessage,
  anyData,
  aUser,
  createFixtureOn,
  DrivenTime,
  FakeRenderer,
  fakeRealmUrls,
} from '@parley/testkit';
import { MemoryStorage } from '@parley/testkit/memory';
import { stoppedAfterEach } from '../testing/stopped-workers.js';

const DAY = 86_400;

describe('delivery of scheduled messages and reminders', () => {
  const opened = stoppedAfterEach();

  async function aServer() {
    const time = new DrivenTime();
    const report = (message: string, { err }: Readonly<Record<string, unknown>>) => {
      throw new Error(message, { cause: err });
    };
    const uow = new PublishingUnitOfWork(new MemoryStorage(time).uow, () => {});
    const fixture = await createFixtureOn(
      uow,
      time,
      aUser({ name: 'hamlet' }),
      aChannel({ name: 'general', subscribers: ['hamlet'] }),
      aMessage({ from: 'hamlet', to: 'general', topic: 'watch' }),
    );
    const renderer = new FakeRenderer();
    const systemMessages = new SystemMessages(renderer, fakeRealmUrls, time);
    const warnings = new BotOwnerWarnings(uow, systemMessages, time);
    const parser = new UserTextParser(uow, renderer, fakeRealmUrls);
    const review = new HostReview(uow, fakeRealmUrls, anyData, (text) => text);
    const sender = new MessageSender(uow, parser, fakeRealmUrls, time, warnings, review);
    const start = time.now();

    /** Starts a process on the same database. */
    const run = () => {
      const handlers = [
        new DeliverScheduledMessage(uow, sender, systemMessages, time),
        new DeliverReminder(uow, systemMessages, fakeRealmUrls),
      ];
      const workers = new JobWorkers(handlers, { uow, clock: time, timers: time, report });
      uow.subscribe(workers);
      opened.push([workers, time]);
      workers.start();
      return workers;
    };
    const { id: channelId } = fixture.channel('general');
    const caller = fixture.caller('hamlet');
    const schedule = (content: string, delay: number): Promise<ScheduledMessageId> =>
      new CreateScheduledMessage(uow, sender, time).execute(caller, {
        kind: 'channel',
        to: channelId,
        topic: 'plans',
        content,
        dueAt: start + delay,
        isReadBySender: true,
      });
    const remind = (delay: number) =>
      new CreateReminder(uow, systemMessages, fakeRealmUrls, time).execute(caller, {
        messageId: fixture.messages[0]!.id,
        dueAt: start + delay,
        note: '',
      });
    const move = (id: ScheduledMessageId, delay: number) =>
      new ChangeScheduledMessage(uow, sender, time).execute(caller, {
        id,
        kind: null,
        to: null,
        topic: null,
        content: null,
        dueAt: start + delay,
      });
    const remove = (id: ScheduledMessageId) => new DeleteScheduledMessage(uow).execute(caller, { id });
    /** Messages sent since the beginning, with the elapsed seconds by the clock. */
    const said = () =>
      uow.read(fixture.realm.id, async ({ pages }) => {
        const filter = { conditions: [], scope: 'own' } as const;
        const entries = await pages.listEntriesFrom(fixture.viewer('hamlet'), filter, 0 as never, 1000);
        const views = await pages.listViews(
          fixture.realm.id,
          entries.map(({ id }) => id),
        );
        return views.slice(1).map(({ message }) => [message.content.split('\n')[0]!, message.sentAt - start]);
      });
    const find = (id: ScheduledMessageId) =>
      uow.read(fixture.realm.id, ({ scheduledMessages }) => scheduledMessages.find(fixture.realm.id, id));
    return { time, run, schedule, remind, move, remove, said, find };
  }

  const REMINDER = expect.stringMatching(/^You requested a reminder/);

  it('happens in the second when due, in order', async () => {
    const { time, run, schedule, remind, said } = await aServer();
    run();
    await time.advance(0);
    await schedule('late', 100);
    await schedule('soon', 7);
    await remind(50);
    await time.advance(200);
    expect(await said()).toEqual([
      ['soon', 7],
      [REMINDER, 50],
      ['late', 100],
    ]);
  });

  it('happens once despite several processes', async () => {
    const { time, run, schedule, remind, said } = await aServer();
    run();
    run();
    run();
    await time.advance(0);
    await schedule('message', 7);
    await remind(7);
    await time.advance(600);
    expect(await said()).toHaveLength(2);
  });

  it('uses changed times, sooner or later, and skips deleted messages', async () => {
    const { time, run, schedule, move, remove, said } = await aServer();
    run();
    await time.advance(0);
    const [late, soon, deleted] = [await schedule('late', 1000), await schedule('soon', 10), await schedule('none', 5)];
    await move(late, 3);
    await move(soon, 500);
    await remove(deleted);
    await time.advance(2000);
    expect(await said()).toEqual([
      ['late', 3],
      ['soon', 500],
    ]);
  });

  it('happens after a sleep of less than ten minutes', async () => {
    const { time, run, schedule, remind, said } = await aServer();
    run();
    await time.advance(0);
    await schedule('message', 10);
    await remind(10);
    time.jumpClock(590);
    await time.advance(15);
    expect(await said()).toEqual(
      expect.arrayContaining([
        ['message', 600],
        [REMINDER, 600],
      ]),
    );
  });

  it('fails for scheduled messages but not for reminders after a longer sleep', async () => {
    const { time, run, schedule, remind, said, find } = await aServer();
    run();
    await time.advance(0);
    const id = await schedule('message', 10);
    await remind(10);
    time.jumpClock(DAY);
    await time.advance(20);
    expect(await find(id)).toMatchObject({
      status: 'failed',
      failure: 'Message could not be sent at the scheduled time.',
    });
    const contents = (await said()).map(([content]) => content);
    expect(contents).toHaveLength(2);
    expect(contents).toEqual(
      expect.arrayContaining([REMINDER, expect.stringMatching(/^The message you scheduled for <time:2026-01-05 /)]),
    );
  });

  it('follows a clock that is set back, and delivers once', async () => {
    const { time, run, schedule, said } = await aServer();
    run();
    await time.advance(0);
    await schedule('before', 10);
    await schedule('after', 100);
    await time.advance(50);
    time.jumpClock(-3600);
    await time.advance(3600);
    expect(await said()).toEqual([['before', 10]]);
    await time.advance(60);
    expect(await said()).toEqual([
      ['before', 10],
      ['after', 100],
    ]);
  });

  it('neither loses nor repeats messages when the clock changes repeatedly', async () => {
    const { time, run, schedule, said } = await aServer();
    run();
    await time.advance(0);
    for (let n = 0; n < 20; n++) await schedule(`${n}`, 10 + 10 * n);
    for (const seconds of [3, -3, 60, -60, 1, -1, 30]) {
      time.jumpClock(seconds);
      await time.advance(17);
    }
    await time.advance(600);
    const contents = (await said()).map(([content]) => content);
    expect([...contents].sort()).toEqual(Array.from({ length: 20 }, (_, n) => `${n}`).sort());
  });

  it('happens at the next start for messages that became due while no process was running', async () => {
    const { time, run, schedule, remind, said } = await aServer();
    const first = run();
    await time.advance(0);
    await schedule('message', 10);
    await remind(20);
    await first.stop();
    await time.advance(300);
    expect(await said()).toEqual([]);
    run();
    await time.advance(1);
    expect(await said()).toHaveLength(2);
  });
});
