import type { ImportedKind } from '@parley/domain/exports';
import type { ImportBatchId, RealmId } from '@parley/domain/kernel';
import { verifyImport } from '@parley/import-plan';
import { aRecord, type TestRecords } from '@parley/import-plan/testing';
import { RealmReader } from '@parley/transfer/exports';
import { ImportRealm } from '@parley/transfer/imports';
import fc from 'fast-check';
import { fieldsOf, type Wire } from '../testing/expectations.js';
import { labPerTest, messageRecord as message, personRecord as person } from '../testing/import-lab.js';
import type { TestUser } from '../testing/test-server.js';

const { lab, server } = labPerTest();

const RECORDS: TestRecords = [
  { kind: 'organization', id: 'o', name: 'Acme', description: 'Anvils', createdAt: 1_500_000_000 },
  person('ann', { role: 'owner', avatar: 'cat' }),
  person('bob'),
  person('gus', { role: 'guest' }),
  { kind: 'person', id: 'cleo', name: 'Cleo', email: 'cleo@acme.example' },
  { kind: 'person', id: 'hook', name: 'Build', isBot: true },
  { kind: 'group', id: 'g', name: 'makers', members: ['ann', 'cleo'] },
  { kind: 'channel', id: 'c', name: 'General', privacy: 'public', members: ['ann', 'cleo', 'hook'], folder: 'Team' },
  { kind: 'channel', id: 's', name: 'secret', privacy: 'private', members: ['bob', 'gus'] },
  { kind: 'channel', id: 'old', name: 'general', privacy: 'public', members: [], isArchived: true },
  { kind: 'conversation', id: 'd', members: ['ann', 'cleo'] },
  { kind: 'emoji', id: 'e', name: 'cat', file: 'cat' },
  { kind: 'file', id: 'cat', name: 'cat.png', contentType: 'image/png', path: 'cat.png' },
  { kind: 'file', id: 'plan', name: 'plan.txt', contentType: 'text/plain', path: 'plan.txt' },
  message('m1', 'ann', 100, [
    'Lunch at *noon*, ',
    { mention: 'person', id: 'bob' },
    ' :cat: ',
    { mention: 'everyone' },
  ]),
  message('m2', 'cleo', 110, [{ mention: 'group', id: 'g' }, ' see ', { link: 'message', id: 'm1' }], { thread: 'm1' }),
  message('m3', 'hook', 120, 'built', { senderName: 'Builder 2', files: ['cat', 'plan'] }),
  { kind: 'message', id: 'm4', channel: 's', sender: 'bob', sentAt: 130, content: 'psst' },
  { kind: 'message', id: 'm5', conversation: 'd', sender: 'cleo', sentAt: 140, content: 'hello Ann' },
  { kind: 'reaction', id: 'r1', message: 'm1', person: 'cleo', emoji: 'cat' },
  { kind: 'reaction', id: 'r2', message: 'm1', person: 'bob', emoji: '+1' },
  { kind: 'edit', id: 'x1', message: 'm1', at: 105, previous: 'Lunch?' },
  { kind: 'pin', id: 'p1', message: 'm1', person: 'ann' },
  { kind: 'readPosition', id: 'q', person: 'ann', channel: 'c', readUntil: 115 },
];

/** Changes the text of m3, and a reaction to m1. */
const edited = (record: TestRecords[number]): TestRecords[number] => {
  if (record.kind === 'reaction' && record.id === 'r2') return { ...record, emoji: 'tada' };
  return record.kind === 'message' && record.id === 'm3' ? { ...record, content: 'built again' } : record;
};

