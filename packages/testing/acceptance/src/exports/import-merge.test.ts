import type { RealmId, Transaction } from '@parley/domain/kernel';
import { reportLines } from '@parley/import-plan';
import type { TestRecords } from '@parley/import-plan/testing';
import { fieldsOf, type Wire } from '../testing/expectations.js';
import { labPerTest, messageRecord as message, personRecord as person } from '../testing/import-lab.js';
import type { TestUser } from '../testing/test-server.js';

const { lab, server } = labPerTest();

/** Organization with its own messages before the import. */
const LIVING: TestRecords = [
  { kind: 'organization', id: 'o', name: 'Acme' },
  person('ann', { role: 'owner' }),
  person('bob'),
  { kind: 'channel', id: 'l', name: 'general', privacy: 'public', members: ['ann', 'bob'] },
  { kind: 'conversation', id: 'd', members: ['ann', 'bob'] },
  { kind: 'message', id: 'l1', channel: 'l', sender: 'ann', sentAt: 1000, content: 'hello' },
  { kind: 'message', id: 'l2', conversation: 'd', sender: 'bob', sentAt: 1010, content: 'hi Ann' },
];

const BASE: TestRecords = [
  person('ann', { role: 'owner', name: 'Ann Elsewhere' }),
  person('bob'),
  person('dora', { role: 'administrator', avatar: 'cat' }),
  { kind: 'person', id: 'cleo', name: 'Cleo', externalId: 'x7' },
  { kind: 'group', id: 'g', name: 'makers', members: ['ann', 'cleo'] },
  { kind: 'channel', id: 'c', name: 'General', privacy: 'public', members: ['ann', 'cleo', 'dora'], folder: 'Team' },
  { kind: 'channel', id: 's', name: 'secret', privacy: 'private', members: ['bob', 'dora'] },
  { kind: 'conversation', id: 'd', members: ['ann', 'bob'] },
  { kind: 'emoji', id: 'e', name: 'cat', file: 'cat' },
  { kind: 'file', id: 'cat', name: 'cat.png', contentType: 'image/png', path: 'cat.png' },
  { kind: 'file', id: 'plan', name: 'plan.txt', contentType: 'text/plain', path: 'plan.txt' },
  message('m1', 'ann', 100, ['Lunch, ', { mention: 'person', id: 'bob' }, ' :cat:']),
  message('m2', 'cleo', 110, [{ mention: 'group', id: 'g' }, ' see ', { link: 'message', id: 'm1' }], { thread: 'm1' }),
  message('m3', 'dora', 120, 'built', { files: ['plan'] }),
  { kind: 'message', id: 'm4', channel: 's', sender: 'bob', sentAt: 130, content: 'psst' },
  { kind: 'message', id: 'm5', conversation: 'd', sender: 'bob', sentAt: 140, content: 'hello Ann' },
  { kind: 'reaction', id: 'r1', message: 'm1', person: 'cleo', emoji: 'cat' },
];
const HISTORY: TestRecords = BASE.map((record) => ({ ...record, source: 'test:2' }));

/** Newer export of the same source. */
const LATER: TestRecords = [
  ...BASE,
  person('emil'),
  { kind: 'person', id: 'finn', name: 'Finn' } as const,
  { kind: 'channel', id: 'n', name: 'new', privacy: 'private', members: ['ann', 'emil', 'dora'] } as const,
  message('m6', 'cleo', 150, 'and dinner?', { thread: 'm1', files: ['plan'] }),
  message('m7', 'ann', 160, ['late, see ', { link: 'message', id: 'm3' }]),
  message('m8', 'bob', 170, 'answer', { thread: 'm3' }),
  { kind: 'message', id: 'm9', channel: 'n', sender: 'emil', sentAt: 180, content: 'first' } as const,
  { kind: 'message', id: 'm10', conversation: 'd', sender: 'ann', sentAt: 190, content: 'hello Bob' } as const,
].map((record) => ({ ...record, source: 'test:2' }));

const textOf = ({ content }: Wire): string => content.replace(/<[^>]*>/g, '').trim();

async function channelsOf(as: TestUser): Promise<Wire[]> {
  const params = { include_all: true, exclude_archived: false };
  return (fieldsOf(await server.request('GET', '/streams', { as, realm: 'acme', params })) as Wire).streams;
}

