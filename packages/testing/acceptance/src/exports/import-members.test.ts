import type { RealmId } from '@parley/domain/kernel';
import { reportLines } from '@parley/import-plan';
import type { TestRecords } from '@parley/import-plan/testing';
import { RealmReader } from '@parley/transfer/exports';
import { MergePlaceholder } from '@parley/transfer/imports';
import { fieldsOf, type Wire } from '../testing/expectations.js';
import { labPerTest, messageRecord as message, personRecord as person } from '../testing/import-lab.js';
import type { TestUser } from '../testing/test-server.js';

const { lab, server } = labPerTest();

interface Channel {
  readonly members: readonly string[];
  readonly privacy?: 'public' | 'private';
  readonly hasMoreMembers?: boolean;
}

/** Export with the channels `c` (open) and `s` (secret). */
const exported = (open: Channel, secret: Channel, ...more: TestRecords): TestRecords =>
  [
    ...[person('ann', { role: 'owner' }), person('bob'), person('dora')],
    { kind: 'person', id: 'cleo', name: 'Cleo' } as const,
    { kind: 'channel', id: 'c', name: 'open', privacy: 'public', ...open } as const,
    { kind: 'channel', id: 's', name: 'secret', privacy: 'private', ...secret } as const,
    message('m1', 'ann', 100, 'hello'),
    message('m2', 'bob', 110, 'psst', { channel: 's' }),
    ...more,
  ].map((record) => ({ ...record, source: 'test:2' }));

const FIRST = exported({ members: ['ann', 'bob', 'cleo', 'dora'] }, { members: ['bob', 'cleo', 'dora'] });
const [ann, bob, dora] = ['ann', 'bob', 'dora'].map((id) => `${id}@acme.example`) as [string, string, string];

async function first(records = FIRST): Promise<RealmId> {
  const { realm } = await lab.imported(records);
  return realm.id;
}

/** Returns the first names of a channel's subscribers, including placeholders. */
async function subscribersOf(realmId: RealmId, channel: string): Promise<readonly string[]> {
  const { realm, people } = await server.parley.useCase(RealmReader).open(realmId, { covers: 'all' });
  const { id } = realm.channels.find(({ name }) => name === channel)!;
  const names = new Map(realm.users.map(({ user }) => [user.id, user.fullName.split(' ')[0]!]));
  const subscribers: string[] = [];
  for await (const { userId, subscriptions } of people()) {
    if (subscriptions.some(({ channelId, isActive }) => channelId === id && isActive))
      subscribers.push(names.get(userId)!);
  }
  return subscribers.sort();
}

const textsFor = async (as: TestUser, channel: string) =>
  (await lab.messagesFor(as, [{ operator: 'channel', operand: channel }])).map(({ content, flags }) => [
    content.replace(/<[^>]*>/g, ''),
    flags,
  ]);

/** Subscribes people to a channel, or unsubscribes the user, over the API. */
async function subscribe(as: TestUser, channel: string, principals: readonly string[]): Promise<void> {
  const params = { subscriptions: [{ name: channel }], principals };
  fieldsOf(await server.request('POST', '/users/me/subscriptions', { as, realm: 'acme', params }));
}
async function unsubscribe(as: TestUser, channel: string): Promise<void> {
  const params = { subscriptions: [channel] };
  fieldsOf(await server.request('DELETE', '/users/me/subscriptions', { as, realm: 'acme', params }));
}

async function verified(realmId: RealmId, records: TestRecords) {
  const { differences, added } = await lab.verify(realmId, records, (await lab.batches(realmId)).at(-1)!.id);
  return { differences, added: added.map(({ person: name, channel }) => [name, channel]) };
}

