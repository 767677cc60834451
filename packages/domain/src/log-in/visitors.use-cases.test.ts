import {
  aChannel,
  aMessage,
  aUser,
  createFixture,
  expectRefused,
  FakeApiKeyMint,
  type MemoryFixture,
} from '@parley/testkit';
import { isVisitor } from '../access/roles.js';
import type { RealmId, RecipientId, UserId } from '../kernel/ids.js';
import { externalIdKey } from '../membership/placeholders.js';
import { visitorExternalId } from './visitors.js';
import { FindVisitor, InheritFromVisitor, KeepVisitorAccount, VisitorTickets } from './visitors.use-cases.js';

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

const tickets = () =>
  new VisitorTickets(
    {
      sign: () => '',
      find: async (text, load) => {
        const [realmId, id = 0, expiresAt] = text.split(' ').map(Number);
        return expiresAt === undefined ? null : load({ realmId: realmId as RealmId, id, expiresAt });
      },
    },
    fixture.clock,
  );
const find = (of = token) => new FindVisitor(fixture.uow, tickets()).execute({ realmId: fixture.realm.id, token: of });
const keep = (externalId = 'ann') =>
  new KeepVisitorAccount(fixture.uow, tickets(), new FakeApiKeyMint(), fixture.clock).execute({
    realmId: fixture.realm.id,
    token,
    externalId,
  });
const inherit = () =>
  new InheritFromVisitor(fixture.uow, fixture.clock).execute({
    realmId: fixture.realm.id,
    visitorId,
    userId: fixture.user('ann').id,
  });
const userOf = (id: UserId) => fixture.uow.read(fixture.realm.id, ({ users }) => users.get(fixture.realm.id, id));
const messagesOf = (name: string) =>
  fixture.uow.read(fixture.realm.id, async ({ pages }) => {
    const entries = await pages.listEntriesUpTo(fixture.viewer(name), { conditions: [], scope: 'own' }, null, 10);
    return entries.map(({ senderId, flags }) => [senderId === fixture.user(name).id ? 'own' : 'of others', flags.read]);
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

  it('ends what acts for the visitor or is notified, since the customer may be another person', async () => {
    const { id: realmId } = fixture.realm;
    await fixture.uow.write(realmId, async (tx) => {
      await tx.devices.add(realmId, visitorId);
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
    const { id: realmId } = fixture.realm;
    const email = 'mallory@example.com';
    await fixture.uow.write(realmId, async (tx) =>
      tx.users.update({ ...(await tx.users.get(realmId, visitorId)), email }),
    );
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
  });
});