describe('import of records as a new organization', () => {
  it('shows the conversations with threads, people, files, reactions and read state', async () => {
    const { realm, ...counts } = await lab.imported(RECORDS);
    expect(counts).toMatchObject({
      channels: 3,
      messages: 6,
      files: 2,
      missingFiles: 0,
      missingPictures: 0,
      pictures: 2,
    });
    const ann = await lab.signIn(realm.id, 'ann@acme.example');
    const [root, pointer, reply, built, direct] = await lab.messagesFor(ann);

    expect(root).toMatchObject({
      subject: 'Lunch at noon, @bob of Acme :cat: @all',
      timestamp: 100,
      sender_full_name: 'ann of Acme',
    });
    expect(root.content).toContain('<em>noon</em>');
    expect(root.content).toMatch(/class="user-mention silent" data-user-id="\d+">bob of Acme/);
    expect(root.content).toMatch(/<img alt=":cat:" class="emoji" src="\/user_avatars\/\d+\/emoji\/images\/\d+\.png"/);
    expect(root.reactions.map(({ emoji_name }: Wire) => emoji_name)).toEqual(['cat', '+1']);
    expect(root.flags.sort()).toEqual(['read', 'starred']);
    expect(root.last_edit_timestamp).toBe(105);
    expect(pointer).toMatchObject({ subject: 'general chat', sender_full_name: 'Notification Bot' });
    expect(pointer.content).toContain(`/near/${root.id}"`);
    expect(reply.subject).toBe(root.subject);
    expect(reply.content).toContain(`/near/${root.id}"`);
    expect(reply.content).toContain('makers');
    expect(built.flags).toEqual([]);
    expect(built.content).toContain('Builder 2');
    expect(direct).toMatchObject({ type: 'private', sender_full_name: 'Cleo' });
    expect(direct.flags).toEqual(['read']);

    const [, path] = /href="(\/user_uploads\/[^"]*plan\.txt)"/.exec(built.content)!;
    const file = await server.request('GET', `/${path}`, { as: ann, realm: 'acme' });
    expect(file.status).toBe(200);
  });

  it('notifies nobody, and lets only people with an account log in', async () => {
    const { realm } = await lab.imported(RECORDS);
    const users = await server.storage.uow.read(realm.id, (reads) =>
      reads.users.listByEmail(realm.id, ['ann@acme.example', 'cleo@acme.example']),
    );
    expect(users.map(({ fullName }) => fullName)).toEqual(['ann of Acme']);
    const bob = await lab.signIn(realm.id, 'bob@acme.example');
    expect((await lab.messagesFor(bob, [{ operator: 'is', operand: 'mentioned' }])).length).toBe(0);
    const { members } = fieldsOf(await server.request('GET', '/users', { as: bob, realm: 'acme' })) as Wire;
    const active = Object.fromEntries(members.map(({ full_name, is_active }: Wire) => [full_name, is_active]));
    expect(active).toMatchObject({ 'ann of Acme': true, Cleo: false, Build: false });
  });

  it('gives people exactly the conversations that they could read', async () => {
    const { realm } = await lab.imported(RECORDS);
    const textsFor = async (email: string) =>
      [
        ...new Set(
          [
            ...(await lab.messagesFor(await lab.signIn(realm.id, email))),
            ...(await lab.messagesFor(await lab.signIn(realm.id, email), [
              { operator: 'channels', operand: 'public' },
            ])),
          ].map(({ content }) => content.replace(/<[^>]*>/g, '')),
        ),
      ].join(' | ');
    expect(await textsFor('gus@acme.example')).toBe('psst');
    expect(await textsFor('bob@acme.example')).toMatch(/psst.*Lunch/s);
    expect(await textsFor('ann@acme.example')).not.toMatch(/psst/);
  });

  it('remembers the created objects with the records that they come from', async () => {
    const { realm } = await lab.imported(RECORDS);
    const { uow } = server.storage;
    const [batch, ...others] = await uow.read(realm.id, ({ importBatches }) => importBatches.list(realm.id));
    expect(others).toEqual([]);
    expect(batch).toMatchObject({ source: 'test:1', status: 'complete', createdRealm: true, messages: 6 });
    const [root, pointer] = await lab.messagesFor(await lab.signIn(realm.id, 'ann@acme.example'));
    const recorded = async (kind: ImportedKind, id: string) =>
      (await uow.read(realm.id, ({ importedRecords }) => importedRecords.list(realm.id, kind, [id])))[0];
    expect(await recorded('message', 'm1')).toMatchObject({ targetId: root.id, editedAt: 105 });
    expect(await recorded('pointer', 'm1')).toMatchObject({ targetId: pointer.id, editedAt: null });
    expect(await recorded('channel', 'c')).toMatchObject({ targetId: root.stream_id });
    expect(await recorded('person', 'ann')).toMatchObject({ targetId: root.sender_id });
    expect(await recorded('conversation', 'd')).toBeDefined();
    expect(await recorded('group', 'g')).toBeDefined();
    expect(await recorded('emoji', 'e')).toBeDefined();

    const { realm: second } = await lab.imported(RECORDS.map(edited), { stringId: 'second' });
    const hashesIn = (realmId: RealmId) =>
      uow.read(realmId, async ({ importedRecords }) =>
        Object.fromEntries(
          (await importedRecords.list(realmId, 'message', ['m1', 'm2', 'm3'])).map(({ recordId, hash }) => [
            recordId,
            hash,
          ]),
        ),
      );
    const [before, after] = [await hashesIn(realm.id), await hashesIn(second.id)];
    expect(Object.keys(before).filter((id) => before[id] !== after[id])).toEqual(['m1', 'm3']);
  });

  it('finds no difference between an import and its export', async () => {
    const { realm } = await lab.imported(RECORDS);
    // One organization and one read position become no object, and dependent records belong to their message.
    expect(await lab.verify(realm.id, RECORDS)).toMatchObject({ unchanged: 16, differences: [], added: [] });
  });

  it('keeps a message on which somebody exchanged a reaction', async () => {
    const { realm } = await lab.imported(RECORDS);
    const bob = await lab.signIn(realm.id, 'bob@acme.example');
    const [root] = await lab.messagesFor(await lab.signIn(realm.id, 'ann@acme.example'));
    const react = async (method: 'POST' | 'DELETE', emoji_name: string) =>
      fieldsOf(
        await server.request(method, `/messages/${root.id}/reactions`, {
          as: bob,
          params: { emoji_name },
          realm: 'acme',
        }),
      );
    await react('DELETE', '+1');
    await react('POST', 'tada');
    const { differences } = await lab.verify(realm.id, RECORDS);
    expect(differences).toMatchObject([{ difference: 'with other reactions in Parley', examples: ['m1'] }]);
    await react('DELETE', 'tada');
    await react('POST', '+1');
    expect((await lab.verify(realm.id, RECORDS)).differences).toEqual([]);
  });

  it('lists changes in the source and in Parley since the import, and people who gained access', async () => {
    const { realm } = await lab.imported(RECORDS);
    const ann = await lab.signIn(realm.id, 'ann@acme.example');
    const bob = await lab.signIn(realm.id, 'bob@acme.example');
    const [, , reply] = await lab.messagesFor(ann);
    const request = async (path: string, as: TestUser, params: object) =>
      fieldsOf(await server.request('POST', path, { as, params: params as never, realm: 'acme' }));
    await request(`/messages/${reply.id}/reactions`, bob, { emoji_name: 'tada' });
    await request('/users/me/subscriptions', bob, { subscriptions: [{ name: 'secret' }], principals: [ann.id] });
    const later = RECORDS.filter(({ id }) => id !== 'm5').map(edited);
    const { differences, added } = await lab.verify(realm.id, [...later, message('m9', 'bob', 200, 'new')]);
    expect(differences.map(({ kind, difference, examples }) => [kind, difference, ...examples])).toEqual([
      ['message', 'differs in the export', 'm1', 'm3'],
      ['message', 'with other reactions in Parley', 'm2'],
      ['message', 'not in the import', 'm9'],
      ['message', 'not in the export', 'm5'],
    ]);
    expect(added).toEqual([{ userId: ann.id, person: 'ann of Acme', channel: 'secret' }]);
    await lab.undo(realm.id);
    const undone = await lab.verify(realm.id, RECORDS);
    expect(undone.differences).toContainEqual(expect.objectContaining({ difference: 'not in the import' }));
  });

  it('compares an import only with its own source', async () => {
    const { realm } = await lab.imported(RECORDS);
    const { uow } = server.storage;
    await uow.write(realm.id, async (tx) => {
      const [batch] = await tx.importBatches.list(realm.id);
      await tx.importBatches.update({ ...batch!, source: 'test:2' });
    });
    await expect(lab.verify(realm.id, RECORDS)).rejects.toMatchObject({ code: 'ANOTHER_SOURCE' });
    await expect(lab.verify(realm.id, RECORDS, 99)).rejects.toMatchObject({ code: 'UNKNOWN_IMPORT' });
  });

  it('removes unused messages of an import, and keeps the organization', async () => {
    const { realm } = await lab.imported(RECORDS);
    expect(await lab.undo(realm.id, { isDryRun: true })).toMatchObject({ removed: 6, kept: 0 });
    expect(await lab.undo(realm.id)).toMatchObject({ removed: 6, kept: 0 });
    expect(await lab.messagesFor(await lab.signIn(realm.id, 'ann@acme.example'))).toEqual([]);
  });

  it('undoes no import that is still running', async () => {
    const { realm } = await lab.imported(RECORDS);
    await server.storage.uow.write(realm.id, async (tx) => {
      const [batch] = await tx.importBatches.list(realm.id);
      await tx.importBatches.update({ ...batch!, status: 'running' });
    });
    await expect(lab.undo(realm.id, { isForced: true })).rejects.toMatchObject({ code: 'IMPORT_RUNNING' });
  });

  it('keeps messages that people used, even after a killed undo, until an undo is forced', async () => {
    const { realm } = await lab.imported([
      ...RECORDS,
      { kind: 'conversation', id: 'ab', members: ['ann', 'bob'] },
      { kind: 'message', id: 'm6', conversation: 'ab', sender: 'bob', sentAt: 150, content: 'hello from Bob' },
    ]);
    const ann = await lab.signIn(realm.id, 'ann@acme.example');
    const bob = await lab.signIn(realm.id, 'bob@acme.example');
    const request = (method: 'POST' | 'PATCH', path: string, as: TestUser, params: object) =>
      server.request(method, path, { as, params: params as never, realm: 'acme' }).then(fieldsOf);
    const [root, , reply, built, other, direct] = await lab.messagesFor(ann);
    const [secret] = await lab.messagesFor(await lab.signIn(realm.id, 'gus@acme.example'));
    await request('POST', '/messages', ann, { type: 'direct', to: [direct.sender_id], content: 'Hi' });
    await request('POST', `/messages/${secret.id}/reactions`, bob, { emoji_name: 'tada' });
    const move = { topic: 'Dinner', propagate_mode: 'change_one', send_notification_to_new_thread: false };
    await request('PATCH', `/messages/${root.id}`, ann, move);

    const killed = lab.undo(realm.id, {
      onProgress: () => {
        throw new Error('killed');
      },
    });
    await expect(killed).rejects.toThrow('killed');
    const undone = await lab.undo(realm.id);
    expect(undone).toMatchObject({ kept: 3, archivedChannels: 0 });
    const reasons = undone.keptMessages.map(({ id, reason }) => [id, reason]);
    expect(reasons).toEqual([
      [root.id, 'moved'],
      [secret.id, 'reaction'],
      [direct.id, 'answered'],
    ]);
    const left = await lab.messagesFor(ann);
    expect(left.map(({ id }: Wire) => id)).toEqual(expect.arrayContaining([root.id, direct.id]));
    for (const { id } of [reply, built, other]) expect(left.map((message: Wire) => message.id)).not.toContain(id);
    const [batch] = await server.storage.uow.read(realm.id, ({ importBatches }) => importBatches.list(realm.id));
    expect(batch!.status).toBe('undone');

    expect(await lab.undo(realm.id, { isForced: true })).toMatchObject({ removed: 3, kept: 0, archivedChannels: 2 });
    expect((await lab.messagesFor(ann)).map(({ content }: Wire) => content)).not.toContain(direct.content);
    await expect(lab.undo(realm.id, { batchId: 99 as ImportBatchId })).rejects.toMatchObject({
      code: 'UNKNOWN_IMPORT',
    });
  });

  it('undoes the latest import first', async () => {
    const { realm } = await lab.imported(RECORDS);
    const later = await server.storage.uow.write(realm.id, async (tx) => {
      const [first] = await tx.importBatches.list(realm.id);
      return tx.importBatches.add({ ...first!, createdRealm: false });
    });
    await expect(lab.undo(realm.id)).rejects.toMatchObject({ code: 'LATER_IMPORT' });
    expect(await lab.undo(realm.id, { batchId: later.id })).toMatchObject({ removed: 0 });
    expect(await lab.undo(realm.id, { isDryRun: true })).toMatchObject({ removed: 6 });
  });

  it('leaves nothing behind if the stored organization differs from the plan', async () => {
    const plan = await lab.plan(RECORDS);
    const closed = { ...plan, access: { ...plan.access, fullMembers: new Set<never>() } };
    const reader = server.parley.useCase(RealmReader);
    const importing = server.parley.useCase(ImportRealm).execute({
      source: plan.source,
      stringId: 'acme',
      verify: (done) => verifyImport(closed, done, reader),
    });
    await expect(importing).rejects.toThrow(/\(\w+@acme.example\) could read the channel "\w+" only after the import/);
    plan.close();
    const realms = await server.storage.uow.readAcross((reads) => reads.realms.list());
    expect(realms.map(({ stringId }) => stringId)).not.toContain('acme');
  });

  it('stores any export with the numbers and readers of its plan, and finds no difference later', async () => {
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(aRecord, { minLength: 1, maxLength: 40 }), async (generated) => {
        const records = JSON.parse(JSON.stringify(generated));
        const { realm } = await lab.imported(records, { stringId: `run-${++runs}` });
        expect(realm.isDeactivated).toBe(false);
        expect(await lab.verify(realm.id, records)).toMatchObject({ differences: [], added: [] });
      }),
      { numRuns: 50, endOnFailure: true },
    );
  }, 120_000);
});