describe('members of channels in a newer export', () => {
  const LATER = exported(
    { members: ['ann', 'bob', 'cleo', 'dora'] },
    { members: ['ann', 'cleo', 'dora'] },
    message('m3', 'dora', 120, 'only for members', { channel: 's' }),
  );

  it('unsubscribes members who are deactivated in the source, and reports who still reads new messages', async () => {
    const realmId = await first();
    const bobUser = await lab.signIn(realmId, bob);
    const open = { members: ['ann', 'bob', 'cleo', 'dora'] };
    const later = exported(
      open,
      { members: ['bob', 'cleo', 'dora'] },
      message('m3', 'dora', 120, 'only for members', { channel: 's' }),
    ).map((record) => (record.id === 'bob' ? { ...record, isDeactivated: true } : record)) as TestRecords;
    const more: TestRecords = [
      message('m4', 'ann', 130, 'to all'),
      { kind: 'channel', id: 'n', name: 'crew', privacy: 'private', members: ['bob', 'dora'] },
    ];
    const added = more.map((record) => ({ ...record, source: 'test:2' })) as TestRecords;
    const { summary } = await lab.merged(realmId, later);
    expect(await textsFor(bobUser, 'secret')).toEqual([]);
    expect(await subscribersOf(realmId, 'open')).toEqual(['Cleo', 'ann', 'dora']);
    expect(reportLines(summary)).toEqual(
      expect.arrayContaining(['  secret: left: bob of Acme', 'Nobody gains access to a conversation by the import.']),
    );
    expect((await lab.merged(realmId, later)).batch).toBeNull();
    const next = await lab.merged(realmId, [...later, ...added]);
    expect(await subscribersOf(realmId, 'crew')).toEqual(['dora']);
    expect(reportLines(next.summary)).toEqual(
      expect.arrayContaining(['  bob of Acme', 'Nobody else gains access to a conversation by the import.']),
    );
  });

  it('subscribes people who joined, and unsubscribes people who left before new messages arrive', async () => {
    const realmId = await first();
    const [annUser, bobUser] = [await lab.signIn(realmId, ann), await lab.signIn(realmId, bob)];
    expect(await textsFor(bobUser, 'secret')).toEqual([['psst', ['read']]]);
    const readable: (readonly unknown[])[] = [];
    const { summary, messages } = await lab.merged(realmId, LATER, {
      onProgress: () => readable.push([]),
      beforeChanges: async () => readable.push(await textsFor(bobUser, 'secret')),
    });
    expect(messages).toBe(1);
    expect(readable.at(-1)).toEqual([]);
    expect(reportLines(summary)).toEqual(
      expect.arrayContaining([
        'Members of earlier imported channels:',
        '  secret: joined: ann of Acme; left: bob of Acme',
      ]),
    );
    expect(await subscribersOf(realmId, 'secret')).toEqual(['Cleo', 'ann', 'dora']);
    expect(await textsFor(bobUser, 'secret')).toEqual([]);
    expect(await textsFor(annUser, 'secret')).toEqual([
      ['psst', ['read']],
      ['only for members', ['read']],
    ]);
    expect((await lab.messagesFor(annUser, [{ operator: 'is', operand: 'unread' }])).length).toBe(0);
    expect(await verified(realmId, LATER)).toEqual({ differences: [], added: [] });
  });

  it('reports other members than in the export', async () => {
    const realmId = await first();
    expect(await verified(realmId, LATER)).toMatchObject({
      differences: [
        { kind: 'members', difference: 'differs in the export', count: 1, examples: ['s'] },
        { kind: 'message', difference: 'not in the import', examples: ['m3'] },
      ],
      added: [['bob of Acme', 'secret']],
    });
  });

  it('changes nothing when the newer export is imported again', async () => {
    const realmId = await first();
    await lab.merged(realmId, LATER);
    const bobUser = await lab.signIn(realmId, bob);
    const { batch, summary } = await lab.merged(realmId, LATER);
    expect(batch).toBeNull();
    expect(summary.members).toEqual([]);
    expect(await textsFor(bobUser, 'secret')).toEqual([]);
  });

  it('applies changes of members without new messages', async () => {
    const realmId = await first();
    const { batch } = await lab.merged(realmId, exported({ members: ['ann', 'bob'] }, { members: ['bob'] }));
    expect(batch).not.toBeNull();
    expect(await subscribersOf(realmId, 'open')).toEqual(['ann', 'bob']);
    expect(await subscribersOf(realmId, 'secret')).toEqual(['bob']);
  });

  it('keeps subscriptions that people ended or made in Parley', async () => {
    const realmId = await first();
    const [annUser, doraUser] = [await lab.signIn(realmId, ann), await lab.signIn(realmId, dora)];
    await unsubscribe(doraUser, 'open');
    await subscribe(doraUser, 'secret', [ann]);
    // Dora stays unsubscribed, although other members of the channel changed.
    await lab.merged(
      realmId,
      exported({ members: ['ann', 'cleo', 'dora'] }, { members: ['ann', 'bob', 'cleo', 'dora'] }),
    );
    expect(await subscribersOf(realmId, 'open')).toEqual(['Cleo', 'ann']);
    // People subscribed Ann in Parley, and the source followed.
    const left = exported({ members: ['ann', 'cleo', 'dora'] }, { members: ['bob', 'cleo', 'dora'] });
    const { summary } = await lab.merged(realmId, left);
    expect(reportLines(summary)).toContain('  secret: left, but stay because people added them in Parley: ann of Acme');
    expect(await subscribersOf(realmId, 'secret')).toEqual(['Cleo', 'ann', 'bob', 'dora']);
    expect(await textsFor(annUser, 'secret')).toMatchObject([['psst', expect.anything()]]);
    expect(await verified(realmId, left)).toEqual({ differences: [], added: [['ann of Acme', 'secret']] });
    expect((await lab.merged(realmId, left)).batch).toBeNull();
  });

  it('subscribes people who left the source and joined again', async () => {
    const realmId = await first();
    await lab.merged(realmId, LATER);
    await lab.merged(realmId, exported({ members: ['ann'] }, { members: ['bob'] }));
    expect(await subscribersOf(realmId, 'secret')).toEqual(['bob']);
    expect((await textsFor(await lab.signIn(realmId, bob), 'secret')).map(([text]) => text)).toContain('psst');
  });

  it('makes a channel private that became private in the source', async () => {
    const realmId = await first();
    const doraUser = await lab.signIn(realmId, dora);
    const closed = exported(
      { members: ['ann', 'bob'], privacy: 'private' },
      { members: ['bob', 'cleo', 'dora'] },
      message('m3', 'ann', 120, 'now private'),
    );
    const { summary } = await lab.merged(realmId, closed);
    expect(reportLines(summary)).toContain('  open: becomes private; left: dora of Acme, Cleo');
    expect(await textsFor(doraUser, 'open')).toEqual([]);
    expect(await verified(realmId, closed)).toEqual({ differences: [], added: [] });
  });

  it('gives people who joined no earlier messages of channels with a protected history in Parley', async () => {
    const realmId = await first();
    const [annUser, bobUser] = [await lab.signIn(realmId, ann), await lab.signIn(realmId, bob)];
    await server.storage.uow.write(realmId, async (tx) => {
      const secret = (await tx.channels.listViewsWhere(realmId, ({ name }) => name === 'secret'))[0]!;
      const channel = (await tx.channels.find(realmId, secret.id))!;
      await tx.channels.update({ ...channel, privacy: 'privateProtectedHistory' });
    });
    const params = { type: 'stream', to: 'secret', topic: 'x', content: 'before Ann joined' };
    fieldsOf(await server.request('POST', '/messages', { as: bobUser, realm: 'acme', params }));
    await lab.merged(realmId, LATER);
    expect(await subscribersOf(realmId, 'secret')).toEqual(['Cleo', 'ann', 'dora']);
    expect(await textsFor(annUser, 'secret')).toEqual([['only for members', ['read']]]);
  });

  it('keeps the members and the privacy of channels without a complete list of members', async () => {
    const realmId = await first();
    await lab.merged(
      realmId,
      exported(
        { members: ['ann'], privacy: 'private', hasMoreMembers: true },
        { members: ['ann'], hasMoreMembers: true },
      ),
    );
    expect(await subscribersOf(realmId, 'open')).toEqual(['Cleo', 'ann', 'bob', 'dora']);
    expect(await subscribersOf(realmId, 'secret')).toEqual(['Cleo', 'ann', 'bob', 'dora']);
    const { realm } = await server.parley.useCase(RealmReader).open(realmId, { covers: 'all' });
    expect(realm.channels.find(({ name }) => name === 'open')!.privacy).toBe('public');
  });

  it('puts subscriptions back when the newer import is undone', async () => {
    const realmId = await first();
    await lab.merged(realmId, LATER);
    const { realm } = await server.parley.useCase(RealmReader).open(realmId, { covers: 'all' });
    const idOf = (name: string) => realm.users.find(({ user }) => user.fullName.startsWith(name))!.user.id;
    const channelId = realm.channels.find(({ name }) => name === 'secret')!.id;
    const expected = {
      memberships: 2,
      revertedMemberships: [
        { channelId, groupId: null, userId: idOf('ann'), isMember: false },
        { channelId, groupId: null, userId: idOf('bob'), isMember: true },
      ],
    };
    const batchId = (await lab.batches(realmId)).at(-1)!.id;
    expect(await lab.undo(realmId, { batchId, isDryRun: true })).toMatchObject(expected);
    expect(await subscribersOf(realmId, 'secret')).toEqual(['Cleo', 'ann', 'dora']);
    const states: (readonly string[])[] = [];
    const onProgress = async () => states.push(await subscribersOf(realmId, 'secret'));
    expect(await lab.undo(realmId, { batchId, onProgress })).toMatchObject(expected);
    expect(await subscribersOf(realmId, 'secret')).toEqual(['Cleo', 'bob', 'dora']);
    // Renews the lease of the background job.
    expect(states).toContainEqual(['Cleo', 'bob', 'dora']);
    // The same export applies again.
    await lab.merged(realmId, LATER);
    expect(await subscribersOf(realmId, 'secret')).toEqual(['Cleo', 'ann', 'dora']);
  });

  it('keeps the members of channels when their import is undone and repeated twice', async () => {
    const realmId = await first();
    const undoLast = async () => lab.undo(realmId, { batchId: (await lab.batches(realmId)).at(-1)!.id });
    await undoLast();
    await lab.merged(realmId, FIRST);
    await undoLast();
    await lab.merged(realmId, LATER);
    expect(await subscribersOf(realmId, 'secret')).toEqual(['Cleo', 'ann', 'dora']);
  });

  it('delivers nothing to deactivated members of a channel whose import is undone and repeated', async () => {
    const realmId = await first();
    const [annUser, doraUser] = [await lab.signIn(realmId, ann), await lab.signIn(realmId, dora)];
    const asOwner = (method: 'DELETE' | 'POST', path: string) =>
      server.request(method, `/users/${doraUser.id}${path}`, { as: annUser, realm: 'acme' });
    fieldsOf(await asOwner('DELETE', ''));
    await lab.undo(realmId);
    await lab.merged(realmId, FIRST);
    fieldsOf(await asOwner('POST', '/reactivate'));
    expect(await textsFor(await lab.signIn(realmId, dora), 'secret')).toEqual([['psst', ['read', 'historical']]]);
  });

  it('unsubscribes the user that a former member was merged into', async () => {
    const realmId = await first(exported({ members: ['ann', 'bob', 'cleo'] }, { members: ['cleo', 'dora'] }));
    const { realm } = await server.parley.useCase(RealmReader).open(realmId, { covers: 'all' });
    const idOf = (name: string) => realm.users.find(({ user }) => user.fullName.startsWith(name))!.user.id;
    const input = { realmId, placeholderId: idOf('Cleo'), userId: idOf('ann'), isDryRun: false };
    await server.parley.useCase(MergePlaceholder).execute(input);
    expect(await subscribersOf(realmId, 'secret')).toEqual(['Cleo', 'ann', 'dora']);
    const left = exported({ members: ['ann', 'bob'] }, { members: ['dora'] });
    await lab.merged(realmId, left);
    expect(await subscribersOf(realmId, 'secret')).toEqual(['dora']);
    // Ann is a member herself.
    expect(await subscribersOf(realmId, 'open')).toEqual(['ann', 'bob']);
  });

  it('continues after it was killed at any step', async () => {
    const realmId = await first();
    const { uow } = server.storage;
    const write = uow.write.bind(uow);
    const repeat = async (work: () => Promise<unknown>) => {
      for (let steps = 0, isKilled = true; isKilled; steps++) {
        let left = steps;
        isKilled = false;
        const units = jest.spyOn(uow, 'write').mockImplementation(async (...unit) => {
          if (left-- <= 0) throw new Error('killed');
          return write(...unit);
        });
        await work().catch((error: Error) => {
          if (error.message !== 'killed') throw error;
          isKilled = true;
        });
        units.mockRestore();
      }
    };
    await repeat(() => lab.merged(realmId, LATER));
    expect(await subscribersOf(realmId, 'secret')).toEqual(['Cleo', 'ann', 'dora']);
    await repeat(async () => lab.undo(realmId, { batchId: (await lab.batches(realmId)).at(-1)!.id }));
    expect(await subscribersOf(realmId, 'secret')).toEqual(['Cleo', 'bob', 'dora']);
  });
});

