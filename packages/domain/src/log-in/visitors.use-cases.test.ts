import {
  aChannel,
  aMessage,
  aRealmWith,
  aUser,
  createFixture,
  expectRefused,
  FakeApiKeyMint,
  type MemoryFixture,
  SeededRandomness,
} from '@parley/testkit';
import { isVisitor } from '../access/roles.js';
import type { BlobKey } from '../files/blobs.js';
import type { FileImage } from '../files/files.js';
import { MAKE_THUMBNAILS } from '../files/thumbnails.js';
import { nobody, users } from '../kernel/event.js';
import type { JobId, RealmId, RecipientId, UserId } from '../kernel/ids.js';
import type { TicketTokens } from '../kernel/ports.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { erasedEmail, isErased } from '../membership/erased-person.js';
import { otherAccountsOf } from '../membership/merged-accounts.js';
import { externalIdKey } from '../membership/placeholders.js';
import { NEW_DEVICE } from '../push/push.js';
import type { User } from '../users/user.js';
import { accessorsOf } from '../users/user-delivery.js';
import { END_VISIT_JOB, visitorExternalId } from './visitors.js';
import {
  EndVisit,
  FindVisitor,
  InheritFromVisitor,
  KeepVisitorAccount,
  StartVisit,
  VisitorTickets,
} from './visitors.use-cases.js';

const NOW = 1_000_000;
const DAY = 86_400;

let fixture: MemoryFixture;
let visitorId: UserId;
let token: string;

beforeEach(async () => {
  fixture = await createFixture(
    aUser({ name: 'sam' }),
    aUser({ name: 'visitor', role: 'guest', email: 'visitor@users.parley.invalid' }),
    aUser({ name: 'ann', role: 'guest' }),
    aUser({ name: 'bob', isActive: false, email: 'bob@parley.invalid' }),
    aChannel({ name: 'question', privacy: 'privateProtectedHistory', subscribers: ['sam', 'visitor'] }),
    aMessage({ from: 'visitor', to: 'question', content: 'Hello?' }),
    aMessage({ from: 'sam', to: 'question', content: 'Hello.' }),
  );
  visitorId = fixture.user('visitor').id;
  token = `${fixture.realm.id} ${visitorId} ${fixture.clock.now() + DAY}`;
  await fixture.uow.write(fixture.realm.id, (tx) =>
    tx.externalIds.assign(fixture.realm.id, visitorId, visitorExternalId('1')),
  );
});

/** Readable tokens without a signature. */
const tokens: TicketTokens = {
  sign: ({ realmId, id, expiresAt }) => `${realmId} ${id} ${expiresAt}`,
  find: async (text, load) => {
    const [realmId, id = 0, expiresAt] = text.split(' ').map(Number);
    return expiresAt === undefined ? null : load({ realmId: realmId as RealmId, id, expiresAt });
  },
};
const tickets = () => new VisitorTickets(tokens, fixture.clock);
const find = (of = token) => new FindVisitor(fixture.uow, tickets()).execute({ realmId: fixture.realm.id, token: of });
const keep = (externalId = 'ann') =>
  new KeepVisitorAccount(fixture.uow, tickets(), new FakeApiKeyMint(), fixture.clock).execute({
    realmId: fixture.realm.id,
    token,
    externalId,
  });
const inherit = (from = visitorId) =>
  new InheritFromVisitor(fixture.uow, fixture.clock).execute({
    realmId: fixture.realm.id,
    visitorId: from,
    userId: fixture.user('ann').id,
  });
const userOf = (id: UserId) => fixture.uow.read(fixture.realm.id, ({ users }) => users.get(fixture.realm.id, id));
const write = <T>(change: (tx: Transaction) => Promise<T>) => fixture.uow.write(fixture.realm.id, change);
const changeUser = (id: UserId, change: Partial<User>) =>
  write(async (tx) => tx.users.update({ ...(await tx.users.get(fixture.realm.id, id)), ...change }));
const dueJobs = (kind: string) =>
  fixture.uow.read(fixture.realm.id, ({ jobs }) => jobs.listDue({ kind, maxFormat: 9 }, fixture.clock.now(), 10));
const announced = (type: string) => fixture.storage.announced.filter(({ event }) => event.type === type);
const messagesOf = (name: string) =>
  fixture.uow.read(fixture.realm.id, async ({ pages }) => {
    const entries = await pages.listEntriesUpTo(fixture.viewer(name), { conditions: [], scope: 'own' }, null, 10);
    return entries.map(({ senderId, flags }) => [senderId === fixture.user(name).id ? 'own' : 'of others', flags.read]);
  });

