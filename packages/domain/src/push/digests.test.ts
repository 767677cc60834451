import { aRealmWith, aUser, createFixture } from '@parley/testkit';
import type { MessageId, RecipientId, UserId } from '../kernel/ids.js';
import { JobRunner } from '../kernel/jobs.js';
import type { Realm } from '../realms/realm.js';
import type { User } from '../users/user.js';
import { hottestConversations, isDigestDay, PlanDigests, ScheduleDigests, wantsDigest } from './digests.js';

const DAY = 86_400;
/** Monday, January 5, 2026, 9:00 UTC. */
const MONDAY = 1_767_603_600;
const MONDAY_NUMBER = 20_458;

describe('isDigestDay', () => {
  it.each`
    case                                                | enabled  | weekday | day  | sentDay | daysLater | expected
    ${'is true on the chosen weekday'}                  | ${true}  | ${1}    | ${1} | ${null} | ${0}      | ${true}
    ${'is false if the organization wants no digests'}  | ${false} | ${1}    | ${1} | ${null} | ${0}      | ${false}
    ${'is false on another weekday'}                    | ${true}  | ${2}    | ${1} | ${null} | ${0}      | ${false}
    ${'counts weekdays from Monday'}                    | ${true}  | ${6}    | ${6} | ${null} | ${0}      | ${true}
    ${'is true a day late'}                             | ${true}  | ${1}    | ${1} | ${null} | ${1}      | ${true}
    ${'is false after a longer outage'}                 | ${true}  | ${1}    | ${1} | ${null} | ${2}      | ${false}
    ${'is true for further batches of the day'}         | ${true}  | ${1}    | ${1} | ${1}    | ${0}      | ${true}
    ${'is true a week after the last digests'}          | ${true}  | ${1}    | ${8} | ${1}    | ${0}      | ${true}
    ${'is false soon after digests of another weekday'} | ${true}  | ${4}    | ${4} | ${1}    | ${0}      | ${false}
  `('$case', ({ enabled, weekday, day, sentDay, daysLater, expected }) => {
    const realm = { settings: { digestEmailsEnabled: enabled, digestWeekday: weekday } } as Realm;
    const plan = {
      day: MONDAY_NUMBER + day,
      sentDay: sentDay === null ? null : MONDAY_NUMBER + sentDay,
    };
    expect(isDigestDay(realm, plan, MONDAY + (day + daysLater) * DAY)).toBe(expected);
  });
});

describe('wantsDigest', () => {
  const now = MONDAY;
  const daysAgo = (days: number) => ({ lastActive: now - days * DAY });
  let realm: Realm;
  let user: User;
  let bot: User;
  beforeAll(async () => {
    const fixture = await createFixture(aUser({ name: 'hamlet' }), aUser({ name: 'robot', botOf: 'hamlet' }));
    ({ realm } = fixture);
    user = fixture.user('hamlet');
    bot = fixture.user('robot');
  });
  const withSettings = (settings: Partial<User['settings']>): User => ({
    ...user,
    settings: { ...user.settings, ...settings },
  });

  it.each([
    [4, false],
    [5, false],
    [6, true],
    [300, true],
  ])('decides after %d days without activity: %s', (days, expected) => {
    expect(wantsDigest(realm, user, daysAgo(days), now)).toBe(expected);
  });

  it('includes users who joined long ago and were never active', () => {
    expect(wantsDigest(realm, user, null, now)).toBe(true);
    expect(wantsDigest(realm, user, { lastActive: null }, now)).toBe(true);
    expect(wantsDigest(realm, { ...user, joinedAt: now - 4 * DAY }, null, now)).toBe(false);
  });

  it('excludes bots, deactivated users and users who turned digests off', () => {
    expect(wantsDigest(realm, bot, null, now)).toBe(false);
    expect(wantsDigest(realm, { ...user, isActive: false }, null, now)).toBe(false);
    expect(wantsDigest(realm, withSettings({ enableDigestEmails: false }), null, now)).toBe(false);
  });

  it('excludes users with hidden activity', () => {
    expect(wantsDigest(realm, withSettings({ presenceEnabled: false }), daysAgo(9), now)).toBe(false);
    const silent = { settings: { ...realm.settings, presenceDisabled: true } };
    expect(wantsDigest(silent, user, daysAgo(9), now)).toBe(false);
  });
});

describe('hottestConversations', () => {
  let lastId = 0;
  const messages = (topic: string, ...senderIds: number[]) =>
    senderIds.map((senderId) => ({
      id: ++lastId as MessageId,
      senderId: senderId as UserId,
      recipientId: 7 as RecipientId,
      topic,
    }));
  const topics = (unread: ReturnType<typeof messages>) =>
    hottestConversations(unread).map(({ messages: [first] }) => first!.topic);

  it('starts with the two conversations with the most senders, followed by the longest others', () => {
    const unread = [
      ...messages('long', 1, 1, 1, 1, 1),
      ...messages('three people', 1, 2, 3),
      ...messages('two people', 1, 2),
      ...messages('longest', 1, 1, 1, 1, 1, 1),
      ...messages('short', 1),
    ];
    expect(topics(unread)).toEqual(['three people', 'two people', 'longest', 'long']);
  });

  it('merges spellings of a topic and separates channels', () => {
    const [elsewhere] = messages('Lunch', 3);
    const unread = [...messages('Lunch', 1), ...messages('lunch', 2), { ...elsewhere!, recipientId: 8 as RecipientId }];
    const found = hottestConversations(unread);
    expect(found.map(({ messages, senderCount }) => [messages.length, senderCount])).toEqual([
      [2, 2],
      [1, 1],
    ]);
    expect(hottestConversations([])).toEqual([]);
  });
});

describe('ScheduleDigests', () => {
  async function planned(sendsDigests: boolean) {
    const names = Array.from({ length: 450 }, (_, n) => `user${n}`);
    const settings = { digestEmailsEnabled: true, digestWeekday: 1 } as const;
    const fixture = await createFixture(aRealmWith({ settings }), ...names.map((name) => aUser({ name })));
    const { uow, clock, realm } = fixture;
    await new PlanDigests(uow, clock, { sendsDigests: true }).execute();
    clock.advance(DAY);
    const handler = new ScheduleDigests(uow, clock, { sendsDigests }, { find: async () => null });
    const runner = new JobRunner(handler, { uow, clock, report: fail });
    const next = await runner.run();
    const selection = { kind: 'push.digest', maxFormat: 1 };
    const due = await uow.readAcross(({ jobs }) => jobs.listDue(selection, clock.now(), 1000));
    const users = due.filter(({ realmId }) => realmId === realm.id).map(({ key }) => Number(key));
    return { next, users, fixture };
  }

  it('schedules each of many users once and plans the next day', async () => {
    const { next, users, fixture } = await planned(true);
    expect(new Set(users).size).toBe(450);
    expect(users).toHaveLength(450);
    expect(next).toBe(fixture.clock.now() + DAY);
  });

  it('ends if the operator turned emails off', async () => {
    expect(await planned(false)).toMatchObject({ next: null, users: [] });
  });
});

function fail(problem: string, { err }: Readonly<Record<string, unknown>>): never {
  throw new Error(problem, { cause: err });
}
