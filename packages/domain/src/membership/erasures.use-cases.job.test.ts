import {
  aChannel,
  aMessage,
  aUser,
  createFixture,
  type FixtureStep,
  MemoryBlobStore,
  type MemoryFixture,
} from '@parley/testkit';
import type { BlobKey } from '../files/blobs.js';
import { UnneededFiles } from '../files/files.use-cases.js';
import { nobody } from '../kernel/event.js';
import type { ErasureId, JobId, UserId } from '../kernel/ids.js';
import { encodeJob, type Job } from '../kernel/jobs.js';
import type { Clock } from '../kernel/ports.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { ENTITIES_PER_PAGE } from '../kernel/work.js';
import { deleteMessages, MAX_DELETED_AT_ONCE } from '../writing/deletion.js';
import { DELETED_MESSAGE_JOB } from '../writing/reminders.js';
import { MAX_BOTS_AT_ONCE } from './deactivation.js';
import { DELETED_USER_NAME, isErased } from './erased-person.js';
import {
  ERASE_PERSON_JOB,
  ERASURE_STAGES,
  type ErasurePayload,
  type ErasureProgress,
  type PersonalDataRepository,
} from './erasures.js';
import { ErasePerson, startErasure } from './erasures.use-cases.js';

const HOUR = 3600;

/** Job of the erasure of ann, which each test may begin at any stage. */
async function erasingAnn(
  { everythingWritten = false }: { readonly everythingWritten?: boolean },
  ...steps: FixtureStep[]
) {
  const fixture = await createFixture(
    aUser({ name: 'owner', role: 'owner' }),
    aUser({ name: 'ann' }),
    aUser({ name: 'bob' }),
    aChannel({ name: 'town', subscribers: ['ann', 'bob'] }),
    ...steps,
  );
  const { realm, clock } = fixture;
  const read = <T>(work: (reads: Repositories) => Promise<T>) => fixture.uow.read(realm.id, work);
  const write = <T>(work: (tx: Transaction) => Promise<T>) => fixture.uow.write(realm.id, work);
  const blobs = new MemoryBlobStore(clock);
  const files = new UnneededFiles(blobs, []);
  const removeFiles = jest.spyOn(files, 'remove');
  const mailer = { send: async () => {}, removeTo: jest.fn(async () => {}) };
  const reports = { remove: jest.fn(async () => {}) };

  const waiting = async () => {
    const selection = { kind: ERASE_PERSON_JOB.name, maxFormat: 1 };
    const due = await read(({ jobs }) => jobs.listDue(selection, clock.now() + 24 * HOUR, 10));
    await write(async (tx) => {
      for (const job of due) await tx.jobs.take(job);
    });
    return due.map(({ dueAt, payload }) => ({ dueIn: dueAt - clock.now(), payload: JSON.parse(payload) }));
  };

  await write((tx) => startErasure(tx, fixture.user('ann'), { requestedAt: clock.now(), everythingWritten }));
  const [begun] = await waiting();
  const first = begun!.payload as ErasurePayload;
  const jobOf = (payload: ErasurePayload): Job<ErasurePayload> => ({
    ...{ id: 1 as JobId, realmId: realm.id, dueAt: 0, attempt: 1 },
    payload,
  });
  const handlerWith = (uow: UnitOfWork, time: Clock) => new ErasePerson(uow, files, time, mailer, reports);
  /** Clock that advances with each step; the job is scheduled again after a second. */
  const clockWith = (msPerStep: number): Clock => {
    let steps = 0;
    return { now: () => clock.now(), nowMs: () => msPerStep * steps++ };
  };
  /** Runs the job once from there, and returns the jobs that it leaves. */
  const run = async (from: Partial<ErasurePayload>, { uow = fixture.uow, msPerStep = 20 } = {}) => {
    const payload = { ...first, ...from } as ErasurePayload;
    await write(await handlerWith(uow, clockWith(msPerStep)).prepare(jobOf(payload)));
    return waiting();
  };
  return {
    ...{ fixture, read, write, run, first, mailer, reports, removeFiles },
    runOneStep: (from: ErasureProgress & Partial<ErasurePayload>) => run(from, { msPerStep: 1000 }),
    giveUp: async (payload: ErasurePayload) => {
      await write((tx) => handlerWith(fixture.uow, clock).giveUp(tx, jobOf(payload)));
      return waiting();
    },
    /** Runs all jobs to the end, and returns their stages. */
    finish: async () => {
      const stages: string[] = [];
      for (let next: ErasurePayload | undefined = first; next && stages.length < 50; ) {
        stages.push(next.stage);
        next = (await run(next))[0]?.payload;
      }
      return stages;
    },
    erasure: () => read(async ({ erasures }) => (await erasures.list(realm.id))[0]!),
    addFiles: (count: number, name = 'cat') =>
      write(async (tx) => {
        const file = {
          ...{ realmId: realm.id, ownerId: fixture.user('ann').id, name, size: 1, createdAt: 0, image: null },
          ...{ blob: '0'.repeat(32) as BlobKey, contentType: 'text/plain' },
        };
        const ids = [];
        for (let n = 0; n < count; n++) ids.push((await tx.files.add({ ...file, pathId: `2/ab/${name}${n}` })).id);
        return ids;
      }),
    listFiles: () => read(({ files }) => files.list(realm.id, fixture.user('ann').id, 0, 1000)),
    hold: (hold: { readonly personId?: UserId; readonly releasedAt?: number | null }) =>
      write((tx) =>
        tx.holds.add({
          ...{ realmId: realm.id, reason: 'case', personId: null, channelId: null, messageId: null },
          ...{ since: null, until: null, createdAt: 0, createdBy: null, releasedAt: null, releasedBy: null },
          ...hold,
        }),
      ),
    rows: (after = 0) => read(({ events }) => events.listRows(realm.id, after, 10_000)),
  };
}

