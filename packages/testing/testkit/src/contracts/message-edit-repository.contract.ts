import type { MessageId } from '@parley/domain/kernel';
import { MAX_EDITED_TEXT, MAX_EDITS, type MessageEdit, type SharedEdit } from '@parley/domain/messages';
import { anotherRealm, type Fixture } from '../builders.js';
import { chatter, pick } from './chatter.js';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

export function messageEditRepositoryContract(open: OpenStorage): void {
  describe('message edit repository', () => {
    const stage = stagesOn(open);

    const add = (
      { uow, realm, user }: Fixture,
      edit: Partial<SharedEdit>,
      ids: readonly MessageId[],
      edited: MessageId | null = null,
    ) =>
      uow.write(realm.id, (tx) =>
        tx.edits.add(
          realm.id,
          { userId: user('a').id, editedAt: 5, topic: null, channelId: null, ...edit },
          ids,
          edited,
        ),
      );
    const list = ({ uow, realm }: Fixture, id: MessageId): Promise<readonly MessageEdit[]> =>
      uow.read(realm.id, (r) => r.edits.list(realm.id, id));
    const text = ({ uow, realm, messages }: Fixture, id: MessageId, content: string) =>
      uow.write(realm.id, (tx) => {
        const message = messages.find((one) => one.id === id)!;
        return tx.messages.edit(realm.id, id, {
          ...message,
          content,
          renderedContent: `<p>${content}</p>`,
          editedAt: 6,
          exceptions: new Map(),
        });
      });

    it('lists the edits of a message, newest first, with previous location and content', async () => {
      const fixture = await stage(...chatter);
      const { user, channel, messages } = fixture;
      const [first, second] = pick(fixture, 0, 1);
      const [one, two] = messages;
      await add(fixture, {}, [first!], first);
      await text(fixture, first!, 'new');
      await add(fixture, { userId: user('b').id, editedAt: 7, topic: 'Dinner' }, [first!, second!], first);
      await add(fixture, { editedAt: 8, channelId: channel('random').id }, [second!]);
      const edit = { userId: user('a').id, editedAt: 5, previousContent: null, topic: null, channel: null };
      const { id: from } = channel('general');
      expect(await list(fixture, first!)).toEqual([
        {
          ...edit,
          userId: user('b').id,
          editedAt: 7,
          topic: { from: one!.topic, to: 'Dinner' },
          previousContent: { content: 'new', rendered: '<p>new</p>' },
        },
        { ...edit, previousContent: { content: one!.content, rendered: one!.renderedContent } },
      ]);
      expect(await list(fixture, second!)).toEqual([
        { ...edit, editedAt: 8, channel: { from, to: channel('random').id } },
        { ...edit, userId: user('b').id, editedAt: 7, topic: { from: two!.topic, to: 'Dinner' } },
      ]);
    });

    it('adds and removes edits together with their message', async () => {
      const fixture = await stage(...chatter);
      const { uow, realm } = fixture;
      const [first, second] = pick(fixture, 0, 1);
      await add(fixture, {}, [first!], first);
      await text(fixture, first!, 'new');
      const shown = async () =>
        (await uow.read(realm.id, (r) => r.pages.listViews(realm.id, [first!, second!]))).map(({ edits }) => edits);
      expect(await shown()).toEqual([await list(fixture, first!), undefined]);
      await uow.write(realm.id, (tx) => tx.messages.remove(realm.id, [first!]));
      expect(await list(fixture, first!)).toEqual([]);
    });

    it('keeps a maximum number of newest edits', async () => {
      const fixture = await stage(...chatter);
      const [first, second] = pick(fixture, 0, 1);
      await add(fixture, { editedAt: 1 }, [second!], second);
      for (let n = 0; n < MAX_EDITS + 2; n++)
        await add(fixture, { editedAt: 10 + n, topic: `t${n}` }, [first!, second!]);
      for (const id of [first!, second!]) {
        const times = (await list(fixture, id)).map(({ editedAt }) => editedAt);
        expect(times).toEqual(Array.from({ length: MAX_EDITS }, (_, n) => 11 + MAX_EDITS - n));
      }
    });

    it('limits the total text length but always keeps the newest edit', async () => {
      const fixture = await stage(...chatter);
      const [id] = pick(fixture, 0);
      await add(fixture, { editedAt: 1 }, [id!], id);
      await text(fixture, id!, 'x'.repeat(MAX_EDITED_TEXT / 4));
      await add(fixture, { editedAt: 2 }, [id!], id);
      await add(fixture, { editedAt: 3, topic: 'Dinner' }, [id!]);
      expect((await list(fixture, id!)).map(({ editedAt }) => editedAt)).toEqual([3, 2, 1]);
      await text(fixture, id!, 'x'.repeat(MAX_EDITED_TEXT));
      await add(fixture, { editedAt: 4 }, [id!], id);
      // Moves have no text, but edits older than an oversized text are dropped.
      expect((await list(fixture, id!)).map(({ editedAt }) => editedAt)).toEqual([4]);
    });

    it('isolates realms', async () => {
      const fixture = await stage(...chatter);
      const { uow, user } = fixture;
      const other = await anotherRealm(fixture);
      const [id] = pick(fixture, 0);
      const edit = { userId: user('a').id, editedAt: 5, topic: 'x', channelId: null };
      await uow.write(other.realm.id, (tx) => tx.edits.add(other.realm.id, edit, [id!]));
      expect(await list(fixture, id!)).toEqual([]);
      await add(fixture, {}, [id!], id);
      expect(await list(other, id!)).toEqual([]);
    });
  });

  describe('content edit', () => {
    const stage = stagesOn(open);

    it('replaces content and mentions of recipients in a new version', async () => {
      const fixture = await stage(...chatter);
      const { uow, realm, user, messages } = fixture;
      const [id] = pick(fixture, 0);
      const before = messages[0]!;
      const flagsOf = async () => {
        const userIds = ['a', 'b'].map((name) => user(name).id);
        const flags = await uow.read(realm.id, (r) => r.personal.listFlagsOf(realm.id, userIds, [id!]));
        return userIds.map((userId) => flags.get(userId)?.get(id!));
      };
      const edit = (exceptions: ReadonlyMap<never, object>, mentionsChannel: boolean) =>
        uow.write(realm.id, (tx) =>
          tx.messages.edit(realm.id, id!, {
            content: 'new',
            renderedContent: '<p>new</p>',
            editedAt: 77,
            isMeMessage: true,
            mentionsChannel,
            hasLink: true,
            hasImage: true,
            hasAttachment: false,
            exceptions,
          }),
        );
      const [ofA, ofB] = await flagsOf();
      await edit(new Map([[user('a').id as never, { mentioned: true, hasAlertWord: true }]]), false);
      const message = await uow.read(realm.id, (r) => r.messages.find(realm.id, id!));
      expect(message).toEqual({
        ...before,
        content: 'new',
        renderedContent: '<p>new</p>',
        isMeMessage: true,
        mentionsChannel: false,
        hasLink: true,
        hasImage: true,
        hasAttachment: false,
        isEdited: true,
        lastEditedAt: 77,
        version: message!.version,
      });
      expect(message!.version).toBeGreaterThan(before.version);
      const nobody = { mentioned: false, topicWildcardMentioned: false, hasAlertWord: false };
      expect(await flagsOf()).toEqual([
        { ...ofA, ...nobody, mentioned: true, hasAlertWord: true, channelWildcardMentioned: false },
        { ...ofB, ...nobody, channelWildcardMentioned: false },
      ]);
      await edit(new Map([[user('b').id as never, { topicWildcardMentioned: true }]]), true);
      expect(await flagsOf()).toEqual([
        { ...ofA, ...nobody, channelWildcardMentioned: true },
        { ...ofB, ...nobody, topicWildcardMentioned: true, channelWildcardMentioned: true },
      ]);
    });

    it('isolates realms', async () => {
      const fixture = await stage(...chatter);
      const { uow, realm, messages } = fixture;
      const other = await anotherRealm(fixture);
      const [message] = messages;
      const text = { ...message!, content: 'new', editedAt: 5, exceptions: new Map() };
      await uow.writeAcross((tx) => tx.messages.edit(other.realm.id, message!.id, text));
      expect(await uow.read(realm.id, (r) => r.messages.find(realm.id, message!.id))).toEqual(message);
    });
  });
}
