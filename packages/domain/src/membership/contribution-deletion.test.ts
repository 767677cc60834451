import { aChannel, aMessage, aUser, createFixture, type MemoryFixture } from '@parley/testkit';
import { type EncodedJob, type Job, JobRunner } from '../kernel/jobs.js';
import {
  DELETE_MESSAGES_JOB,
  DeleteContributions,
  MESSAGE_SCOPES,
  type MessageScope,
  planMessageDeletion,
} from './contribution-deletion.js';

/** Messages by index: 0 and 1 in public channels, 2 and 3 in private ones, 4 direct, all by the leaver; 5 by another user. */
const scene = () =>
  createFixture(
    aUser({ name: 'leaver' }),
    aUser({ name: 'other' }),
    aUser({ name: 'admin', role: 'administrator' }),
    aChannel({ name: 'public', subscribers: ['leaver', 'other'] }),
    aChannel({ name: 'web', privacy: 'webPublic', subscribers: ['leaver', 'other'] }),
    aChannel({ name: 'shared', privacy: 'privateSharedHistory', subscribers: ['leaver', 'other'] }),
    aChannel({ name: 'protected', privacy: 'privateProtectedHistory', subscribers: ['leaver', 'other'] }),
    aMessage({ from: 'leaver', to: 'public' }),
    aMessage({ from: 'leaver', to: 'web' }),
    aMessage({ from: 'leaver', to: 'shared' }),
    aMessage({ from: 'leaver', to: 'protected' }),
    aMessage({ from: 'leaver', to: ['other'] }),
    aMessage({ from: 'other', to: 'public' }),
  );

/** Runs the job once and returns the remaining messages by index. */
async function run(fixture: MemoryFixture, places: readonly MessageScope[], upTo: number | null = null) {
  const { uow, realm, user, clock, messages } = fixture;
  const payload = { userId: user('leaver').id, byId: user('admin').id, places, upTo };
  const work = await new DeleteContributions(clock).prepare({ realmId: realm.id, payload } as Job<typeof payload>);
  await uow.write(realm.id, (tx) => (work as (part: typeof tx) => Promise<void>)(tx));
  const ids = messages.map(({ id }) => id);
  const left = await uow.read(realm.id, (r) => r.messages.list(realm.id, ids));
  return left.map(({ id }) => ids.indexOf(id));
}