const many = (count: number, step: FixtureStep): FixtureStep[] => Array.from({ length: count }, () => step);
const fromAnn = (content = 'hello') => aMessage({ from: 'ann', to: 'town', content });
const writtenBy = ({ uow, realm, messages }: MemoryFixture) =>
  uow.read(realm.id, (reads) =>
    reads.messages.list(
      realm.id,
      messages.map(({ id }) => id),
    ),
  );

describe('The erasure of a person', () => {
  it.each([
    [false, ['rows', 'bots', 'files', 'descriptions', 'events', 'texts', 'held']],
    [true, ERASURE_STAGES],
  ])('with everything written: %s, passes its stages in order and ends', async (everythingWritten, stages) => {
    const { finish, erasure, fixture } = await erasingAnn({ everythingWritten });
    fixture.clock.advance(60);
    expect(await finish()).toEqual(stages);
    expect(await erasure()).toMatchObject({ endedAt: fixture.clock.now(), heldTexts: 0, everythingWritten });
  });

  /** Storage whose steps through the tables end at a cursor once. */
  const inTwoSteps = ({ uow }: MemoryFixture) => {
    const cursor = { table: 'draft', key: [7] };
    const seen: unknown[] = [];
    const step = async (from: unknown) => {
      seen.push(from);
      return from === null ? { count: 3, held: 1, next: cursor } : { count: 2, held: 1, next: null };
    };
    const personalData: PersonalDataRepository = {
      removeSome: (_realm, _person, from) => step(from),
      replaceSome: (_realm, _removal, from) => step(from),
      replaceInMessages: async () => 0,
    };
    const write: UnitOfWork['write'] = (realmId, work) => uow.write(realmId, (tx) => work({ ...tx, personalData }));
    return { cursor, seen, uow: { ...uow, write } };
  };

  it('counts rows and texts, and continues where the storage stopped', async () => {
    const { fixture, run, erasure } = await erasingAnn({});
    const { uow, seen, cursor } = inTwoSteps(fixture);
    expect(await run({ stage: 'rows', at: null }, { uow })).toMatchObject([{ payload: { stage: 'bots' } }]);
    expect(await run({ stage: 'texts', at: null }, { uow })).toMatchObject([
      { payload: { stage: 'held', heldTexts: 2 } },
    ]);
    expect(seen).toEqual([null, cursor, null, cursor]);
    expect(await erasure()).toMatchObject({ removedRows: 5, changedTexts: 5 });
  });

  it('goes on without its row, which a purge may have removed', async () => {
    const { fixture, run } = await erasingAnn({});
    const { uow } = inTwoSteps(fixture);
    const erasureId = 999 as ErasureId;
    expect(await run({ erasureId, stage: 'rows', at: null }, { uow })).toMatchObject([{ payload: { stage: 'bots' } }]);
    expect(await run({ erasureId, stage: 'held', at: null })).toEqual([]);
    expect(await run({ erasureId, stage: 'held', at: null, isWaiting: true })).toEqual([]);
  });

  it('continues an hour later if the job was given up', async () => {
    const { giveUp, first } = await erasingAnn({});
    expect(await giveUp(first)).toEqual([{ dueIn: HOUR, payload: first }]);
  });

  it('continues with the messages if their deletion was requested during the job', async () => {
    const { run, write, fixture, erasure } = await erasingAnn({});
    const ann = await fixture.uow.read(fixture.realm.id, ({ users }) =>
      users.get(fixture.realm.id, fixture.user('ann').id),
    );
    const request = { requestedAt: fixture.clock.now(), everythingWritten: true };
    await write((tx) => startErasure(tx, ann, request));
    expect(await run({ stage: 'held', at: null })).toMatchObject([
      { dueIn: 0, payload: { stage: 'messages', at: null, everythingWritten: true, former: { fullName: 'ann' } } },
    ]);
    expect(await erasure()).toMatchObject({ endedAt: null });
  });
});

