import { aChannel, aMessage, aUser, createFixture, expectRefused, type MemoryFixture } from '@parley/testkit';
import type { ChannelId, HoldId, MessageId, UserId } from '../kernel/ids.js';
import type { SpecialPermission } from '../users/user.js';
import { DeleteMessage } from './deletion.use-cases.js';
import { covers, extendHolds, type HoldCriteria, type HoldFacts, MAX_ACTIVE_HOLDS, MAX_HOLDS } from './holds.js';
import { CreateHold, ListHolds, ReleaseHold } from './holds.use-cases.js';

const ANY: HoldCriteria = { personId: null, channelId: null, messageId: null, since: null, until: null };
const FACTS: HoldFacts = {
  id: 5 as MessageId,
  senderId: 2 as UserId,
  sentAt: 100,
  channelIds: [7 as ChannelId, 8 as ChannelId],
  participantIds: [],
};
const DIRECT: HoldFacts = { ...FACTS, channelIds: [], participantIds: [2 as UserId, 3 as UserId] };

describe('covers', () => {
  it.each<[expected: boolean, criteria: object, facts: HoldFacts]>([
    [true, { messageId: 5 }, FACTS],
    [false, { messageId: 6 }, FACTS],
    [true, { personId: 2 }, FACTS],
    [false, { personId: 3 }, FACTS],
    [true, { personId: 3 }, DIRECT],
    [false, { personId: 4 }, DIRECT],
    [true, { channelId: 8 }, FACTS],
    [false, { channelId: 9 }, FACTS],
    [false, { channelId: 7 }, DIRECT],
    [true, { since: 100 }, FACTS],
    [false, { since: 101 }, FACTS],
    [true, { until: 100 }, FACTS],
    [false, { until: 99 }, FACTS],
    [true, { personId: 2, channelId: 7, since: 100, until: 100 }, FACTS],
    [false, { personId: 2, channelId: 9 }, FACTS],
  ])('is %s for %j', (expected, criteria, facts) => {
    expect(covers({ ...ANY, ...criteria }, facts)).toBe(expected);
  });
});

describe('holds', () => {
  const granted = ['canHoldMessages'] as const satisfies readonly SpecialPermission[];
  const world = () =>
    createFixture(
      aUser({ name: 'owner', role: 'owner', specialPermissions: granted }),
      aUser({ name: 'plain', role: 'owner' }),
      aUser({ name: 'admin', role: 'administrator', specialPermissions: granted }),
      aUser({ name: 'ann' }),
      aChannel({ name: 'town', subscribers: ['ann'] }),
      aMessage({ from: 'ann', to: 'town' }),
    );
  const create = (fixture: MemoryFixture, by: string | null, input: Partial<HoldCriteria & { reason: string }>) =>
    new CreateHold(fixture.uow, fixture.clock).execute(
      { realmId: fixture.realm.id, userId: by === null ? null : fixture.user(by).id },
      { ...ANY, reason: 'case', ...input },
    );

  it('are created, listed and released by an owner with the permission, and by the operator', async () => {
    const fixture = await world();
    const by = fixture.viewer('owner');
    const person = { personId: fixture.user('ann').id };
    const hold = await create(fixture, 'owner', { ...person, reason: ' case 1 ' });
    expect(hold).toMatchObject({ ...person, reason: 'case 1', createdBy: by.userId, releasedAt: null });
    const other = await create(fixture, null, { channelId: fixture.channel('town').id });
    const release = new ReleaseHold(fixture.uow, fixture.clock);
    await release.execute(by, { holdId: hold.id });
    expect(await new ListHolds(fixture.uow).execute(by)).toEqual([
      { ...hold, releasedAt: fixture.clock.now(), releasedBy: by.userId },
      other,
    ]);
    await expectRefused(fixture, () => release.execute(by, { holdId: hold.id }), { code: 'HOLD_RELEASED' });
    await expectRefused(fixture, () => release.execute(by, { holdId: 99 as HoldId }), { code: 'UNKNOWN_HOLD' });
  });

  it.each([
    ['plain', 'SPECIAL_PERMISSION_REQUIRED'],
    ['admin', 'MUST_BE_OWNER'],
    ['ann', 'MUST_BE_OWNER'],
  ])('are refused to %s as %s', async (name, code) => {
    const fixture = await world();
    await expectRefused(fixture, () => create(fixture, name, { messageId: fixture.messages[0]!.id }), { code });
    await expectRefused(fixture, () => new ListHolds(fixture.uow).execute(fixture.viewer(name)), { code });
    const { id: holdId } = await create(fixture, null, { messageId: fixture.messages[0]!.id });
    const release = new ReleaseHold(fixture.uow, fixture.clock);
    await expectRefused(fixture, () => release.execute(fixture.viewer(name), { holdId }), { code });
  });

  it.each<[string, string, object]>([
    ['INVALID_HOLD', 'no criteria', {}],
    ['INVALID_HOLD', 'a blank reason', { since: 1, reason: ' ' }],
    ['INVALID_HOLD', 'a long reason', { since: 1, reason: 'x'.repeat(1001) }],
    ['INVALID_HOLD', 'an end before the beginning', { since: 2, until: 1 }],
    ['UNKNOWN_USER', 'an unknown person', { personId: 999 }],
    ['UNKNOWN_CHANNEL', 'an unknown channel', { channelId: 999 }],
    ['UNKNOWN_MESSAGE', 'an unknown message', { messageId: 999 }],
  ])('are refused as %s with %s', async (code, _, input) => {
    const fixture = await world();
    await expectRefused(fixture, () => create(fixture, null, input), { code });
    expect(await new ListHolds(fixture.uow).execute(fixture.viewer('owner'))).toEqual([]);
  });

  it('cover a message that was deleted before', async () => {
    const fixture = await world();
    const messageId = fixture.messages[0]!.id;
    await new DeleteMessage(fixture.uow, fixture.clock).execute(fixture.caller('plain'), { messageId });
    expect(await create(fixture, 'owner', { messageId })).toMatchObject({ messageId, releasedAt: null });
  });

  it.each([[{ since: 1, until: 1 }], [{ since: 1 }], [{ until: 1 }]])('may cover the time %j', async (time) => {
    expect(await create(await world(), null, time)).toMatchObject(time);
  });

  it('have a maximum with released ones', async () => {
    const fixture = await world();
    const { id: _, ...released } = { ...(await create(fixture, null, { since: 1 })), releasedAt: 1 };
    await fixture.uow.write(fixture.realm.id, async (tx) => {
      for (let n = 0; n < MAX_HOLDS - 2; n++) await tx.holds.add(released);
    });
    await create(fixture, null, { since: 1 });
    await expectRefused(fixture, () => create(fixture, null, { since: 1 }), { code: 'TOO_MANY_HOLDS' });
  });

  it('have a maximum in force', async () => {
    const fixture = await world();
    for (let n = 0; n < MAX_ACTIVE_HOLDS; n++) await create(fixture, null, { since: n });
    await expectRefused(fixture, () => create(fixture, null, { since: 1 }), { code: 'TOO_MANY_HOLDS' });
    const [first] = await new ListHolds(fixture.uow).execute(fixture.viewer('owner'));
    await new ReleaseHold(fixture.uow, fixture.clock).execute(fixture.viewer('owner'), { holdId: first!.id });
    await create(fixture, null, { since: 1 });
  });
});