describe('StartVisit', () => {
  const start = (take = (..._: unknown[]) => {}) =>
    new StartVisit(fixture.uow, new FakeApiKeyMint(), fixture.clock, new SeededRandomness(), tokens, { take }).execute({
      realmId: fixture.realm.id,
      fullName: 'Zoe Visitor',
      source: '10.0.0.1',
      days: 2,
    });

  it('adds a guest who is found by the token, and erased after the given days', async () => {
    const { user, token: given, expiresAt } = await start();
    expect(user).toMatchObject({ fullName: 'Zoe Visitor', role: 'guest' });
    expect(expiresAt).toBe(fixture.clock.now() + 2 * DAY);
    expect(await find(given)).toMatchObject({ id: user.id });
    fixture.clock.advance(2 * DAY - 1);
    expect(await dueJobs(END_VISIT_JOB.name)).toEqual([]);
    fixture.clock.advance(1);
    expect(await dueJobs(END_VISIT_JOB.name)).toMatchObject([{ payload: JSON.stringify({ userId: user.id }) }]);
  });

  it('counts against the quota of the organization and the address', async () => {
    const take = jest.fn();
    await start(take);
    expect(take.mock.calls).toEqual([[fixture.realm.id, '10.0.0.1']]);
  });
});

describe('EndVisit', () => {
  const end = async (userId: UserId) => {
    const job = { id: 1 as JobId, realmId: fixture.realm.id, dueAt: 0, payload: { userId }, attempt: 1 };
    await write(await new EndVisit(fixture.clock).prepare(job));
  };

  it('erases the visitor and keeps the messages', async () => {
    await end(visitorId);
    expect(isErased(await userOf(visitorId))).toBe(true);
    expect(await fixture.uow.read(fixture.realm.id, ({ erasures }) => erasures.list(fixture.realm.id))).toMatchObject([
      { personId: visitorId, requestedAt: fixture.clock.now(), everythingWritten: false },
    ]);
  });

  it('leaves somebody who is not a visitor, and an unknown id, alone', async () => {
    const { id } = fixture.user('ann');
    await end(id);
    expect(isErased(await userOf(id))).toBe(false);
    await end(99_999 as UserId);
    expect(fixture.storage.announced).toEqual([]);
  });
});

describe('FindVisitor', () => {
  it('finds the visitor of a valid token', async () => {
    expect(await find()).toMatchObject({ id: visitorId });
    expect(await find(`${fixture.realm.id + 1} ${visitorId} ${NOW * 10_000}`)).toBeNull();
    expect(await find('nothing')).toBeNull();
    expect(await find(`${fixture.realm.id} ${fixture.user('ann').id} ${fixture.clock.now() + DAY}`)).toBeNull();
    fixture.clock.advance(DAY);
    expect(await find()).toBeNull();
  });
});

describe('KeepVisitorAccount', () => {
  it('makes the account the one of a customer without an account', async () => {
    expect(await keep()).toMatchObject({ id: visitorId, externalId: 'ann' });
    expect(await find()).toBeNull();
    expect(await keep('bob')).toMatchObject({ externalId: 'ann' });
  });

  it('publishes the new external id to those who see the user, and the end of the former one to servers', async () => {
    await keep();
    const assigned = announced('user.external_id_assigned').at(-1);
    expect(assigned).toMatchObject({
      event: { userId: visitorId, externalId: 'ann' },
      audience: accessorsOf(visitorId),
    });
    const [ended] = announced('user.credentials_changed');
    expect(ended).toMatchObject({ event: { userId: visitorId }, audience: nobody });
  });

  it('leaves a deactivated visitor alone', async () => {
    await changeUser(visitorId, { isActive: false });
    expect(isVisitor(await keep())).toBe(true);
  });

  it('rejects the token of an erased visitor', async () => {
    await changeUser(visitorId, { isDeleted: true, email: erasedEmail(visitorId) });
    await expectRefused(fixture, () => keep(), { code: 'UNKNOWN_VISITOR' });
  });

  it('ends what acts for the visitor or is notified, since the customer may be another person', async () => {
    const { id: realmId } = fixture.realm;
    await fixture.uow.write(realmId, async (tx) => {
      await tx.devices.add({ realmId, userId: visitorId, ...NEW_DEVICE });
      await tx.pushTokens.add(realmId, visitorId, { kind: 'fcm', token: 'phone', iosAppId: null });
      const browser = { endpoint: 'https://push.example.com/1', publicKey: 'k', authSecret: 's' };
      await tx.webPush.put({ realmId, userId: visitorId, sessionId: null, ...browser });
    });
    await keep();
    const left = await fixture.uow.read(realmId, async (reads) => [
      await reads.devices.list(realmId, visitorId),
      await reads.pushTokens.list(realmId, visitorId),
      await reads.webPush.list(realmId, [visitorId]),
    ]);
    expect(left).toEqual([[], [], []]);
  });

  it('leaves a visitor alone who has an email address, with which they may log in', async () => {
    await changeUser(visitorId, { email: 'mallory@example.com' });
    expect(isVisitor(await keep())).toBe(true);
  });

  it('leaves the visitor alone if the customer has an account, or an imported one', async () => {
    const { id: realmId } = fixture.realm;
    await fixture.uow.write(realmId, (tx) => tx.externalIds.assign(realmId, fixture.user('ann').id, 'ann'));
    await fixture.uow.write(realmId, (tx) =>
      tx.placeholderKeys.add({ realmId, placeholderId: fixture.user('bob').id, key: externalIdKey('host', 'bob') }),
    );
    for (const externalId of ['ann', 'bob']) expect(isVisitor(await keep(externalId))).toBe(true);
  });

  it('rejects an expired token, a blank id and the id of another visitor', async () => {
    for (const externalId of [' ', visitorExternalId('2')]) {
      await expectRefused(fixture, () => keep(externalId), { code: 'INVALID_EXTERNAL_ID' });
    }
    fixture.clock.advance(DAY);
    await expectRefused(fixture, () => keep(), { code: 'UNKNOWN_VISITOR' });
  });
});