describe('The stage of bots', () => {
  const bots = (count: number, isActive = true) =>
    Array.from({ length: count }, (_, n) => aUser({ name: `bot${n}`, botOf: 'ann', isActive }));

  it.each([true, false])('removes the identity of all bots (active: %s)', async (isActive) => {
    const count = MAX_BOTS_AT_ONCE + 1;
    const { fixture, runOneStep, run, read } = await erasingAnn({});
    await fixture.add(...bots(count, isActive));
    const of = () =>
      read(async ({ users }) =>
        (
          await users.list(
            fixture.realm.id,
            [...fixture.users.values()].map(({ id }) => id),
          )
        ).filter(({ bot }) => bot),
      );
    expect(await runOneStep({ stage: 'bots', at: null })).toMatchObject([{ payload: { stage: 'bots', at: null } }]);
    expect((await of()).filter((bot) => !isErased(bot))).toHaveLength(1);
    expect(await run({ stage: 'bots', at: null })).toMatchObject([{ payload: { stage: 'files' } }]);
    expect((await of()).every((bot) => isErased(bot) && !bot.isActive && bot.fullName === DELETED_USER_NAME)).toBe(
      true,
    );
    const deactivated = fixture.storage.announced.filter(({ event }) => event.type === 'user.activation_changed');
    // Ann was the first.
    expect(deactivated).toHaveLength(isActive ? count + 1 : 1);
  });

  it('takes one step for the greatest number of bots at once', async () => {
    const { fixture, runOneStep } = await erasingAnn({});
    await fixture.add(...bots(MAX_BOTS_AT_ONCE));
    expect(await runOneStep({ stage: 'bots', at: null })).toMatchObject([{ payload: { stage: 'files' } }]);
  });
});