describe('DeleteContributions', () => {
  it.each<[MessageScope[], number[]]>([
    [['publicChannels'], [2, 3, 4, 5, 6, 7]],
    [['privateChannels'], [0, 1, 4, 5, 6, 7]],
    [['direct'], [0, 1, 2, 3, 5, 6, 7]],
    [
      ['publicChannels', 'privateChannels', 'direct'],
      [5, 6, 7],
    ],
    [[], [0, 1, 2, 3, 4, 5, 6, 7]],
  ])('deletes only messages of the user in %j', async (places, left) => {
    const fixture = await scene();
    await fixture.add(aMessage({ from: 'other', to: 'shared' }), aMessage({ from: 'other', to: ['leaver'] }));
    expect(await run(fixture, places)).toEqual(left);
  });

  it('keeps messages that a reactivated user sends before the job runs', async () => {
    const fixture = await scene();
    const { uow, realm, user, clock } = fixture;
    const deletion = { userId: user('leaver').id, byId: user('admin').id, places: MESSAGE_SCOPES };
    await uow.write(realm.id, (tx) => planMessageDeletion(tx, realm.id, deletion, clock.now()));
    await fixture.add(aMessage({ from: 'leaver', to: 'public' }), aMessage({ from: 'leaver', to: ['other'] }));
    await new JobRunner(new DeleteContributions(clock), { uow, clock, report: () => {} }).run();
    const ids = fixture.messages.map(({ id }) => id);
    const left = await uow.read(realm.id, (r) => r.messages.list(realm.id, ids));
    expect(left.map(({ id }) => ids.indexOf(id))).toEqual([5, 6, 7]);
  });

  it('is not scheduled for a user without messages', async () => {
    const { uow, realm, user, clock } = await scene();
    const deletion = { userId: user('admin').id, byId: user('admin').id, places: MESSAGE_SCOPES };
    await uow.write(realm.id, (tx) => planMessageDeletion(tx, realm.id, deletion, clock.now()));
    const selection = { kind: DELETE_MESSAGES_JOB.name, maxFormat: 1 };
    expect(await uow.readAcross(({ jobs }) => jobs.nextDueAt(selection))).toBeNull();
  });

  it('publishes one event per channel and direct message on behalf of the administrator', async () => {
    const fixture = await scene();
    await fixture.add(aMessage({ from: 'leaver', to: 'public' }), aMessage({ from: 'leaver', to: ['other'] }));
    await run(fixture, ['publicChannels', 'direct']);
    const deleted = fixture.storage.announced.filter(({ event }) => event.type === 'message.deleted');
    const [inPublic, inWeb, , , direct, , again, directAgain] = fixture.messages.map(({ id }) => id);
    expect(
      deleted.map(({ event }) => event).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
    ).toMatchObject(
      [
        { channelId: fixture.channel('public').id, messageIds: [inPublic, again] },
        { channelId: fixture.channel('web').id, messageIds: [inWeb] },
        { channelId: null, messageIds: [direct] },
        { channelId: null, messageIds: [directAgain] },
      ].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
    );
    expect(JSON.stringify(deleted[0]!.audience)).toContain(`"ids":[${fixture.user('admin').id}]`);
  });

  it('deletes the newest 100 messages and schedules the rest', async () => {
    const fixture = await scene();
    const many = Array.from({ length: 100 }, () => aMessage({ from: 'leaver', to: 'public' }));
    await fixture.add(...many);
    const jobs: EncodedJob[] = [];
    const { uow, realm, user, clock } = fixture;
    const payload = {
      userId: user('leaver').id,
      byId: user('admin').id,
      places: ['publicChannels', 'direct'] as const,
      upTo: null,
    };
    const work = await new DeleteContributions(clock).prepare({ realmId: realm.id, payload } as Job<typeof payload>);
    await uow.write(realm.id, (tx) =>
      (work as (part: typeof tx) => Promise<void>)({
        ...tx,
        jobs: Object.assign(Object.create(tx.jobs), { schedule: async (job: EncodedJob) => void jobs.push(job) }),
      }),
    );
    expect(jobs).toMatchObject([{ realmId: realm.id, dueAt: clock.now() }]);
    const left = await uow.read(realm.id, (r) =>
      r.messages.listOldestIds(realm.id, fixture.channel('public').recipientId, 9),
    );
    expect(left).toEqual([fixture.messages[0]!.id, fixture.messages[5]!.id]);
    expect(await uow.read(realm.id, (r) => r.messages.find(realm.id, fixture.messages[4]!.id))).not.toBeNull();
    expect(JSON.parse(jobs[0]!.payload)).toEqual({ ...payload, upTo: fixture.messages[6]!.id - 1 });
  });

  it('schedules nothing after the last messages', async () => {
    const fixture = await scene();
    const { uow, realm, user, clock } = fixture;
    const payload = { userId: user('leaver').id, byId: user('admin').id, places: ['direct'] as const, upTo: null };
    const work = await new DeleteContributions(clock).prepare({ realmId: realm.id, payload } as Job<typeof payload>);
    const schedule = jest.fn();
    await uow.write(realm.id, (tx) =>
      (work as (part: typeof tx) => Promise<void>)({
        ...tx,
        jobs: Object.assign(Object.create(tx.jobs), { schedule }),
      }),
    );
    expect(schedule).not.toHaveBeenCalled();
  });

  it('deletes only messages up to the given id', async () => {
    const fixture = await scene();
    expect(await run(fixture, ['publicChannels'], fixture.messages[0]!.id)).toEqual([1, 2, 3, 4, 5]);
  });
});

describe('payload of the job', () => {
  const readPayload = (stored: unknown) => DELETE_MESSAGES_JOB.readPayload(stored, 1);
  const valid = { userId: 1, byId: 2, places: ['direct'] };

  it('has no upper id at first', () => {
    expect(readPayload(valid)).toEqual({ ...valid, upTo: null });
  });

  it('accepts each scope', () => {
    const places = ['publicChannels', 'privateChannels', 'direct'];
    expect(readPayload({ ...valid, places })).toMatchObject({ places });
  });

  it.each([{ userId: 'x' }, { byId: 'x' }, { places: ['elsewhere'] }, { places: undefined }])('rejects %j', (wrong) => {
    expect(() => readPayload({ ...valid, ...wrong })).toThrow(TypeError);
  });
});