describe('members of groups in a newer export', () => {
  const OPEN = { members: ['ann', 'bob', 'cleo', 'dora'] };
  const withGroup = (...members: string[]) =>
    exported(OPEN, OPEN, { kind: 'group', id: 'g', name: 'makers', members, source: 'test:2' } as never);

  async function membersOf(realmId: RealmId): Promise<readonly string[]> {
    const { groups } = await lab.stateOf(realmId);
    return groups.find(([name]) => name === 'makers')![1] as readonly string[];
  }

  async function change(realmId: RealmId, params: Readonly<Record<string, unknown>>): Promise<void> {
    const { realm } = await server.parley.useCase(RealmReader).open(realmId, { covers: 'all' });
    const { id } = realm.groups.find(({ name }) => name === 'makers')!;
    const as = await lab.signIn(realmId, ann);
    fieldsOf(await server.request('POST', `/user_groups/${id}/members`, { as, realm: 'acme', params }));
  }

  it('are added and removed, visibly for clients, and put back when the import is undone', async () => {
    const realmId = await first(withGroup('ann', 'cleo'));
    const as = await lab.signIn(realmId, ann);
    const { queue_id } = fieldsOf(await server.request('POST', '/register', { as, realm: 'acme' })) as never;
    const received: object[] = [];
    const { summary } = await lab.merged(realmId, withGroup('bob', 'cleo'), {
      beforeChanges: async () => {
        const params = { queue_id, last_event_id: -1, dont_block: true };
        received.push(
          ...(fieldsOf(await server.request('GET', '/events', { as, realm: 'acme', params })) as Wire).events,
        );
      },
    });
    expect(received).toMatchObject([
      { type: 'user_group', op: 'remove_members' },
      { type: 'user_group', op: 'add_members' },
    ]);
    expect(reportLines(summary)).toEqual(
      expect.arrayContaining([
        'Members of earlier imported groups:',
        '  makers: joined: bob of Acme; left: ann of Acme',
      ]),
    );
    expect(await membersOf(realmId)).toEqual(['Cleo', 'bob of Acme']);
    expect((await lab.merged(realmId, withGroup('bob', 'cleo'))).batch).toBeNull();
    expect(await verified(realmId, withGroup('bob', 'cleo'))).toEqual({ differences: [], added: [] });
    expect((await verified(realmId, withGroup('bob'))).differences).toMatchObject([
      { kind: 'groupMembers', difference: 'differs in the export', examples: ['g'] },
    ]);
    const batchId = (await lab.batches(realmId)).at(-1)!.id;
    const { revertedMemberships } = await lab.undo(realmId, { batchId, isDryRun: true });
    expect(revertedMemberships).toMatchObject([
      { channelId: null, isMember: true },
      { channelId: null, isMember: false },
    ]);
    expect(await membersOf(realmId)).toEqual(['Cleo', 'bob of Acme']);
    await lab.undo(realmId, { batchId });
    expect(await membersOf(realmId)).toEqual(['Cleo', 'ann of Acme']);
  });

  it('stay as people changed them in Parley', async () => {
    const realmId = await first(withGroup('ann', 'dora'));
    const { realm } = await server.parley.useCase(RealmReader).open(realmId, { covers: 'all' });
    const idOf = (name: string) => realm.users.find(({ user }) => user.fullName.startsWith(name))!.user.id;
    await change(realmId, { add: [idOf('bob')], delete: [idOf('dora')] });
    await lab.merged(realmId, withGroup('ann', 'bob', 'cleo', 'dora'));
    expect(await membersOf(realmId)).toEqual(['Cleo', 'ann of Acme', 'bob of Acme']);
    const { summary } = await lab.merged(realmId, withGroup('dora'));
    expect(reportLines(summary)).toContain(
      '  makers: left: ann of Acme, Cleo; left, but stay because people added them in Parley: bob of Acme',
    );
    expect(await membersOf(realmId)).toEqual(['bob of Acme']);
  });

  it('stay if the source lists only some of them', async () => {
    const realmId = await first(withGroup('ann', 'dora'));
    const partial = withGroup('bob').map((each) => (each.kind === 'group' ? { ...each, hasMoreMembers: true } : each));
    await lab.merged(realmId, partial as TestRecords);
    expect(await membersOf(realmId)).toEqual(['ann of Acme', 'bob of Acme', 'dora of Acme']);
  });

  it('are remembered if an import into an existing organization adds the group', async () => {
    const { realm } = await lab.imported([person('ann', { role: 'owner' }), person('bob')] as TestRecords);
    await lab.merged(realm.id, withGroup('ann', 'cleo'));
    await lab.merged(realm.id, withGroup('cleo', 'dora'));
    expect(await membersOf(realm.id)).toEqual(['Cleo', 'dora of Acme']);
  });
});

it('lists the members of channels that an import into an existing organization adds', async () => {
  const { realm } = await lab.imported([person('ann', { role: 'owner' }), person('bob')] as TestRecords);
  await lab.merged(realm.id, FIRST);
  await lab.merged(realm.id, exported({ members: ['bob'] }, { members: ['dora'] }));
  expect(await subscribersOf(realm.id, 'open')).toEqual(['bob']);
  expect(await subscribersOf(realm.id, 'secret')).toEqual(['dora']);
});