async function living(): Promise<{ realmId: RealmId; ann: TestUser; bob: TestUser }> {
  const { realm } = await lab.imported(LIVING);
  const [ann, bob] = [await lab.signIn(realm.id, 'ann@acme.example'), await lab.signIn(realm.id, 'bob@acme.example')];
  return { realmId: realm.id, ann, bob };
}

const inChannel = (name: string) => [{ operator: 'channel', operand: name }];

describe('import of records into an existing organization', () => {
  it('adds people, channels and messages, and joins existing people and conversations', async () => {
    const { realmId, ann, bob } = await living();
    const { messages, channels, users, summary } = await lab.merged(realmId, HISTORY);
    expect({ messages, channels, users }).toEqual({ messages: 6, channels: 2, users: 2 });
    expect(
      summary.ledger.filter(({ kind }) => kind === 'person').map(({ outcome, count }) => [outcome, count]),
    ).toEqual([
      ['imported', 1],
      ['imported', 1],
      ['merged', 2],
    ]);

    const lunch = await lab.messagesFor(ann, inChannel('General (2)'));
    expect(lunch.map(textOf)).toEqual([
      'Lunch, bob of Acme',
      'ann of Acme → Lunch, @bob of Acme &#58;cat:',
      'makers see message',
      'built\nplan.txt',
    ]);
    expect(lunch.map(({ timestamp }) => timestamp)).toEqual([100, 100, 110, 120]);
    expect(lunch.map(({ flags }) => flags)).toEqual([['read'], ['read'], ['read'], ['read']]);
    expect(lunch[0].sender_id).toBe(ann.id);
    expect(lunch[0].content).toContain(`data-user-id="${bob.id}"`);
    const direct = await lab.messagesFor(bob, [{ operator: 'dm', operand: [ann.id] }]);
    expect(direct.map(textOf)).toEqual(['hi Ann', 'hello Ann']);
    expect(direct.map(({ flags }) => flags)).toEqual([['read'], ['read']]);
    const [, path] = /href="(\/user_uploads\/[^"]*plan\.txt)"/.exec(lunch[3].content)!;
    expect((await server.request('GET', `/${path}`, { as: ann, realm: 'acme' })).status).toBe(200);
    const { members } = fieldsOf(await server.request('GET', '/users', { as: bob, realm: 'acme' })) as Wire;
    const roles = Object.fromEntries(members.map((user: Wire) => [user.full_name, user.is_active ? user.role : null]));
    expect(roles).toMatchObject({ 'ann of Acme': 100, 'bob of Acme': 400, 'dora of Acme': 400, Cleo: null });
    expect((await lab.messagesFor(bob, [{ operator: 'is', operand: 'unread' }])).length).toBe(0);
  });

  it('gives people only the conversations that they could read in the source', async () => {
    const { realmId, ann } = await living();
    // An account without a counterpart in the source.
    const outsider = await lab.merged(realmId, [{ ...person('zoe'), source: 'test:3' } as never]);
    expect(outsider.users).toBe(1);
    const { summary } = await lab.merged(realmId, HISTORY);
    expect(reportLines(summary).at(-2)).toBe(
      'New public channels become private, because 1 members of the organization could not read them in the source; ' +
        '--share-public keeps them public.',
    );
    const zoe = await lab.signIn(realmId, 'zoe@acme.example');
    expect((await channelsOf(zoe)).map(({ name }) => name)).toEqual(['general']);
    expect((await channelsOf(ann)).map(({ name, invite_only }) => [name, invite_only])).toEqual([
      ['General (2)', true],
      ['general', false],
      ['secret', true],
    ]);
    expect(await lab.messagesFor(ann, inChannel('secret'))).toEqual([]);
    const again = await lab.merged(realmId, LATER);
    expect(reportLines(again.summary).join()).not.toContain('become private');
  });

  it('keeps public channels public on request even if people outside the source can read them', async () => {
    const { realmId } = await living();
    await lab.merged(realmId, [{ ...person('zoe'), source: 'test:3' } as never]);
    await lab.merged(realmId, HISTORY, { opensPublicChannels: true });
    const zoe = await lab.signIn(realmId, 'zoe@acme.example');
    expect((await channelsOf(zoe)).map(({ name }) => name)).toEqual(['General (2)', 'general']);
  });

  it('gives former readers of an undone import no access to the next one', async () => {
    const { realmId } = await living();
    await lab.merged(realmId, [{ ...person('zoe'), source: 'test:3' } as never]);
    await lab.merged(realmId, HISTORY, { opensPublicChannels: true });
    const zoe = await lab.signIn(realmId, 'zoe@acme.example');
    const params = { subscriptions: [{ name: 'General (2)' }] };
    fieldsOf(await server.request('POST', '/users/me/subscriptions', { as: zoe, realm: 'acme', params }));
    await lab.undo(realmId, { batchId: (await lab.batches(realmId)).at(-1)!.id });
    await lab.merged(realmId, HISTORY);
    expect((await channelsOf(zoe)).map(({ name }) => name)).toEqual(['general']);
    expect(await lab.messagesFor(zoe)).toEqual([]);
  });

  it('reports accounts that the mapping file gives to placeholders of earlier imports', async () => {
    const { realmId } = await living();
    await lab.merged(realmId, HISTORY);
    const mappings = [
      { person: 'cleo', email: 'bob@acme.example', name: null },
      { person: 'ann', email: 'ann@acme.example', name: null },
    ];
    const { summary } = await lab.merged(realmId, HISTORY, { mappings });
    expect(reportLines(summary).filter((line) => line.includes('imports merge'))).toEqual([
      expect.stringMatching(/^ *parley imports merge \d+ bob@acme.example$/),
    ]);
  });

  it('lets people claim placeholders of earlier imports by identities that a later import allows', async () => {
    const { realmId } = await living();
    await lab.merged(realmId, HISTORY);
    const keys = () => server.storage.uow.read(realmId, (reads) => reads.placeholderKeys.list(realmId));
    expect(await keys()).toEqual([]);
    expect((await lab.merged(realmId, HISTORY, { claimBy: ['host'] })).batch).not.toBeNull();
    expect(await keys()).toMatchObject([{ key: 'id:host:x7' }]);
    expect((await lab.merged(realmId, HISTORY, { claimBy: ['host'] })).batch).toBeNull();
  });

  it('keeps the subscribers of channels with messages that an undo kept', async () => {
    const { realmId, ann } = await living();
    await lab.merged(realmId, HISTORY);
    const [lunch] = await lab.messagesFor(ann, inChannel('General (2)'));
    const emoji = { as: ann, realm: 'acme', params: { emoji_name: 'tada' } };
    fieldsOf(await server.request('POST', `/messages/${lunch.id}/reactions`, emoji));
    await lab.undo(realmId, { batchId: (await lab.batches(realmId)).at(-1)!.id });
    const dora = await lab.signIn(realmId, 'dora@acme.example');
    const left = { as: dora, realm: 'acme', params: { subscriptions: ['General (2)'] } };
    fieldsOf(await server.request('DELETE', '/users/me/subscriptions', left));
    await lab.merged(realmId, HISTORY);
    expect((await lab.messagesFor(ann, inChannel('General (2)'))).map(textOf)).toContain('built\nplan.txt');
    const own = await server.request('GET', '/users/me/subscriptions', { as: dora, realm: 'acme' });
    expect((fieldsOf(own) as Wire).subscriptions.map(({ name }: Wire) => name)).toEqual(['secret']);
  });

  it('changes nothing when an unchanged export is imported again', async () => {
    const { realmId, ann } = await living();
    await lab.merged(realmId, HISTORY);
    const state = async () => [await lab.messagesFor(ann), await channelsOf(ann), await lab.batches(realmId)];
    const before = await state();
    const { batch, messages, summary } = await lab.merged(realmId, HISTORY);
    expect([batch, messages]).toEqual([null, 0]);
    expect(summary.ledger.filter(({ outcome }) => outcome !== 'merged')).toEqual([]);
    expect(await state()).toEqual(before);
  });

  it('adds new messages of a newer export to existing threads, channels and conversations', async () => {
    const { realmId, ann, bob } = await living();
    await lab.merged(realmId, HISTORY);
    const [root] = await lab.messagesFor(ann, inChannel('General (2)'));
    const renamed = { topic: 'meals', propagate_mode: 'change_all' };
    await server.request('PATCH', `/messages/${root.id}`, { as: ann, realm: 'acme', params: renamed });
    const { messages, users, channels } = await lab.merged(realmId, LATER);
    expect({ messages, users, channels }).toEqual({ messages: 6, users: 2, channels: 1 });

    const inGeneral = (await lab.messagesFor(ann, inChannel('General (2)'))).slice(5);
    expect(inGeneral.map((each) => [each.subject, textOf(each).split('\n')[0], each.flags])).toEqual([
      ['built', 'dora of Acme wrote:', ['read']],
      ['meals', 'and dinner?', ['read']],
      ['general chat', 'late, see message', ['read']],
      ['built', 'answer', ['read']],
    ]);
    const emil = await lab.signIn(realmId, 'emil@acme.example');
    expect((await lab.messagesFor(emil)).map(textOf)).toEqual(['first']);
    const direct = await lab.messagesFor(bob, [{ operator: 'dm', operand: [ann.id] }]);
    expect(direct.map(textOf)).toEqual(['hi Ann', 'hello Ann', 'hello Bob']);
    expect((await lab.messagesFor(bob, [{ operator: 'is', operand: 'unread' }])).length).toBe(0);
    expect((await lab.batches(realmId)).map(({ status, messages }) => [status, messages])).toEqual([
      ['complete', 2],
      ['complete', 6],
      ['complete', 6],
    ]);
  });

  it('adds messages to existing channels at a cost that does not depend on the number of readers', async () => {
    const { realmId } = await living();
    await lab.merged(realmId, HISTORY);
    const more = [message('x1', 'ann', 200, 'one'), message('x2', 'ann', 210, 'two')];
    const records = [...HISTORY, ...more].map((record) => ({ ...record, source: 'test:2' }));
    const marks = await server.storage.uow.write(realmId, async (tx) => jest.spyOn(tx.copies, 'putReceived'));
    expect((await lab.merged(realmId, records)).messages).toBe(2);
    expect(marks).not.toHaveBeenCalled();
    const dora = await lab.signIn(realmId, 'dora@acme.example');
    const read = await lab.messagesFor(dora, inChannel('General (2)'));
    expect(read.map((each) => [textOf(each), each.flags]).slice(-2)).toEqual([
      ['one', ['read']],
      ['two', ['read']],
    ]);
    expect(await lab.messagesFor(dora, [{ operator: 'is', operand: 'unread' }])).toEqual([]);
  });

  it('finds no difference between several imports and the newest export, and lists people who gained access', async () => {
    const { realmId, ann } = await living();
    await lab.merged(realmId, HISTORY);
    await lab.merged(realmId, LATER);
    const verify = async () => {
      const { differences, added } = await lab.verify(realmId, LATER, (await lab.batches(realmId)).at(-1)!.id);
      return { differences, added: added.map(({ person: name, channel }) => [name, channel]) };
    };
    expect(await verify()).toEqual({ differences: [], added: [] });
    const params = { subscriptions: [{ name: 'new' }], principals: ['bob@acme.example'] };
    await server.request('POST', '/users/me/subscriptions', { as: ann, realm: 'acme', params });
    expect(await verify()).toEqual({ differences: [], added: [['bob of Acme', 'new']] });
  });

  it('hides new channels until they are complete, and continues after it was killed', async () => {
    const { realmId, ann } = await living();
    const many = Array.from({ length: 500 }, (_, n) => message(`x${n}`, 'ann', 200 + n, `number ${n}`));
    const records = [...HISTORY, ...many].map((record) => ({ ...record, source: 'test:2' }));
    const killed = lab.merged(realmId, records, {
      onProgress: () => {
        throw new Error('killed');
      },
    });
    await expect(killed).rejects.toThrow('killed');
    const visible = async () => (await channelsOf(ann)).filter(({ is_archived }) => !is_archived);
    expect((await visible()).map(({ name }) => name)).toEqual(['general']);
    expect((await lab.messagesFor(ann)).map(textOf)).toEqual(['hello', 'hi Ann', 'hello Ann']);

    const { messages } = await lab.merged(realmId, records);
    expect(messages).toBe(466);
    expect((await visible()).map(({ name }) => name)).toEqual(['General (2)', 'general', 'secret']);
    const all = await lab.messagesFor(ann, inChannel('General (2)'));
    expect(all.length).toBe(504);
    expect(all.map(({ timestamp }) => timestamp)).toEqual(
      [...all.map(({ timestamp }) => timestamp)].sort((a, b) => a - b),
    );
    expect(all.every(({ flags }) => flags.includes('read'))).toBe(true);
  });

  it('adds custom emoji without new people', async () => {
    const { realmId } = await living();
    await lab.merged(realmId, HISTORY);
    const later = [...HISTORY, { kind: 'emoji', id: 'e2', name: 'tiger', file: 'cat', source: 'test:2' } as const];
    await lab.merged(realmId, later);
    const emoji = await server.storage.uow.read(realmId, ({ customEmoji }) => customEmoji.list(realmId));
    expect(emoji.map(({ name }) => name)).toEqual(['cat', 'tiger']);
  });

  it('reaches the same state when imports and undos are killed after any number of steps', async () => {
    const { uow } = server.storage;
    const write = uow.write.bind(uow);
    /** Returns false if the work was killed. */
    const survives = async (steps: number, work: () => Promise<unknown>) => {
      let left = steps;
      const units = jest.spyOn(uow, 'write').mockImplementation(async (...unit) => {
        if (left-- === 0) throw new Error('killed');
        return write(...unit);
      });
      try {
        await work();
        return true;
      } catch (error) {
        if ((error as Error).message !== 'killed') throw error;
        return false;
      } finally {
        units.mockRestore();
      }
    };
    const unkilled = (await lab.imported(LIVING, { stringId: 'other' })).realm.id;
    const { realmId: killed } = await living();
    const undoLast = async (id: RealmId) => lab.undo(id, { batchId: (await lab.batches(id)).at(-1)!.id });
    const works = [
      (id: RealmId) => lab.merged(id, HISTORY, { claimBy: ['host'] }),
      (id: RealmId) => lab.merged(id, LATER, { claimBy: ['host'] }),
      (id: RealmId) => undoLast(id),
    ];
    for (const work of works) {
      await work(unkilled);
      let steps = 1;
      while (!(await survives(steps, () => work(killed)))) steps++;
      expect(await lab.stateOf(killed)).toEqual(await lab.stateOf(unkilled));
    }
  });

  it('refuses an import while another one of the same source or an undo runs', async () => {
    const { realmId, ann } = await living();
    const outcomes = async (...imports: Promise<unknown>[]) =>
      (await Promise.allSettled(imports))
        .map((each) => (each.status === 'rejected' ? each.reason.code : 'done'))
        .sort();
    expect(await outcomes(lab.merged(realmId, HISTORY), lab.merged(realmId, HISTORY))).toEqual([
      'IMPORT_RUNNING',
      'done',
    ]);
    const many = Array.from({ length: 500 }, (_, n) => message(`x${n}`, 'ann', 200 + n, `number ${n}`));
    const records = [...HISTORY, ...many].map((record) => ({ ...record, source: 'test:2' }));
    const onProgress = () => {
      throw new Error('killed');
    };
    await expect(lab.merged(realmId, records, { onProgress })).rejects.toThrow('killed');
    // Both continue the killed import.
    expect(await outcomes(lab.merged(realmId, records), lab.merged(realmId, records))).toEqual([
      'IMPORT_RUNNING',
      'done',
    ]);
    expect((await lab.messagesFor(ann, inChannel('General (2)'))).length).toBe(504);

    const { id } = (await lab.batches(realmId)).at(-1)!;
    await server.storage.uow.write(realmId, async (tx) => {
      await tx.importBatches.update({ ...(await tx.importBatches.find(realmId, id))!, status: 'undoing' });
    });
    for (const source of ['test:2', 'test:3']) {
      const other = HISTORY.map((record) => ({ ...record, source }));
      await expect(lab.merged(realmId, other)).rejects.toMatchObject({ code: 'UNDO_UNFINISHED' });
    }
  });

  it('ends event queues, so that clients load the new objects', async () => {
    const { realmId, ann } = await living();
    const { queue_id } = fieldsOf(await server.request('POST', '/register', { as: ann, realm: 'acme' })) as Wire;
    await lab.merged(realmId, HISTORY);
    const poll = { as: ann, realm: 'acme', params: { queue_id, last_event_id: -1, dont_block: true } };
    expect((await server.request('GET', '/events', poll)).body).toMatchObject({ code: 'BAD_EVENT_QUEUE_ID' });
    const again = fieldsOf(await server.request('POST', '/register', { as: ann, realm: 'acme' })) as Wire;
    const polled = { ...poll.params, queue_id: again.queue_id };
    expect((await server.request('GET', '/events', { ...poll, params: polled })).body).toMatchObject({ events: [] });
  });

  it('undoes one import of an organization, or cancels it while it runs', async () => {
    const { realmId, ann } = await living();
    const before = await lab.messagesFor(ann);
    await lab.merged(realmId, HISTORY);
    const [, second] = await lab.batches(realmId);
    const { uow } = server.storage;
    const archived: number[] = [];
    const onProgress = async () => {
      const channels = await uow.read(realmId, (reads) => reads.channels.listAll(realmId));
      archived.push(channels.filter(({ isArchived }) => isArchived).length);
    };
    expect(await lab.undo(realmId, { batchId: second!.id, onProgress })).toMatchObject({
      removed: 6,
      kept: 0,
      archivedChannels: 2,
    });
    // Progress is reported after channels are archived, too.
    expect(archived.at(-1)).toBe(2);
    expect(await lab.messagesFor(ann)).toEqual(before);
    let undone: Promise<unknown> | undefined;
    const records = [...HISTORY, ...Array.from({ length: 500 }, (_, n) => message(`x${n}`, 'ann', 200 + n, `${n}`))];
    const cancelled = lab.merged(
      realmId,
      records.map((record) => ({ ...record, source: 'test:2' })),
      {
        onProgress: () => {
          undone ??= lab.batches(realmId).then((batches) => lab.undo(realmId, { batchId: batches.at(-1)!.id }));
        },
      },
    );
    await expect(cancelled).rejects.toMatchObject({ code: 'IMPORT_CANCELLED' });
    await undone;
    expect((await lab.batches(realmId)).map(({ status }) => status)).toEqual(['complete', 'undone', 'undone']);
    expect(await lab.messagesFor(ann)).toEqual(before);
    await lab.merged(realmId, HISTORY);
    expect((await lab.messagesFor(ann, inChannel('General (2)'))).length).toBe(4);
  });

  it('archives the channels again when a repeated import is undone', async () => {
    const { realmId } = await living();
    const undoLast = async () => lab.undo(realmId, { batchId: (await lab.batches(realmId)).at(-1)!.id });
    for (let times = 0; times < 3; times++) {
      await lab.merged(realmId, HISTORY);
      expect(await undoLast()).toMatchObject({ kept: 0, archivedChannels: 2 });
    }
  });

  it('imports and undoes everything once if the storage rolls back and repeats each unit of work', async () => {
    const { uow } = server.storage;
    const states: object[] = [];
    const later = LATER.map((record) => (record.id === 's' ? { ...record, members: ['ann', 'bob'] } : record));
    for (const isRepeated of [false, true]) {
      const write = uow.write.bind(uow);
      const units = jest.spyOn(uow, 'write').mockImplementation(async (realmId, work, options) => {
        const conflicting = async (tx: Transaction) => {
          await work(tx);
          throw new Error('conflict');
        };
        if (isRepeated) await expect(write(realmId, conflicting)).rejects.toThrow('conflict');
        return write(realmId, work, options);
      });
      const { realm } = await lab.imported(LIVING, { stringId: `acme${Number(isRepeated)}` });
      await lab.merged(realm.id, HISTORY);
      await lab.merged(realm.id, later);
      states.push(await lab.stateOf(realm.id));
      const undone = await lab.undo(realm.id, { batchId: (await lab.batches(realm.id)).at(-1)!.id });
      expect(undone).toMatchObject({ removed: 6, kept: 0, archivedChannels: 1, memberships: 2 });
      expect(undone.revertedMemberships.map(({ isMember }) => isMember)).toEqual([false, true]);
      units.mockRestore();
      states.push(await lab.stateOf(realm.id));
    }
    expect(states.slice(2)).toEqual(states.slice(0, 2));
  });

  it('publishes no channel of an import that was cancelled after its last message', async () => {
    const { realmId, ann } = await living();
    const beforeChanges = async () => lab.undo(realmId, { batchId: (await lab.batches(realmId)).at(-1)!.id });
    await expect(lab.merged(realmId, HISTORY, { beforeChanges })).rejects.toMatchObject({ code: 'IMPORT_CANCELLED' });
    const channels = (await channelsOf(ann)).filter(({ is_archived }) => !is_archived);
    expect(channels.map(({ name }) => name)).toEqual(['general']);
  });

  describe('a newer export with damaged or missing parts', () => {
    const from = (records: TestRecords) => records.map((record) => ({ ...record, source: 'test:2' }));
    const DAY = 86_400;
    const more: TestRecords = [
      ...BASE,
      ...[1, 2, 3].map((day) => message(`c${day}`, 'ann', day * DAY, `day ${day}`)),
      ...[1, 2, 3].map(
        (day) => ({ ...message(`s${day}`, 'bob', day * DAY, 'psst'), channel: 's' }) as TestRecords[number],
      ),
    ];
    const without = (...ids: readonly string[]) => more.filter(({ id }) => !ids.includes(id));
    const gap = (where: object): TestRecords[number] => ({
      ...{ kind: 'skipped', id: 'general.json:7', type: 'damaged', reason: 'It is cut off', gap: where },
    });

    it.each<[string, object, number]>([
      ['anywhere', {}, 0],
      ['in their conversation', { channel: 'c' }, 1],
      ['in their conversation at their time', { channel: 'c', from: DAY, until: 2 * DAY }, 1],
      ['in their conversation at another time', { channel: 'c', from: 2 * DAY + 1 }, 2],
      ['in an unknown conversation', { channel: 'x' }, 2],
    ])('keeps the missing messages if the damage is %s', async (_, where, deleted) => {
      const { realmId } = await living();
      await lab.merged(realmId, from(more));
      const { changes, summary } = await lab.merged(realmId, from([...without('c2', 's2'), gap(where)]));
      expect(changes.deleted).toBe(deleted);
      const lines = reportLines(summary).filter((line) => line.includes('It is cut off') && line.includes(' in '));
      expect(lines.map((line) => line.trim())).toEqual(
        ['General (2)', 'secret']
          .slice(0, 2 - deleted)
          .map((channel) => `1 in ${channel}: general.json:7: It is cut off`),
      );
    });

    it('keeps messages of days without a file, and deletes others', async () => {
      const { realmId, ann } = await living();
      const organization = { kind: 'organization', id: 'o', name: 'Acme', messageFiles: 'days' } as const;
      await lab.merged(realmId, from([organization, ...more, message('c4', 'ann', 2 * DAY + 5, 'same day')]));
      const days = await lab.merged(
        realmId,
        from([organization, ...without('c2', 's2'), message('c4', 'ann', 2 * DAY + 5, 'same day')]),
      );
      expect(days.changes.deleted).toBe(1);
      expect(days.summary.keptMissing).toEqual([
        { channel: 'secret', reason: 'no messages of 1970-01-03', messages: 1 },
      ]);
      expect((await lab.messagesFor(ann, inChannel('General (2)'))).map(textOf)).not.toContain('day 2');
    });

    it('keeps messages of threads without a file, also in renamed topics, and deletes others', async () => {
      const { realmId, ann } = await living();
      const organization = { kind: 'organization', id: 'o', name: 'Acme', messageFiles: 'threads' } as const;
      const thread = (id: string, names: readonly string[]) => [
        { kind: 'thread', id, channel: 'c', name: id } as const,
        ...names.map((name, n) => message(name, 'ann', 200 + n, name, { thread: id })),
      ];
      const kept = ['a1', 'a2', 'a3'];
      await lab.merged(
        realmId,
        from([organization, ...more, ...thread('plans', kept), ...thread('news', ['n1', 'n2'])]),
      );
      const [first] = (await lab.messagesFor(ann, inChannel('General (2)'))).filter(
        ({ subject }) => subject === 'plans',
      );
      const params = { topic: 'renamed', propagate_mode: 'change_all' };
      const renamed = await server.request('PATCH', `/messages/${first.id}`, { as: ann, realm: 'acme', params });
      expect(renamed.status).toBe(200);
      const newer = [organization, ...more, ...thread('plans', kept).filter(({ id }) => id !== 'a2')];
      const { changes, summary } = await lab.merged(realmId, from(newer));
      expect(changes.deleted + changes.kept).toBe(1);
      expect(summary.keptMissing).toEqual([
        { channel: 'General (2)', reason: 'no later messages in “news”', messages: 2 },
      ]);
    });

    it('deletes nothing before the export if a message has no time', async () => {
      const { realmId } = await living();
      await lab.merged(realmId, from(more));
      const { changes } = await lab.merged(
        realmId,
        from([...without('m1', 'm2', 'm3', 'r1', 'c1'), message('x', 'ann', 1, '?')]),
      );
      expect(changes.deleted).toBe(0);
    });

    it('adds no channel that the export does not describe, and leaves an earlier one as it is', async () => {
      const { realmId, ann } = await living();
      await lab.merged(realmId, from(BASE));
      const unlisted = (id: string, author: string) =>
        ({ kind: 'channel', id, name: 'x', privacy: 'private', members: [author], isUnlisted: true }) as const;
      const newer = [
        ...BASE.filter(({ kind }) => kind !== 'channel'),
        ...[
          unlisted('c', 'ann'),
          unlisted('folder:s', 'bob'),
          { ...message('f1', 'bob', 150, 'psst'), channel: 'folder:s' },
        ],
        message('m6', 'ann', 150, 'new'),
      ] as TestRecords;
      const before = await channelsOf(ann);
      const { channels, changes, summary } = await lab.merged(realmId, from(newer));
      expect({ channels, ...changes }).toMatchObject({ channels: 0, deleted: 0 });
      expect(await channelsOf(ann)).toEqual(before);
      expect(summary.members).toEqual([]);
      expect((await lab.messagesFor(ann, inChannel('General (2)'))).map(textOf)).toContain('new');
    });

    it('refuses an export that does not name its server, unlike an earlier import', async () => {
      const { realmId } = await living();
      await lab.merged(realmId, from(BASE));
      const nameless = BASE.map((record) => ({ ...record, source: 'test' }));
      await expect(lab.merged(realmId, nameless)).rejects.toThrow('An earlier import is from test:1.');
    });
  });

  it('applies edits and deletions in the source, and keeps messages that people changed in Parley', async () => {
    const { realmId, ann } = await living();
    const more: TestRecords = [
      ...BASE,
      ...['a', 'b', 'c', 'd', 'e', 'f'].map((id, n) => message(id, 'ann', 200 + n, `text ${id}`)),
    ];
    const from = (records: TestRecords) => records.map((record) => ({ ...record, source: 'test:2' }));
    await lab.merged(realmId, from(more));
    // Another source uses the same ids.
    await lab.merged(realmId, more);
    const texts = async () => (await lab.messagesFor(ann, inChannel('General (2)'))).map(textOf);
    const [, , , , , b, , , e] = await lab.messagesFor(ann, inChannel('General (2)'));
    for (const { id } of [b, e]) {
      const params = { emoji_name: 'tada' };
      const reacted = await server.request('POST', `/messages/${id}/reactions`, { as: ann, realm: 'acme', params });
      expect(reacted.status).toBe(200);
    }
    // Messages c and e are missing between others; f, the last one, may be missing because the export is older.
    const changed: TestRecords = [
      ...more
        .filter(({ kind, id }) => kind !== 'message' || !['c', 'e', 'f'].includes(id))
        .map((record) =>
          record.kind === 'message' && ['a', 'b', 'm3'].includes(record.id)
            ? { ...record, content: `new ${record.id}`, editedAt: 300 }
            : record,
        ),
      { kind: 'deletion', id: 'x', message: 'd' },
      message('g', 'ann', 204, 'text g'),
      { kind: 'reaction', id: 'r2', message: 'm1', person: 'bob', emoji: '+1' },
      { kind: 'edit', id: 'h', message: 'm3', at: 300, previous: 'built' },
    ];
    const { changes, messages, summary } = await lab.merged(realmId, from(changed));
    expect(reportLines(summary)).toContain('Messages of earlier imports that the source deleted: 3');
    expect({ ...changes, messages }).toMatchObject({ changed: 3, deleted: 2, kept: 2, messages: 1 });
    expect(changes.keptMessages.map(({ id, reason }) => [id, reason])).toEqual([
      [b.id, 'reaction'],
      [e.id, 'reaction'],
    ]);
    expect((await texts()).slice(3)).toEqual(['new m3\nplan.txt', 'new a', 'text b', 'text e', 'text f', 'text g']);
    const [lunch, , , built, a] = await lab.messagesFor(ann, inChannel('General (2)'));
    expect(lunch.reactions.map(({ emoji_name }: Wire) => emoji_name)).toEqual(['cat', '+1']);
    expect(a.edit_history.map(({ prev_content }: Wire) => prev_content)).toEqual(['text a']);
    const [, path] = /href="(\/user_uploads\/[^"]*plan\.txt)"/.exec(built.content)!;
    expect((await server.request('GET', `/${path}`, { as: ann, realm: 'acme' })).status).toBe(200);

    expect((await lab.messagesFor(ann, inChannel('General (3)'))).map(textOf).slice(4)).toEqual(
      ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => `text ${id}`),
    );

    const before = [await lab.messagesFor(ann), await lab.batches(realmId)];
    expect(await lab.merged(realmId, from(changed))).toMatchObject({ batch: null });
    expect([await lab.messagesFor(ann), await lab.batches(realmId)]).toEqual(before);
  });
});