describe('The stages of everything written', () => {
  it('delete messages and their copies, also beyond one step', async () => {
    const count = 26;
    const { fixture, finish, erasure, runOneStep } = await erasingAnn(
      { everythingWritten: true },
      ...many(count, fromAnn()),
      aMessage({ from: 'bob', to: 'town', content: 'stays' }),
    );
    expect(await runOneStep({ stage: 'messages', at: null })).toMatchObject([{ payload: { stage: 'messages' } }]);
    expect(await writtenBy(fixture)).toHaveLength(count - 5 + 1);
    const before = (await erasure()).removedRows;
    await finish();
    expect((await writtenBy(fixture)).map(({ content }) => content)).toEqual(['stays']);
    expect(fixture.storage.contents.archivedMessages?.size).toBe(0);
    expect((await erasure()).removedRows - before).toBeGreaterThanOrEqual(2 * count - 5);
  });

  it('find a copy after more copies of others than one step examines', async () => {
    const ofBob = many(30, aMessage({ from: 'bob', to: 'town' }));
    const { fixture, finish, write } = await erasingAnn({ everythingWritten: true }, ...ofBob, fromAnn());
    const { realm, messages } = fixture;
    const channel = fixture.channel('town');
    await write((tx) => deleteMessages(tx, { realmId: realm.id, deletedBy: null, deletedAt: 1, channel, messages }));
    await finish();
    const left = [...fixture.storage.contents.archivedMessages!.values()].map(({ message }) => message.senderId);
    expect(left).toEqual(Array(30).fill(fixture.user('bob').id));
  });

  it('keep the messages if they are not requested', async () => {
    const { fixture, finish } = await erasingAnn({}, fromAnn());
    await finish();
    expect(await writtenBy(fixture)).toHaveLength(1);
  });

  it('remove reactions, also those that the storage lists later', async () => {
    const { fixture, run, write, read } = await erasingAnn({ everythingWritten: true }, fromAnn());
    const { realm, messages } = fixture;
    const [message] = messages;
    const userId = fixture.user('ann').id;
    await write(async (tx) => {
      for (const code of ['1', '2', '3']) {
        await tx.reactions.add(realm.id, message!.id, { type: 'unicode', code, name: code, userId });
      }
    });
    const listOf = ({ reactions }: Repositories | Transaction) => reactions.listOfUser(realm.id, [message!.id], userId);
    const oneByOne: UnitOfWork['write'] = (realmId, work) =>
      fixture.uow.write(realmId, async (tx) => {
        const all = await listOf(tx);
        const next = all.length > 1 ? 1 : null;
        const listSomeOfUser = async () => ({ reactions: all.slice(0, 1), next });
        return work({ ...tx, reactions: Object.assign(Object.create(tx.reactions), { listSomeOfUser }) });
      });
    const uow = { ...fixture.uow, write: oneByOne };
    expect(await run({ stage: 'reactions', at: null, everythingWritten: true }, { uow })).toMatchObject([
      { payload: { stage: 'answers' } },
    ]);
    expect(await read(listOf)).toEqual([]);
  });

  it.each([1, ENTITIES_PER_PAGE, ENTITIES_PER_PAGE + 1])('remove %i answers to polls', async (count) => {
    const poll = aMessage({ from: 'bob', to: 'town' });
    const { fixture, run, write, read, erasure } = await erasingAnn({ everythingWritten: true }, poll);
    const { realm, messages } = fixture;
    const senderId = fixture.user('ann').id;
    const answer = { messageId: messages[0]!.id, senderId, kind: 'widget', content: '"vote"' };
    await write(async (tx) => {
      for (let n = 0; n < count; n++) await tx.messages.addSubmessage(realm.id, answer);
    });
    expect(await run({ stage: 'answers', at: null, everythingWritten: true })).toMatchObject([
      { payload: { stage: 'files' } },
    ]);
    expect(await read((reads) => reads.messages.listSubmessagesOf(realm.id, senderId, 0, 1))).toEqual([]);
    expect(await erasure()).toMatchObject({ removedRows: count });
  });
});

describe('The stage of files', () => {
  const FILES_PER_STEP = 50;
  const stage = 'files' as const;

  it('removes files without messages, emails to the person and reports', async () => {
    const { fixture, run, write, addFiles, listFiles, removeFiles, mailer, reports } = await erasingAnn({}, fromAnn());
    const [alone] = await addFiles(1, 'alone');
    const [attached] = await addFiles(1, 'attached');
    await write((tx) => tx.files.attach(fixture.realm.id, fixture.messages[0]!.id, [attached!]));
    expect(await run({ stage, at: null })).toMatchObject([{ payload: { stage: 'descriptions' } }]);
    expect(await listFiles()).toMatchObject([{ id: attached }]);
    expect(removeFiles.mock.calls.map(([, , ids]) => ids)).toEqual([[alone]]);
    expect(mailer.removeTo.mock.calls).toEqual([['ann@example.com']]);
    expect(reports.remove).toHaveBeenCalledTimes(1);
  });

  it('removes files beyond one step, and emails and reports only in the first one', async () => {
    const { run, runOneStep, addFiles, listFiles, mailer, reports } = await erasingAnn({});
    const ids = await addFiles(FILES_PER_STEP + 1);
    expect(await runOneStep({ stage, at: null })).toMatchObject([{ payload: { stage, at: ids[FILES_PER_STEP - 1] } }]);
    expect(await listFiles()).toHaveLength(1);
    expect(await run({ stage, at: ids[FILES_PER_STEP - 1]! })).toMatchObject([{ payload: { stage: 'descriptions' } }]);
    expect(await listFiles()).toEqual([]);
    expect(mailer.removeTo).toHaveBeenCalledTimes(1);
    expect(reports.remove).toHaveBeenCalledTimes(1);
  });

  it('looks for more after a full step', async () => {
    const { runOneStep, addFiles } = await erasingAnn({});
    const ids = await addFiles(FILES_PER_STEP);
    expect(await runOneStep({ stage, at: null })).toMatchObject([{ payload: { stage, at: ids.at(-1) } }]);
  });

  it('waits for reminders, which may quote deleted messages', async () => {
    const { run, write, fixture } = await erasingAnn({ everythingWritten: true });
    const { realm, clock } = fixture;
    await write((tx) =>
      tx.jobs.schedule(encodeJob(DELETED_MESSAGE_JOB, { realmId: realm.id, dueAt: clock.now(), payload: { id: 1 } })),
    );
    const written = { everythingWritten: true } as const;
    expect(await run({ stage, at: null, ...written })).toMatchObject([{ dueIn: 5, payload: { stage, at: null } }]);
    expect(await run({ stage: 'messages', at: null, ...written })).toMatchObject([{ payload: { stage: 'copies' } }]);
    expect(await run({ stage, at: null, everythingWritten: false })).toMatchObject([
      { payload: { stage: 'descriptions' } },
    ]);
  });
});

