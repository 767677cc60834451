import { encodeJob, type UnixSeconds, type UserId } from '@parley/domain/kernel';
import { EraseUser } from '@parley/domain/membership';
import type { PushService } from '@parley/domain/push';
import { ReportPresence } from '@parley/domain/users';
import { CreateReminder, CreateScheduledMessage, SendMessage } from '@parley/domain/writing';
import { composeParley } from '@parley/server/testing';
import { DrivenTime, FakeMailer } from '@parley/testkit';
import { fieldsOf } from '../testing/expectations.js';
import { TestServer, type TestUser } from '../testing/test-server.js';
import { isOnPostgres } from '../testing/test-storage.js';

const HOUR = 3600;
const DAY = 24 * HOUR;
const STEPS = [HOUR, 2 * DAY, 730 * DAY].flatMap((step) => [step, -step]);
const CASES = STEPS.flatMap((step) => (['while running', 'at a start'] as const).map((when) => ({ step, when })));
/** Time for noticing a step, and for a batch of five seconds. */
const SOON = 45;
const BATCH = 5;

/** Push service, bots and log of a server. */
function outsideOf() {
  const pushed: string[] = [];
  const asked: string[] = [];
  const lines: string[] = [];
  const push: PushService = {
    async sendLegacy(_, tokens, notice) {
      if (notice.type === 'message') pushed.push(Object.values(notice.text).join('\n'));
      return { goneTokenIds: [], goneTokens: [], unreached: [], status: null, sent: tokens.length };
    },
    sendEncrypted: async () => ({ goneTokenIds: [], goneTokens: [], unreached: [], status: null, sent: 0 }),
    tokenIdOf: (token) => token,
    registerEncrypted: async () => null,
    registerToken: async () => {},
    unregisterToken: async () => {},
    sendTest: async () => {},
    askAbout: async () => new Map(),
  };
  const webhookClient = {
    async post(_: string, { body }: { readonly body: string | Uint8Array }) {
      asked.push(body.toString());
      return { status: 200, text: '{}' };
    },
  };
  const warn = (_: object, message: string) => void lines.push(message);
  return { pushed, asked, lines, push, webhookClient, logger: { info: () => {}, error: warn, warn } };
}

