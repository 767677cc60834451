import type { RealmId, Transaction, UserId } from '@parley/domain/kernel';
import { mentionRemoval, type TableCursor, type TableStep } from '@parley/domain/membership';
import { aChannel, aMessage, anotherRealm, aUser, type Fixture } from '../builders.js';
import { idsOf, type OpenStorage, own, stagesOn } from './storage-under-test.js';

const PIECES = [
  aUser({ name: 'Ann' }),
  aUser({ name: 'Bob' }),
  aChannel({ name: 'denmark', subscribers: ['Ann', 'Bob'] }),
];

/** Takes steps of a few rows until the end; returns the number of changed rows. */
async function takeSteps(
  { uow, realm }: Fixture,
  step: (tx: Transaction, from: TableCursor | null) => Promise<TableStep>,
): Promise<number> {
  let count = 0;
  for (let from: TableCursor | null | undefined = null; from !== undefined; ) {
    const at: TableCursor | null = from;
    const taken: TableStep = await uow.write(realm.id, (tx) => step(tx, at));
    from = taken.next ?? undefined;
    count += taken.count;
  }
  return count;
}

const removeAll = (fixture: Fixture, id: UserId, email: string) =>
  takeSteps(fixture, (tx, from) => tx.personalData.removeSome(fixture.realm.id, { id, email }, from, 3));

const replaceAll = (fixture: Fixture, id: UserId, fullName: string) =>
  takeSteps(fixture, (tx, from) =>
    tx.personalData.replaceSome(fixture.realm.id, mentionRemoval({ id, fullName }), from, 2),
  );

/** Gives a user rows of several features. */
async function addRows({ uow, clock }: Fixture, realmId: RealmId, userId: UserId, email: string): Promise<void> {
  await uow.write(realmId, async (tx) => {
    for (let n = 0; n < 5; n++)
      await tx.snippets.add({ realmId, userId, title: 'a', content: 'b', createdAt: clock.now() });
    await tx.drafts.add({ realmId, userId, to: { kind: 'nobody' }, content: 'a', editedAt: 1 });
    await tx.statuses.put(realmId, userId, { text: 'away', emoji: null });
    await tx.onboarding.markDone(realmId, userId, 'intro_inbox_view_modal' as never);
    const offer = { channelIds: [], groupIds: [], includesDefaultChannels: true, welcomeText: 'hi' };
    const invitation = { realmId, kind: 'email', invitedAt: clock.now(), expiresAt: null, role: 'member' } as const;
    await tx.invitations.add({ ...invitation, ...offer, inviterId: userId, status: 'open', notifiesInviter: false }, [
      'guest@example.com',
    ]);
    await tx.confirmations.add({
      ...{ realmId, purpose: 'passwordReset', email, userId, invitationId: null, status: 'open' },
      expiresAt: clock.now(),
    } as never);
  });
}