describe('The stage of descriptions', () => {
  const description = 'Ask @**ann**.';

  it('replaces mentions in the descriptions of channels once, and in profiles beyond one page', async () => {
    const crowd = Array.from({ length: ENTITIES_PER_PAGE }, (_, n) => aUser({ name: `user${n}` }));
    const { fixture, run, write, read, erasure } = await erasingAnn({}, ...crowd);
    const { realm, channel, user } = fixture;
    const { id: userId } = user(`user${ENTITIES_PER_PAGE - 1}`);
    const fieldId = 1 as never;
    await write(async (tx) => {
      await tx.channels.update({ ...channel('town'), description });
      await tx.profiles.putValue(realm.id, userId, { fieldId, value: description, rendered: null });
    });
    expect(await run({ stage: 'descriptions', at: null })).toMatchObject([{ payload: { stage: 'events' } }]);
    const replaced = `Ask @**${DELETED_USER_NAME}|${user('ann').id}**.`;
    expect(await read(({ channels }) => channels.find(realm.id, channel('town').id))).toMatchObject({
      description: replaced,
    });
    expect((await read(({ profiles }) => profiles.listValues(realm.id, [userId]))).get(userId)).toMatchObject([
      { value: replaced },
    ]);
    expect(await erasure()).toMatchObject({ changedTexts: 2 });
  });

  it('leaves the descriptions of channels to its first step', async () => {
    const { fixture, run, write, read } = await erasingAnn({});
    const { realm, channel } = fixture;
    await write((tx) => tx.channels.update({ ...channel('town'), description }));
    await run({ stage: 'descriptions', at: 1 });
    expect(await read(({ channels }) => channels.find(realm.id, channel('town').id))).toMatchObject({ description });
  });
});