// Driven time does not wait for the answers of PostgreSQL.
(isOnPostgres ? describe.skip : describe)('A server with a wrong clock', () => {
  async function aServer() {
    const base = await TestServer.start();
    const { iago, hamlet } = base.people;
    const bot = {
      full_name: 'hook',
      short_name: 'hook',
      bot_type: 3,
      payload_url: JSON.stringify('https://b.example/'),
    };
    const { user_id: botId } = fieldsOf(await base.post('/bots', iago, bot));
    const settings = { email_notifications_batching_period_seconds: BATCH, enable_online_push_notifications: true };
    fieldsOf(await base.patch('/settings', hamlet, settings));
    fieldsOf(await base.post('/users/me/android_gcm_reg_id', hamlet, { token: 'phone' }));
    const time = new DrivenTime();
    const outside = outsideOf();
    const mailer = new FakeMailer();
    const { push, webhookClient, logger } = outside;
    const start = async () => {
      const storage = await base.storage.openAgain(time);
      const parley = await composeParley({
        ...base.parts,
        ...{ unitOfWork: storage.uow, clock: time, timers: time, isClockWatched: true },
        ...{ mailer, push, webhookClient, logger },
        release: () => storage.close(),
      });
      await time.advance(2);
      return parley;
    };
    const server = { ...outside, base, time, mailer, parley: await start() };
    const caller = ({ id }: TestUser) => ({ realmId: base.realmId, userId: id, clientName: 'test' });
    const step = async (seconds: number, when: 'while running' | 'at a start') => {
      if (when === 'at a start') await server.parley.close();
      time.jumpClock(seconds);
      if (when === 'at a start') server.parley = await start();
    };
    const send = async (content: string, to: UserId = hamlet.id) => {
      const input = { to: { kind: 'userIds', ids: [to] }, topic: null, content, isReadBySender: true, echo: null };
      const { id } = await server.parley.useCase(SendMessage).execute(caller(iago), input as never);
      return id;
    };
    const isActive = () =>
      server.parley
        .useCase(ReportPresence)
        .execute(caller(hamlet), { status: 'active', isPingOnly: true, lastUpdateId: null, historyDays: 1 });
    const texts = async (user: TestUser) => {
      const views = await server.parley.ports.unitOfWork.read(base.realmId, async ({ pages }) => {
        const filter = { conditions: [], scope: 'own' } as const;
        const entries = await pages.listEntriesFrom(caller(user), filter, 0, 1000);
        return pages.listViews(
          base.realmId,
          entries.map(({ id }) => id),
        );
      });
      return views.map(({ message }) => message.content);
    };
    const close = async () => {
      await server.parley.close();
      await base.close();
    };
    return Object.assign(server, { caller, step, send, isActive, texts, close, hamlet, iago, botId: botId as UserId });
  }

  it.each(CASES)(
    'sends emails, pushes and webhooks soon after a step of $step seconds $when',
    async ({ step, when }) => {
      const server = await aServer();
      const { time, mailer, pushed, asked } = server;
      await server.isActive();
      // Waits for its batch when the clock changes.
      await server.send('one before');
      await time.advance(300);
      await server.send('two before');
      await time.advance(2);
      await server.step(step, when);
      await time.advance(SOON);
      await server.send('after');
      await server.send('a question', server.botId);
      await time.advance(SOON);
      const mailed = mailer.emails.map(({ text }) => text).join('\n');
      for (const text of ['two before', 'after']) {
        expect(mailed).toContain(text);
        expect(pushed.join('\n')).toContain(text);
      }
      expect(asked).toEqual([expect.stringContaining('a question')]);
      // Each came once.
      expect(mailed.split('two before')).toHaveLength(2);
      await server.close();
    },
  );

  it.each(CASES)('delivers what is due at a moment by the clock, after a step of $step seconds $when', async (test) => {
    const server = await aServer();
    const { time, hamlet, iago, caller } = server;
    const messageId = await server.send('to remember');
    const plan = async (content: string, dueAt: UnixSeconds) => {
      const input = { kind: 'direct', to: [iago.id], topic: '', content, dueAt, isReadBySender: true } as const;
      await server.parley.useCase(CreateScheduledMessage).execute(caller(hamlet), input);
      await server.parley.useCase(CreateReminder).execute(caller(hamlet), { messageId, dueAt, note: content });
    };
    const dueAt = time.now() + 900 * DAY;
    await plan('dawn', dueAt);
    await server.step(test.step, test.when);
    await plan('dusk', time.now() + 100);
    await time.advance(90);
    const said = async () => [...(await server.texts(hamlet)), ...(await server.texts(iago))].join('\n');
    expect(await said()).not.toMatch(/dusk|dawn/);
    await time.advance(60);
    expect((await said()).split('dusk')).toHaveLength(3 + 1);
    await server.step(dueAt - time.now() - 1, 'while running');
    await time.advance(60);
    expect((await said()).split('dawn')).toHaveLength(3 + 1);
    await server.close();
  });

  it.each(STEPS)('lets a job of each kind wait for at most its delay after a step of %i seconds', async (step) => {
    const server = await aServer();
    const { realmId } = server.base;
    const kinds = server.parley.part('jobHandlers').map(({ kind }) => kind);
    await server.parley.close();
    const { uow } = server.base.storage;
    const dueAt = server.time.now() + DAY / 4;
    for (const { name } of kinds) {
      await uow.write(realmId, async (tx) => {
        const kind = { ...kinds.find((each) => each.name === name)!, format: 99 };
        await tx.jobs.schedule(encodeJob(kind, { realmId, dueAt, payload: {} as never }));
      });
    }
    const now = server.base.clock.now() + step;
    await uow.writeAcross((tx) => tx.jobs.bringBack(now));
    for (const { name, isFixed } of kinds) {
      const [job] = await uow.readAcross(({ jobs }) => jobs.listDue({ kind: name, maxFormat: 99 }, dueAt, 100));
      expect([name, job!.dueAt <= (isFixed ? dueAt : now + DAY / 2)]).toEqual([name, true]);
      if (isFixed) expect([name, job!.dueAt]).toEqual([name, dueAt]);
    }
    await server.base.close();
  });

  it('deletes nothing because of its age until an hour after a large step, and logs it', async () => {
    const server = await aServer();
    const { base, time, hamlet, lines } = server;
    await base.storage.uow.write(base.realmId, async (tx) => {
      const realm = await tx.realms.get(base.realmId);
      await tx.realms.update({ ...realm, settings: { ...realm.settings, messageRetentionDays: 1 } as never });
    });
    await server.send('kept for a day');
    await server.step(2 * DAY, 'while running');
    await time.advance(50 * 60);
    expect(await server.texts(hamlet)).toContain('kept for a day');
    expect(lines).toEqual(['the clock was changed: nothing is deleted because of its age for an hour']);
    await server.step(-2 * DAY, 'at a start');
    await time.advance(3 * HOUR);
    expect(await server.texts(hamlet)).toContain('kept for a day');
    await server.step(2 * DAY, 'while running');
    await time.advance(3 * HOUR);
    expect(await server.texts(hamlet)).not.toContain('kept for a day');
    await server.close();
  });

  it('erases a person on request where nobody has written for days', async () => {
    const server = await aServer();
    const { base, hamlet, time } = server;
    await server.send('written by iago');
    await server.step(2 * DAY, 'at a start');
    const user = { userId: server.iago.id };
    await server.parley.useCase(EraseUser).execute({ realmId: base.realmId, user, everythingWritten: true });
    for (let n = 0; n < 20 && (await server.texts(hamlet)).length > 0; n++) await time.advance(SOON);
    expect(await server.texts(hamlet)).toEqual([]);
    await server.close();
  });
});