export function personalDataContract(open: OpenStorage): void {
  describe('personal data', () => {
    const stage = stagesOn(open);

    const rowsOf = (fixture: Fixture, realmId: RealmId, userId: UserId) =>
      fixture.uow.read(realmId, async (reads) => [
        await reads.snippets.count(realmId, userId),
        await reads.drafts.count(realmId, userId),
        (await reads.statuses.find(realmId, userId)) ? 1 : 0,
        (await reads.onboarding.listDone(realmId, userId)).size,
      ]);

    it('removes the rows of a person in bounded steps, and nothing of others', async () => {
      const fixture = await stage(...PIECES);
      const other = await anotherRealm(fixture, aUser({ name: 'Ann' }));
      const { realm, user } = fixture;
      const [ann, bob, namesake] = [user('Ann'), user('Bob'), other.user('Ann')];
      await addRows(fixture, realm.id, ann.id, ann.email);
      await addRows(fixture, realm.id, bob.id, bob.email);
      await addRows(fixture, other.realm.id, namesake.id, ann.email);
      expect(await removeAll(fixture, ann.id, ann.email.toUpperCase())).toBeGreaterThanOrEqual(8);
      expect(await rowsOf(fixture, realm.id, ann.id)).toEqual([0, 0, 0, 0]);
      expect(await rowsOf(fixture, realm.id, bob.id)).toEqual([5, 1, 1, 1]);
      expect(await rowsOf(fixture, other.realm.id, namesake.id)).toEqual([5, 1, 1, 1]);
      expect(await removeAll(fixture, ann.id, ann.email)).toBe(0);
    });

    const html = (id: UserId, name: string) =>
      `<p><span class="user-mention" data-user-id="${id}">@${name}</span> hi</p>`;

    it('replaces mentions in messages, which get a new version, and in texts of others', async () => {
      const fixture = await stage(...PIECES);
      const { realm, user, uow } = fixture;
      const [ann, bob] = [user('Ann'), user('Bob')];
      const mention = { content: '@**Ann** hi', renderedContent: html(ann.id, 'Ann') };
      await uow.write(realm.id, async (tx) => {
        for (const text of [
          mention,
          { content: '@**Bob** hi', renderedContent: html(bob.id, 'Bob') },
          mention,
          mention,
        ])
          await aMessage({ from: 'Bob', to: 'denmark', ...text })(fixture, tx);
        const draft = { realmId: realm.id, userId: bob.id, to: { kind: 'nobody' }, editedAt: 1 } as const;
        await tx.drafts.add({ ...draft, content: '@_**Ann** and Ann' });
      });
      expect(await replaceAll(fixture, ann.id, 'Ann')).toBe(4);
      const { messages, drafts } = await uow.read(realm.id, async (reads) => ({
        messages: await reads.messages.list(realm.id, idsOf(fixture.messages)),
        drafts: await reads.drafts.list(realm.id, bob.id),
      }));
      expect(messages.map(({ content }) => content)).toEqual(
        [ann, bob, ann, ann].map((named) => (named === ann ? `@**Deleted user|${ann.id}** hi` : '@**Bob** hi')),
      );
      expect(messages[0]!.renderedContent).toBe(html(ann.id, 'Deleted user'));
      expect(messages.map(({ version }) => version > 1)).toEqual([true, false, true, true]);
      expect(drafts[0]!.content).toBe(`@_**Deleted user|${ann.id}** and Ann`);
      expect(await replaceAll(fixture, ann.id, 'Ann')).toBe(0);
    });

    it('finds changed messages by their new words and not by the name', async () => {
      const fixture = await stage(...PIECES);
      const { realm, user, uow } = fixture;
      const ann = user('Ann');
      const text = { content: '@**Ann** hi', renderedContent: html(ann.id, 'Annabell') };
      await uow.write(realm.id, (tx) => aMessage({ from: 'Bob', to: 'denmark', ...text })(fixture, tx));
      await replaceAll(fixture, ann.id, 'Ann');
      const find = (word: string) =>
        uow.read(realm.id, async ({ pages }) => {
          const filter = own({ kind: 'search', words: [[[word]]], phrases: [] });
          return (await pages.listEntriesUpTo(fixture.viewer('Bob'), filter, null, 10)).length;
        });
      expect([await find('annabell'), await find('deleted')]).toEqual([0, 1]);
    });

    it('replaces mentions in given messages and their edit history', async () => {
      const fixture = await stage(...PIECES);
      const { realm, user, uow } = fixture;
      const ann = user('Ann');
      const text = { content: '@**Ann** hi', renderedContent: html(ann.id, 'Ann') };
      const changed = await uow.write(realm.id, async (tx) => {
        for (const _ of [1, 2]) await aMessage({ from: 'Bob', to: 'denmark', ...text })(fixture, tx);
        const [first] = fixture.messages;
        const editedAt = fixture.clock.now();
        const edit = { userId: user('Bob').id, editedAt, topic: null, channelId: null };
        await tx.edits.add(realm.id, edit, [first!.id], first!.id);
        await tx.messages.edit(realm.id, first!.id, {
          ...first!,
          content: 'b',
          renderedContent: 'b',
          editedAt,
          exceptions: new Map(),
        });
        const removal = mentionRemoval({ id: ann.id, fullName: 'Ann' });
        return tx.personalData.replaceInMessages(realm.id, removal, [first!.id]);
      });
      expect(changed).toBe(1);
      const { views, other } = await uow.read(realm.id, async (reads) => ({
        views: await reads.edits.list(realm.id, fixture.messages[0]!.id),
        other: await reads.messages.list(realm.id, [fixture.messages[1]!.id]),
      }));
      expect(views[0]!.previousContent).toEqual({
        content: `@**Deleted user|${ann.id}** hi`,
        rendered: html(ann.id, 'Deleted user'),
      });
      expect(other[0]!.content).toBe('@**Ann** hi');
    });
  });
}
