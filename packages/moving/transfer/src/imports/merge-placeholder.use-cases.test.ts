import { beginBatch } from '@parley/domain/exports';
import type { MessageId } from '@parley/domain/kernel';
import { participantIdsOf } from '@parley/domain/messages';
import { CreateHold } from '@parley/domain/writing';
import { aMessage, aUser, createFixture, type Fixture } from '@parley/testkit';
import { MergePlaceholder, UnmergePlaceholder } from './merge-placeholder.use-cases.js';

/** Returns an organization with imported direct messages of the placeholder Cleo. */
async function imported(messages: number): Promise<Fixture> {
  const fixture = await createFixture(
    ...['ann', 'ben', 'cleo'].map((name) => aUser({ name })),
    ...Array.from({ length: messages }, (_, n) =>
      aMessage({ from: n % 2 ? 'ann' : 'cleo', to: n % 2 ? ['cleo'] : ['ann'] }),
    ),
  );
  const { realm, user, uow } = fixture;
  await uow.write(realm.id, async (tx) => {
    await tx.users.update({ ...user('cleo'), isActive: false, email: 'imported-1@parley.invalid' });
    const { id: batchId } = await beginBatch(tx, {
      realmId: realm.id,
      source: 'chat',
      startedAt: 1,
      createdRealm: false,
    });
    await tx.importedRecords.put(
      realm.id,
      fixture.messages.map(({ id: targetId }) => ({
        ...{ batchId, kind: 'message', recordId: `m${targetId}`, targetId, hash: '', editedAt: null, reactions: 0 },
      })),
    );
  });
  return fixture;
}

const merge = ({ uow, realm, user }: Pick<Fixture, 'uow' | 'realm' | 'user'>, isDryRun = false) =>
  new MergePlaceholder(uow).execute({
    realmId: realm.id,
    placeholderId: user('cleo').id,
    userId: user('ben').id,
    isDryRun,
  });

const unmerge = ({ uow, realm, user }: Fixture) =>
  new UnmergePlaceholder(uow).execute({ realmId: realm.id, placeholderId: user('cleo').id });

const idsOf = ({ messages }: Fixture) => messages.map(({ id }): MessageId => id);

/** Returns the numbers of messages by participants. */
const conversations = async (fixture: Fixture): Promise<Readonly<Record<string, number>>> => {
  const { uow, realm, users } = fixture;
  return uow.read(realm.id, async (reads) => {
    const names = new Map([...users].map(([name, { id }]) => [id, name]));
    const counts: Record<string, number> = {};
    for (const message of await reads.messages.list(realm.id, idsOf(fixture))) {
      const people = (await participantIdsOf(reads, message))!.map((id) => names.get(id)).join();
      counts[people] = (counts[people] ?? 0) + 1;
    }
    return counts;
  });
};

describe('MergePlaceholder', () => {
  it('moves direct messages in small units of work', async () => {
    const fixture = await imported(120);
    const { realm, uow } = fixture;
    const moves = jest.spyOn(await uow.write(realm.id, async (tx) => Object.getPrototypeOf(tx.moves)), 'moveDirect');
    expect(await merge(fixture)).toMatchObject({ messages: 60, directMessages: 120 });
    expect(moves.mock.calls.map(([, ids]) => (ids as readonly MessageId[]).length)).toEqual([50, 50, 20]);
    moves.mockRestore();
    expect(await conversations(fixture)).toEqual({ 'ann,ben': 120 });
    expect(await merge(fixture)).toMatchObject({ messages: 0, directMessages: 0 });
  });

  it('ends if somebody reverts the merge meanwhile', async () => {
    const fixture = await imported(120);
    const { uow } = fixture;
    let writes = 0;
    const write: typeof uow.write = async (...input) => {
      if (++writes === 3) await unmerge(fixture);
      return uow.write(...input);
    };
    const interrupted = merge({ ...fixture, uow: Object.assign(Object.create(uow), { write }) });
    await expect(interrupted).rejects.toMatchObject({ code: 'NOT_MERGED' });
    expect(await conversations(fixture)).toEqual({ 'ann,cleo': 120 });
    expect(await merge(fixture)).toMatchObject({ messages: 60, directMessages: 120 });
  });

  it.each(['cleo', 'ben'])('keeps messages under a hold of %s, also when it is reverted', async (name) => {
    const fixture = await imported(3);
    const { realm, uow } = fixture;
    const { id: realmId } = realm;
    const held = () => uow.read(realmId, ({ heldMessages }) => heldMessages.filter(realmId, idsOf(fixture)));
    const hold = () =>
      new CreateHold(uow, fixture.clock).execute(
        { realmId, userId: null },
        { personId: fixture.user(name).id, channelId: null, messageId: null, since: null, until: null, reason: 'Case' },
      );
    if (name === 'cleo') await hold();
    await merge(fixture);
    if (name === 'ben') await hold();
    expect(await held()).toEqual(idsOf(fixture));
    await unmerge(fixture);
    expect(await held()).toEqual(idsOf(fixture));
    expect(await uow.read(realmId, ({ holds }) => holds.list(realmId))).toHaveLength(2);
  });

  it('counts direct messages in a dry run without moving them', async () => {
    const fixture = await imported(3);
    expect(await merge(fixture, true)).toMatchObject({ messages: 2, directMessages: 3 });
    expect(await conversations(fixture)).toEqual({ 'ann,cleo': 3 });
  });

  it('keeps messages in their conversation that people in the same conversation wrote in Parley', async () => {
    const fixture = await imported(2);
    await fixture.add(aMessage({ from: 'ann', to: ['ben'] }));
    await merge(fixture);
    expect(await conversations(fixture)).toEqual({ 'ann,ben': 3 });
    await unmerge(fixture);
    expect(await conversations(fixture)).toEqual({ 'ann,cleo': 2, 'ann,ben': 1 });
    const { realm, uow } = fixture;
    const flagged = (name: string) =>
      uow.read(realm.id, async (reads) => [
        ...(await reads.personal.listFlags(fixture.viewer(name), idsOf(fixture))).keys(),
      ]);
    expect(await flagged('cleo')).toEqual(idsOf(fixture).slice(0, 2));
    expect(await flagged('ben')).toEqual(idsOf(fixture).slice(2));
  });
});
