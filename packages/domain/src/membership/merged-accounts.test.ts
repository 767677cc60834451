import { aUser, createFixture, type FixtureStep, type MemoryFixture } from '@parley/testkit';
import type { UserId } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { ENTITIES_PER_PAGE } from '../kernel/work.js';
import { linkVisit, otherAccountsOf } from './merged-accounts.js';
import { emailKey, externalIdKey, PLACEHOLDER_DOMAIN } from './placeholders.js';

const placeholder = (name: string): FixtureStep =>
  aUser({ name, isActive: false, email: `${name}@${PLACEHOLDER_DOMAIN}` });

const world = (...steps: readonly FixtureStep[]) =>
  createFixture(aUser({ name: 'ann' }), aUser({ name: 'bob' }), placeholder('old'), ...steps);
const write = <T>({ uow, realm }: MemoryFixture, work: (tx: Transaction) => Promise<T>) => uow.write(realm.id, work);

/** Names of the other accounts. */
const othersOf = async ({ uow, realm, user, users }: MemoryFixture, name: string) => {
  const others = await uow.read(realm.id, async (reads) =>
    otherAccountsOf(reads, await reads.users.get(realm.id, user(name).id)),
  );
  return others.map(({ id }) => [...users.values()].find((each) => each.id === id)!.fullName).sort();
};

/** Stores that placeholders were merged into users. */
const merge = (fixture: MemoryFixture, ...merges: readonly (readonly [from: string, into: string])[]) =>
  write(fixture, async (tx) => {
    const { realm, user } = fixture;
    const { id: batchId } = await tx.importBatches.add({
      ...{ realmId: realm.id, source: 'test:1', startedAt: 0, status: 'complete', createdRealm: false },
      ...{ messages: 0, lastMessageId: 0, requesterId: null, version: 1 },
    });
    const records = merges.map(([from, into]) => ({
      ...({ batchId, kind: 'merge', hash: '', editedAt: null, reactions: 0 } as const),
      ...{ recordId: String(user(from).id), targetId: user(into).id },
    }));
    await tx.importedRecords.put(realm.id, records);
  });

describe('otherAccountsOf', () => {
  it('returns no account of somebody who has none', async () => {
    const fixture = await world();
    expect(await othersOf(fixture, 'ann')).toEqual([]);
  });

  it.each<[string, (userId: UserId) => string]>([
    ['the email address', () => emailKey('ANN@example.com')],
    ['the id in the host application', () => externalIdKey('host', 'ann-1')],
    ['the id of the directory', () => externalIdKey('scim', 'ann-1')],
    ['a linked account', () => externalIdKey('saml', 'ann@idp')],
  ])('returns the placeholder that %s claims', async (_, keyOf) => {
    const fixture = await world();
    const { realm, user } = fixture;
    const userId = user('ann').id;
    await write(fixture, async (tx) => {
      await tx.externalIds.assign(realm.id, userId, 'ann-1');
      await tx.logIns.link(realm.id, { method: 'saml', subject: 'ann@idp', userId, linkedAt: 0, picture: null });
      await tx.placeholderKeys.add({ realmId: realm.id, placeholderId: user('old').id, key: keyOf(userId) });
    });
    expect(await othersOf(fixture, 'ann')).toEqual(['old']);
    expect(await othersOf(fixture, 'bob')).toEqual([]);
  });

  it('reads no id of a user who has none', async () => {
    const fixture = await world();
    const { realm, user } = fixture;
    const key = externalIdKey('host', String(undefined));
    await write(fixture, (tx) => tx.placeholderKeys.add({ realmId: realm.id, placeholderId: user('old').id, key }));
    expect(await othersOf(fixture, 'ann')).toEqual([]);
  });

  it('returns the placeholders of all imports that were merged into the user', async () => {
    const fixture = await world(placeholder('older'), placeholder('other'));
    await merge(fixture, ['old', 'ann'], ['other', 'bob']);
    await merge(fixture, ['older', 'ann']);
    expect(await othersOf(fixture, 'ann')).toEqual(['old', 'older']);
    expect(await othersOf(fixture, 'bob')).toEqual(['other']);
  });

  it('returns merged placeholders beyond one page', async () => {
    const names = Array.from({ length: ENTITIES_PER_PAGE + 1 }, (_, n) => `old${n}`);
    const fixture = await world(...names.map(placeholder));
    await merge(fixture, ...names.map((name) => [name, 'ann'] as const));
    expect(await othersOf(fixture, 'ann')).toHaveLength(names.length);
  });
});

describe('linkVisit', () => {
  it('lets each visit lead to the earlier one', async () => {
    const fixture = await world(aUser({ name: 'visit1', role: 'guest' }), aUser({ name: 'visit2', role: 'guest' }));
    const { user } = fixture;
    await write(fixture, (tx) => linkVisit(tx, user('visit1'), user('ann').id));
    expect(await othersOf(fixture, 'ann')).toEqual(['visit1']);
    await write(fixture, (tx) => linkVisit(tx, user('visit2'), user('ann').id));
    expect(await othersOf(fixture, 'ann')).toEqual(['visit2']);
    expect(await othersOf(fixture, 'visit2')).toEqual(['visit1']);
  });
});