describe('The stage of events', () => {
  const EVENTS_PER_STEP = 25;
  const stage = 'events' as const;

  it.each([
    [EVENTS_PER_STEP - 1, 'texts'],
    [EVENTS_PER_STEP, stage],
    [EVENTS_PER_STEP + 1, stage],
  ])('examines %i events of others in steps, without a change', async (count, next) => {
    const { fixture, write, rows, run, runOneStep, erasure } = await erasingAnn({});
    const at = (await rows()).at(-1)!.seq;
    const event = { type: 'user.credentials_changed', userId: fixture.user('bob').id } as const;
    await write(async (tx) => {
      for (let n = 0; n < count; n++) await tx.events.append(fixture.realm.id, { event, audience: nobody });
    });
    const before = await rows();
    expect(await runOneStep({ stage, at })).toMatchObject([{ payload: { stage: next } }]);
    expect(await run({ stage, at })).toMatchObject([{ payload: { stage: 'texts' } }]);
    expect(await rows()).toEqual(before);
    expect(await erasure()).toMatchObject({ changedTexts: 0 });
  });

  it('blanks events about the person beyond one step, and tells servers to read the log again', async () => {
    const { fixture, write, rows, run, erasure } = await erasingAnn({});
    const at = (await rows()).at(-1)!.seq;
    const userId = fixture.user('ann').id;
    const event = { type: 'user.external_id_assigned', userId, externalId: 'secret' } as const;
    await write(async (tx) => {
      for (let n = 0; n <= EVENTS_PER_STEP; n++) await tx.events.append(fixture.realm.id, { event, audience: nobody });
    });
    fixture.storage.announced.length = 0;
    await run({ stage, at });
    expect(JSON.stringify(await rows(at))).not.toContain('secret');
    const blanked = { event: { type: 'blanked', messageIds: [] }, audience: nobody };
    expect(fixture.storage.announced).toMatchObject([blanked, blanked]);
    expect(await erasure()).toMatchObject({ changedTexts: EVENTS_PER_STEP + 1 });
  });

  it.each([true, false])('removes answers only with everything written: %s', async (everythingWritten) => {
    const { fixture, write, rows, run } = await erasingAnn({ everythingWritten });
    const at = (await rows()).at(-1)!.seq;
    const [messageId] = [1 as never];
    await write(async (tx) => {
      for (const name of ['ann', 'bob']) {
        const submessage = { id: 1, messageId, senderId: fixture.user(name).id, kind: 'widget', content: `by ${name}` };
        await tx.events.append(fixture.realm.id, {
          event: { type: 'message.submessage_added', submessage },
          audience: nobody,
        });
      }
    });
    await run({ stage, at, everythingWritten });
    const left = JSON.stringify(await rows(at));
    expect(left).toContain('by bob');
    expect(left.includes('by ann')).toBe(!everythingWritten);
  });
});

describe('Held messages', () => {
  const stage = 'held' as const;

  it('are counted beyond one step, and keep the erasure open until a hold is released', async () => {
    const count = MAX_DELETED_AT_ONCE + 1;
    const { fixture, run, hold, erasure } = await erasingAnn({}, ...many(count, fromAnn()));
    await hold({ personId: fixture.user('ann').id });
    await hold({ personId: fixture.user('bob').id, releasedAt: 1 });
    expect(await run({ stage, at: null })).toMatchObject([{ dueIn: HOUR, payload: { stage, isWaiting: true } }]);
    expect(await erasure()).toMatchObject({ endedAt: null, heldTexts: count });
  });

  it('are not counted under a released hold', async () => {
    const { fixture, run, hold, erasure } = await erasingAnn({}, fromAnn());
    await hold({ personId: fixture.user('ann').id, releasedAt: 1 });
    expect(await run({ stage, at: null })).toEqual([]);
    expect(await erasure()).toMatchObject({ endedAt: fixture.clock.now(), heldTexts: 0 });
  });

  it('are added to those of earlier stages', async () => {
    const { run, erasure } = await erasingAnn({});
    expect(await run({ stage, at: null, heldTexts: 2 })).toMatchObject([{ dueIn: HOUR }]);
    expect(await erasure()).toMatchObject({ endedAt: null, heldTexts: 2 });
  });

  it.each<[string, { releasedAt: (now: number) => number | null; asked?: boolean; passedSince?: number }, object]>([
    ['wait if no hold was released', { releasedAt: () => null }, { dueIn: HOUR, payload: { isWaiting: true } }],
    [
      'are examined again after a release at the time of the request',
      { releasedAt: (now) => now },
      { dueIn: 0, payload: { stage: 'files', at: null } },
    ],
    [
      'wait after a release before the former pass',
      { releasedAt: (now) => now, passedSince: 1 },
      { dueIn: HOUR, payload: { isWaiting: true } },
    ],
    [
      'are examined again after a request for everything written',
      { releasedAt: () => null, asked: true },
      { dueIn: 0, payload: { stage: 'messages', at: null, everythingWritten: true } },
    ],
  ])('%s', async (_, { releasedAt, asked = false, passedSince }, expected) => {
    const { fixture, run, hold, write, erasure } = await erasingAnn({});
    const now = fixture.clock.now();
    await hold({ releasedAt: releasedAt(now) });
    const row = await erasure();
    await write((tx) => tx.erasures.update({ ...row, everythingWritten: asked }));
    const since = passedSince === undefined ? {} : { passedSince: now + passedSince };
    const jobs = await run({ stage, at: null, isWaiting: true, ...since });
    expect(jobs).toMatchObject([expected]);
    if (!('isWaiting' in jobs[0]!.payload)) expect(jobs[0]!.payload).toMatchObject({ passedSince: now });
  });
});