describe('InheritFromVisitor', () => {
  it('gives the channel and its messages to the customer, unread as they are, and ends the visit', async () => {
    await inherit();
    expect(await messagesOf('ann')).toEqual([
      ['own', true],
      ['of others', false],
    ]);
    const visitor = await userOf(visitorId);
    expect(visitor).toMatchObject({ isActive: false, fullName: fixture.user('ann').fullName });
    expect(isVisitor(visitor)).toBe(false);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['the visitor is deactivated', () => changeUser(visitorId, { isActive: false })],
    ['the customer is deactivated', () => changeUser(fixture.user('ann').id, { isActive: false })],
    ['the visitor became a member', () => changeUser(visitorId, { role: 'member' })],
  ])('changes nothing if %s', async (_, change) => {
    await change();
    const { version } = await userOf(visitorId);
    await inherit();
    expect(await userOf(visitorId)).toMatchObject({ version });
    expect(await messagesOf('ann')).toEqual([]);
  });

  it('keeps the name of the visitor where names are unique', async () => {
    await fixture.add(aRealmWith({ settings: { requireUniqueNames: true } }));
    await inherit();
    expect(await userOf(visitorId)).toMatchObject({ isActive: false, fullName: 'visitor' });
  });

  it('gives no archived channel', async () => {
    await fixture.add(aChannel({ name: 'old', subscribers: ['visitor'], isArchived: true }));
    await inherit();
    const { realm, channel } = fixture;
    expect(
      await fixture.uow.read(realm.id, ({ channels }) => channels.listSubscribedIds(realm.id, fixture.user('ann').id)),
    ).toEqual([channel('question').id]);
  });

  it('extends holds on the visitor to the customer, and links the accounts for a later erasure', async () => {
    const { realm, clock } = fixture;
    const hold = { personId: visitorId, channelId: null, messageId: null, since: null, until: null, reason: 'case' };
    const active = { createdAt: clock.now(), createdBy: null, releasedAt: null, releasedBy: null };
    await write((tx) => tx.holds.add({ realmId: realm.id, ...hold, ...active }));
    await inherit();
    const { id } = fixture.user('ann');
    const held = await fixture.uow.read(realm.id, ({ holds }) => holds.list(realm.id));
    expect(held.map(({ personId }) => personId)).toEqual([visitorId, id]);
    const ann = await userOf(id);
    expect(await fixture.uow.read(realm.id, (reads) => otherAccountsOf(reads, ann))).toMatchObject([{ id: visitorId }]);
  });

  describe('files of a visit', () => {
    const addFile = (name: string, thumbnail: FileImage['thumbnail'] | null = null) =>
      write((tx) =>
        tx.files.add({
          ...{ realmId: fixture.realm.id, ownerId: visitorId, name, pathId: `2/ab/c/${name}`, size: 5, createdAt: 0 },
          ...{ blob: '0'.repeat(32) as BlobKey, contentType: 'image/png' },
          image: thumbnail && { width: 1, height: 1, isAnimated: false, thumbnail },
        }),
      );

    it('makes the customer the owner, to whom the files are published', async () => {
      await addFile('a.txt');
      await inherit();
      const { realm } = fixture;
      const { id } = fixture.user('ann');
      const owned = await fixture.uow.read(realm.id, ({ files }) => files.list(realm.id, id, 0, 10));
      expect(owned).toMatchObject([{ name: 'a.txt' }]);
      expect(announced('file.added')).toMatchObject([
        { event: { file: { name: 'a.txt' }, usedBytes: 5 }, audience: users([id]) },
      ]);
    });

    it('gives the customer the oldest 200 files', async () => {
      for (let n = 0; n <= 200; n++) await addFile(`${n}.txt`);
      await inherit();
      const { realm, user } = fixture;
      const ownedBy = (id: UserId) => fixture.uow.read(realm.id, ({ files }) => files.list(realm.id, id, 0, 1000));
      expect(await ownedBy(user('ann').id)).toHaveLength(200);
      expect(await ownedBy(visitorId)).toMatchObject([{ name: '200.txt' }]);
    });

    it('makes pending thumbnails for the new owner', async () => {
      const { id: fileId } = await addFile('a.png', 'pending');
      await inherit();
      expect(await dueJobs(MAKE_THUMBNAILS.name)).toMatchObject([
        { payload: JSON.stringify({ fileId, ownerId: fixture.user('ann').id }) },
      ]);
    });

    it.each(['ready', 'failed', null] as const)('makes no thumbnails in the state %s', async (state) => {
      await addFile('a.png', state);
      await inherit();
      expect(await dueJobs(MAKE_THUMBNAILS.name)).toEqual([]);
    });
  });

  it('moves direct messages to the conversations of the customer, unread as they are', async () => {
    const { realm } = fixture;
    const [theirs, ours, alone] = await fixture.uow.write(realm.id, async (tx) => {
      for (const content of ['From the visitor', 'To the visitor']) {
        const [from, to] = content.startsWith('From') ? (['visitor', 'sam'] as const) : (['sam', 'visitor'] as const);
        await aMessage({ from, to: [to], content })(fixture, tx);
      }
      await aMessage({ from: 'visitor', to: [], content: 'Note' })(fixture, tx);
      await aMessage({ from: 'ann', to: ['visitor'], content: 'From the customer' })(fixture, tx);
      const of = (...names: string[]) =>
        tx.recipients.openDirect(
          realm.id,
          names.map((name) => fixture.user(name).id),
        );
      return [await of('visitor', 'sam'), await of('ann', 'sam'), await of('ann')];
    });
    await inherit();
    const entriesIn = (recipientIds: readonly RecipientId[]) =>
      fixture.uow.read(realm.id, ({ pages }) =>
        pages.listEntriesUpTo(
          fixture.viewer('ann'),
          { conditions: [{ kind: 'recipient', recipientIds }], scope: 'own' },
          null,
          10,
        ),
      );
    const seen = async (id: RecipientId) =>
      (await entriesIn([id])).map(({ senderId, flags }) => [senderId === fixture.user('ann').id, flags.read]);
    expect(await seen(theirs!)).toEqual([]);
    expect(await seen(ours!)).toEqual([
      [true, true],
      [false, false],
    ]);
    expect(await seen(alone!)).toEqual([
      [true, true],
      [true, true],
    ]);
  });

  it("makes the visitor's reactions those of the customer, who keeps their own", async () => {
    const { realm, messages } = fixture;
    const [, answer] = messages;
    const emoji = (code: string) => ({ type: 'unicode', code, name: code }) as const;
    const react = (name: string, code: string) =>
      fixture.uow.write(realm.id, (tx) =>
        tx.reactions.add(realm.id, answer!.id, { ...emoji(code), userId: fixture.user(name).id }),
      );
    await react('visitor', '1f44d');
    await react('visitor', '1f389');
    await react('ann', '1f389');
    await inherit();
    const codesOf = (name: string) =>
      fixture.uow.read(realm.id, async ({ reactions }) =>
        (await reactions.listOfUser(realm.id, [answer!.id], fixture.user(name).id)).map(({ code }) => code).sort(),
      );
    expect(await codesOf('ann')).toEqual(['1f389', '1f44d']);
    expect(await codesOf('visitor')).toEqual(['1f389']);
  });

  it('changes nothing when it is repeated', async () => {
    await inherit();
    const before = await messagesOf('ann');
    const { version } = await userOf(visitorId);
    await inherit();
    expect(await messagesOf('ann')).toEqual(before);
    expect(await userOf(visitorId)).toMatchObject({ version });
  });

  it('leaves messages that the customer has read as they are', async () => {
    const { realm } = fixture;
    const ids = fixture.messages.map(({ id }) => id);
    await fixture.uow.write(realm.id, (tx) => tx.personal.addHistorical(fixture.viewer('ann'), ids));
    await inherit();
    expect(await messagesOf('ann')).toEqual([
      ['own', true],
      ['of others', true],
    ]);
    expect(announced('message.flag_changed')).toEqual([]);
  });
});
