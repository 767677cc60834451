import type { MessageId, RealmId } from '@parley/domain/kernel';
import type { Reaction, UserReaction } from '@parley/domain/writing';
import { aChannel, aMessage, anotherRealm, aUser, type Fixture } from '../builders.js';
import { type OpenStorage, own, stagesOn } from './storage-under-test.js';

const pieces = [
  aUser({ name: 'a' }),
  aUser({ name: 'b' }),
  aChannel({ name: 'general', subscribers: ['a', 'b'] }),
  aMessage({ from: 'a', to: 'general' }),
  aMessage({ from: 'a', to: 'general' }),
];

const SMILE = { type: 'unicode', code: '1f642', name: 'smile' } as const;
const THUMB = { type: 'unicode', code: '1f44d', name: '+1' } as const;
/** Custom emoji with the code of a Unicode emoji. */
const CUSTOM = { type: 'custom', code: '1f642', name: 'smile' } as const;

const reaction = (fixture: Fixture, who: string, emoji: Omit<Reaction, 'userId'>): Reaction => ({
  ...emoji,
  userId: fixture.user(who).id,
});
const idOf = (fixture: Fixture, index: number): MessageId => fixture.messages[index]!.id;
const add = (fixture: Fixture, index: number, ...reactions: readonly Reaction[]) =>
  fixture.uow.write(fixture.realm.id, async (tx) => {
    for (const each of reactions) await tx.reactions.add(fixture.realm.id, idOf(fixture, index), each);
  });
const remove = (fixture: Fixture, index: number, { userId, ...emoji }: Reaction, realmId = fixture.realm.id) =>
  fixture.uow.write(realmId, (tx) => tx.reactions.remove(realmId, idOf(fixture, index), emoji, userId));
/** View of the message. */
const shown = (fixture: Fixture, index: number) =>
  fixture.uow.read(
    fixture.realm.id,
    async ({ pages }) => (await pages.listViews(fixture.realm.id, [idOf(fixture, index)]))[0]!,
  );
const versionOf = (fixture: Fixture, index: number) =>
  fixture.uow.read(fixture.realm.id, async ({ pages }) => {
    const [entry] = await pages.listEntries(fixture.viewer('a'), [idOf(fixture, index)]);
    return entry!.versions.message;
  });
const withReactions = (fixture: Fixture) =>
  fixture.uow.read(fixture.realm.id, async ({ pages }) => {
    const filter = own({ kind: 'property', property: 'hasReactions' });
    return (await pages.listEntriesUpTo(fixture.viewer('a'), filter, null, 10)).map(({ id }) => id);
  });

