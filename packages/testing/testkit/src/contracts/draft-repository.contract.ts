import type { MessageId } from '@parley/domain/kernel';
import type { Draft } from '@parley/domain/writing';
import { anotherRealm, aUser, type Fixture } from '../builders.js';
import { idsOf, type OpenStorage, stagesOn } from './storage-under-test.js';

const pieces = [aUser({ name: 'a' }), aUser({ name: 'b' })];

const quote = (id: number) => `[said](#narrow/channel/1-a/topic/b/near/${id}):\n\`\`\`quote\nc\n\`\`\`\n`;

const add = ({ realm, uow, user }: Fixture, who: string, content: string): Promise<Draft> =>
  uow.write(realm.id, (tx) =>
    tx.drafts.add({ realmId: realm.id, userId: user(who).id, to: { kind: 'nobody' }, content, editedAt: 1 }),
  );

const quoted = ({ realm, uow }: Fixture, ...ids: readonly number[]) =>
  uow.read(realm.id, ({ drafts }) => drafts.listQuoted(realm.id, ids as MessageId[]));

export function draftRepositoryContract(open: OpenStorage): void {
  describe('draft repository', () => {
    const stage = stagesOn(open);

    it('finds the drafts of all users that quote a message, oldest first', async () => {
      const fixture = await stage(...pieces);
      const { realm, uow } = fixture;
      const other = await anotherRealm(fixture);
      const first = await add(fixture, 'b', quote(12));
      const second = await add(fixture, 'a', quote(11) + quote(12));
      const third = await add(fixture, 'b', quote(12) + quote(12));
      await add(fixture, 'a', '12');
      expect(await quoted(fixture, 13, 12, 11)).toEqual([11, 12]);
      await uow.read(realm.id, async ({ drafts }) => {
        const id = 12 as MessageId;
        expect(await drafts.listQuoting(realm.id, id, 0, 2)).toEqual([first, second]);
        expect(await drafts.listQuoting(realm.id, id, second.id, 2)).toEqual([third]);
        expect(await drafts.listQuoting(realm.id, 11 as MessageId, 0, 2)).toEqual([second]);
        expect(await drafts.listQuoted(other.realm.id, [id])).toEqual([]);
        expect(await drafts.listQuoting(other.realm.id, id, 0, 2)).toEqual([]);
      });
    });

    it('finds drafts by the quotes in their current content', async () => {
      const fixture = await stage(...pieces);
      const { realm, uow } = fixture;
      const draft = await add(fixture, 'a', quote(11) + quote(12));
      await uow.write(realm.id, (tx) => tx.drafts.update({ ...draft, content: quote(12) + quote(13) }));
      expect(await quoted(fixture, 11, 12, 13)).toEqual([12, 13]);
      await uow.write(realm.id, (tx) => tx.drafts.update({ ...draft, content: 'a' }));
      expect(await quoted(fixture, 11, 12, 13)).toEqual([]);
    });

    it('finds no removed drafts', async () => {
      const fixture = await stage(...pieces);
      const { realm, uow, user } = fixture;
      const [one, two] = [await add(fixture, 'a', quote(11)), await add(fixture, 'b', quote(12))];
      await uow.write(realm.id, async (tx) => {
        await tx.drafts.remove(realm.id, one.userId, one.id);
        await tx.drafts.removeAll(realm.id, user('b').id);
        await tx.drafts.update({ ...two, content: quote(13) });
      });
      expect(await quoted(fixture, 11, 12, 13)).toEqual([]);
      expect(idsOf(await uow.read(realm.id, (r) => r.drafts.listQuoting(realm.id, 11 as MessageId, 0, 9)))).toEqual([]);
    });
  });
}
