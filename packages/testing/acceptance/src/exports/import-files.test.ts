import type { RealmId } from '@parley/domain/kernel';
import type { TestRecords } from '@parley/import-plan/testing';
import { labPerTest, messageRecord as message, personRecord as person } from '../testing/import-lab.js';

const { lab } = labPerTest();

/** Export in which only some files have bytes. */
const exported = (content: string, files: Readonly<Record<string, string | null>>, ...more: TestRecords): TestRecords =>
  [
    person('ann', { role: 'owner' }),
    { kind: 'channel', id: 'c', name: 'open', privacy: 'public', members: ['ann'] } as const,
    message('m1', 'ann', 100, content, { files: Object.keys(files) }),
    ...Object.entries(files).map(([id, path]) => {
      const source = path === null ? { url: `https://files.example/${id}` } : { path };
      return { kind: 'file', id, name: `${id[0]}.png`, ...source } as const;
    }),
    ...more,
  ].map((record) => ({ ...record, source: 'test:1' }));

async function shown(realmId: RealmId) {
  const ann = await lab.signIn(realmId, 'ann@acme.example');
  const [{ content, reactions, last_edit_timestamp: editedAt }] = (await lab.messagesFor(ann)) as never as [
    { content: string; reactions: readonly unknown[]; last_edit_timestamp?: number },
  ];
  const { body } = await lab.server.request('GET', '/attachments', { as: ann, realm: 'acme' });
  const { attachments } = body as never as { attachments: { path_id: string; message_ids: readonly number[] }[] };
  return {
    text: content.replace(/<[^>]*>/g, '').split('\n'),
    used: attachments.flatMap(({ path_id: path, message_ids: messages }) =>
      messages.length > 0 ? content.includes(`/user_uploads/${path}`) : [],
    ),
    reactions: reactions.length,
    isEdited: editedAt !== undefined,
  };
}

describe('files in a newer export', () => {
  const FIRST = exported('see', { a1: 'cat.png', a2: 'plan.txt' });
  const PARTS = ['a.png', 'a.png'];

  it('stay in their message if the newer export lacks their bytes', async () => {
    const { realm } = await lab.imported(FIRST);
    const before = await shown(realm.id);
    expect(before).toMatchObject({ text: expect.arrayContaining(PARTS), used: [true, true], isEdited: false });
    const reaction = { kind: 'reaction', id: 'r', message: 'm1', person: 'ann', emoji: 'tada' } as const;
    await lab.merged(realm.id, exported('see', { a1: null, a2: null }, reaction));
    expect(await shown(realm.id)).toEqual({ ...before, reactions: 1 });
    const { changes } = await lab.merged(realm.id, exported('look', { a1: null, a2: 'plan.txt' }, reaction));
    expect(changes).toMatchObject({ changed: 1, kept: 0 });
    const after = await shown(realm.id);
    expect(after).toMatchObject({ used: [true, true], isEdited: true });
    expect(after.text.join(' ')).toMatch(/^look .*a\.png .*a\.png/);
  });

  it('are missing in a newer message without bytes', async () => {
    const { realm } = await lab.imported(exported('see', {}));
    await lab.merged(realm.id, exported('see', { a1: null }));
    expect(await shown(realm.id)).toMatchObject({ text: ['see', 'a.png (not downloaded)'], used: [] });
  });
});