export function reactionRepositoryContract(open: OpenStorage): void {
  describe('reaction repository', () => {
    const stage = stagesOn(open);

    it('returns reactions with their message, oldest first', async () => {
      const fixture = await stage(...pieces);
      const reactions = [
        reaction(fixture, 'b', THUMB),
        reaction(fixture, 'a', SMILE),
        reaction(fixture, 'a', THUMB),
        reaction(fixture, 'a', CUSTOM),
      ];
      await add(fixture, 0, ...reactions);
      expect((await shown(fixture, 0)).reactions).toEqual(reactions);
      expect(await shown(fixture, 1)).not.toHaveProperty('reactions');
      await remove(fixture, 0, reactions[1]!);
      expect((await shown(fixture, 0)).reactions).toEqual([reactions[0], ...reactions.slice(2)]);
    });

    it('finds reactions by emoji, of any user and of one user', async () => {
      const fixture = await stage(...pieces);
      await add(fixture, 0, reaction(fixture, 'b', { ...THUMB, name: 'thumbs_up' }));
      await fixture.uow.read(fixture.realm.id, async ({ reactions }) => {
        const find = (index: number, emoji: Omit<Reaction, 'userId'>, who?: string) =>
          reactions.find(
            fixture.realm.id,
            idOf(fixture, index),
            emoji,
            who === undefined ? undefined : fixture.user(who).id,
          );
        expect(await find(0, THUMB)).toEqual(reaction(fixture, 'b', { ...THUMB, name: 'thumbs_up' }));
        expect(await find(0, THUMB, 'b')).toEqual(reaction(fixture, 'b', { ...THUMB, name: 'thumbs_up' }));
        expect(await find(0, THUMB, 'a')).toBeNull();
        expect(await find(0, SMILE)).toBeNull();
        expect(await find(1, THUMB)).toBeNull();
      });
      await add(fixture, 0, reaction(fixture, 'b', SMILE));
      await fixture.uow.read(fixture.realm.id, async ({ reactions }) => {
        expect(await reactions.find(fixture.realm.id, idOf(fixture, 0), CUSTOM)).toBeNull();
      });
    });

    it('lists the reactions of one user by message and position', async () => {
      const fixture = await stage(...pieces);
      const [thumb, smile] = [reaction(fixture, 'a', THUMB), reaction(fixture, 'a', SMILE)];
      await add(fixture, 1, smile);
      await add(fixture, 0, reaction(fixture, 'b', SMILE), thumb, smile);
      const ids = [idOf(fixture, 1), idOf(fixture, 0), 9999 as MessageId];
      const list = (realmId: RealmId) =>
        fixture.uow.read(realmId, ({ reactions }) => reactions.listOfUser(realmId, ids, thumb.userId));
      expect(await list(fixture.realm.id)).toEqual([
        { messageId: idOf(fixture, 0), ...thumb },
        { messageId: idOf(fixture, 0), ...smile },
        { messageId: idOf(fixture, 1), ...smile },
      ]);
      expect(await list((await anotherRealm(fixture)).realm.id)).toEqual([]);
    });

    it('lists all reactions of one user in parts', async () => {
      const fixture = await stage(...pieces);
      const [thumb, smile] = [reaction(fixture, 'a', THUMB), reaction(fixture, 'a', SMILE)];
      await add(fixture, 1, smile);
      await add(fixture, 0, reaction(fixture, 'b', SMILE), thumb, smile);
      const list = async (realmId: RealmId) => {
        const found: UserReaction[] = [];
        for (let next: number | null = 0; next !== null; ) {
          const after: number = next;
          const part = await fixture.uow.read(realmId, ({ reactions }) =>
            reactions.listSomeOfUser(realmId, thumb.userId, after, 2),
          );
          found.push(...part.reactions);
          next = part.next;
        }
        return found.sort((a, b) => a.messageId - b.messageId);
      };
      expect(await list(fixture.realm.id)).toEqual([
        { messageId: idOf(fixture, 0), ...thumb },
        { messageId: idOf(fixture, 0), ...smile },
        { messageId: idOf(fixture, 1), ...smile },
      ]);
      expect(await list((await anotherRealm(fixture)).realm.id)).toEqual([]);
    });

    it('counts the reactions and the distinct emoji of a message', async () => {
      const fixture = await stage(...pieces);
      const [one, two] = [reaction(fixture, 'a', SMILE), reaction(fixture, 'b', SMILE)];
      await add(fixture, 0, one, two, reaction(fixture, 'a', THUMB), reaction(fixture, 'a', CUSTOM));
      await fixture.uow.read(fixture.realm.id, async ({ reactions }) => {
        expect(await reactions.count(fixture.realm.id, idOf(fixture, 0))).toEqual({ reactions: 4, emoji: 3 });
        expect(await reactions.count(fixture.realm.id, idOf(fixture, 1))).toEqual({ reactions: 0, emoji: 0 });
      });
    });

    it('updates the message version with each actual change only', async () => {
      const fixture = await stage(...pieces);
      const [one, two] = [reaction(fixture, 'a', SMILE), reaction(fixture, 'b', SMILE)];
      const before = await versionOf(fixture, 0);
      await add(fixture, 0, one);
      expect(await versionOf(fixture, 0)).toBe(before + 1);
      await remove(fixture, 0, two);
      expect(await versionOf(fixture, 0)).toBe(before + 1);
      await remove(fixture, 0, one);
      expect(await versionOf(fixture, 0)).toBe(before + 2);
      expect(await versionOf(fixture, 1)).toBe(before);
    });

    it('marks a message as having reactions while it has any', async () => {
      const fixture = await stage(...pieces);
      const [one, two] = [reaction(fixture, 'a', SMILE), reaction(fixture, 'b', THUMB)];
      expect(await withReactions(fixture)).toEqual([]);
      await add(fixture, 1, one, two);
      expect(await withReactions(fixture)).toEqual([idOf(fixture, 1)]);
      await remove(fixture, 1, one);
      expect((await shown(fixture, 1)).message.hasReactions).toBe(true);
      await remove(fixture, 1, two);
      expect(await withReactions(fixture)).toEqual([]);
      expect((await shown(fixture, 1)).message.hasReactions).toBe(false);
    });

    it('removes the reactions of a removed message', async () => {
      const fixture = await stage(...pieces);
      await add(fixture, 0, reaction(fixture, 'a', SMILE));
      await fixture.uow.write(fixture.realm.id, (tx) => tx.messages.remove(fixture.realm.id, [idOf(fixture, 0)]));
      await fixture.uow.read(fixture.realm.id, async ({ reactions }) => {
        expect(await reactions.count(fixture.realm.id, idOf(fixture, 0))).toEqual({ reactions: 0, emoji: 0 });
      });
    });

    it('isolates realms', async () => {
      const fixture = await stage(...pieces);
      const one = reaction(fixture, 'a', SMILE);
      await add(fixture, 0, one);
      const other = (await anotherRealm(fixture)).realm.id;
      await remove(fixture, 0, one, other);
      await fixture.uow.read(other, async ({ reactions }) => {
        expect(await reactions.find(other, idOf(fixture, 0), SMILE)).toBeNull();
        expect(await reactions.count(other, idOf(fixture, 0))).toEqual({ reactions: 0, emoji: 0 });
      });
      expect((await shown(fixture, 0)).reactions).toEqual([one]);
    });
  });
}