describe('extension of holds to another account', () => {
  const extended = async (hold: Partial<HoldCriteria>, time?: Pick<HoldCriteria, 'since' | 'until'>) => {
    const fixture = await createFixture(aUser({ name: 'ann' }), aUser({ name: 'bob' }), aUser({ name: 'zoe' }));
    const { uow, realm, clock, user } = fixture;
    const by = { realmId: realm.id, userId: null };
    const create = new CreateHold(uow, clock);
    const released = await create.execute(by, { ...ANY, personId: user('ann').id, reason: 'over' });
    await new ReleaseHold(uow, clock).execute(by, { holdId: released.id });
    await create.execute(by, { ...ANY, personId: user('zoe').id, reason: 'another' });
    await create.execute(by, { ...ANY, personId: user('ann').id, reason: 'case', ...hold });
    const before = await new ListHolds(uow).execute(by);
    const extend = () =>
      uow.write(realm.id, (tx) => extendHolds(tx, realm.id, { from: user('ann').id, to: user('bob').id }, time));
    await extend();
    await extend();
    const added = (await new ListHolds(uow).execute(by)).slice(before.length);
    expect(added.every(({ personId, reason }) => personId === user('bob').id && reason === 'case')).toBe(true);
    return added.map(({ since, until }) => [since, until]);
  };

  it.each<[Partial<HoldCriteria>, Pick<HoldCriteria, 'since' | 'until'> | undefined, (number | null)[][]]>([
    [{}, undefined, [[null, null]]],
    [{}, { since: 5, until: 9 }, [[5, 9]]],
    [{ since: 3, until: 20 }, { since: 5, until: 9 }, [[5, 9]]],
    [{ since: 6, until: 8 }, { since: 5, until: 9 }, [[6, 8]]],
    [{ since: 6, until: 8 }, { since: null, until: null }, [[6, 8]]],
    [{ since: 9 }, { since: null, until: 9 }, [[9, 9]]],
    [{ since: 10 }, { since: 5, until: 9 }, []],
    [{ until: 4 }, { since: 5, until: 9 }, []],
    [{ until: 4 }, { since: null, until: 9 }, [[null, 4]]],
    [{ since: 6 }, { since: null, until: null }, [[6, null]]],
  ])('adds a hold in force of %j for messages in %j once', async (hold, time, expected) => {
    expect(await extended(hold, time)).toEqual(expected);
  });
});
