import type { RealmId, UserId } from '@parley/domain/kernel';
import type { TestRecords } from '@parley/import-plan/testing';
import { RealmReader } from '@parley/transfer/exports';
import { MergePlaceholder, UnmergePlaceholder } from '@parley/transfer/imports';
import { fieldsOf, type Wire } from '../testing/expectations.js';
import { ImportLab } from '../testing/import-lab.js';
import type { TestServer, TestUser } from '../testing/test-server.js';

const PEOPLE: TestRecords = [
  { kind: 'person', id: 'ann', name: 'Ann', email: 'ann@acme.example', isEmailVerified: true, role: 'owner' },
  { kind: 'person', id: 'zoe', name: 'Zoe', email: 'zoe@acme.example', isEmailVerified: true },
  { kind: 'person', id: 'cleo', name: 'Cleo' },
  { kind: 'person', id: 'dan', name: 'Dan' },
  { kind: 'conversation', id: 'd', members: ['ann', 'cleo'] },
  { kind: 'conversation', id: 'g', members: ['ann', 'cleo', 'dan'] },
  { kind: 'conversation', id: 'n', members: ['cleo'] },
  { kind: 'conversation', id: 'z', members: ['ann', 'zoe'] },
];

const FIRST: TestRecords = [
  { kind: 'message', id: 'm1', conversation: 'd', sender: 'cleo', sentAt: 100, content: 'hello Ann' },
  { kind: 'message', id: 'm2', conversation: 'g', sender: 'dan', sentAt: 110, content: 'hello both' },
  { kind: 'message', id: 'm3', conversation: 'd', sender: 'ann', sentAt: 120, content: 'hello Cleo' },
  { kind: 'reaction', id: 'r1', message: 'm3', person: 'cleo', emoji: 'tada' },
  { kind: 'message', id: 'm4', conversation: 'z', sender: 'zoe', sentAt: 130, content: 'hello from Zoe' },
  { kind: 'message', id: 'm5', conversation: 'n', sender: 'cleo', sentAt: 140, content: 'note to self' },
];
const LAST: TestRecords = [
  { kind: 'message', id: 'm9', conversation: 'd', sender: 'cleo', sentAt: 190, content: 'goodbye Ann' },
];

let lab: ImportLab;
let server: TestServer;
let realmId: RealmId;
let ann: TestUser;
let ben: TestUser;
let zoe: TestUser;
let cleo: UserId;
let dan: UserId;

/** Imports the messages into a new organization, which Ben joins. */
async function importMessages(messages: TestRecords): Promise<void> {
  ({
    realm: { id: realmId },
  } = await lab.imported([...PEOPLE, ...messages]));
  [ann, zoe] = [await lab.signIn(realmId, 'ann@acme.example'), await lab.signIn(realmId, 'zoe@acme.example')];
  ben = await server.addUser({ realmId, email: 'ben@acme.example', fullName: 'Ben' });
  [cleo, dan] = await server.storage.uow.read(realmId, async (reads) => {
    const ids = (await reads.users.listEntries(realmId)).map(({ id }) => id);
    const byName = new Map((await reads.users.list(realmId, ids)).map(({ fullName, id }) => [fullName, id]));
    return [byName.get('Cleo')!, byName.get('Dan')!] as const;
  });
}

beforeEach(async () => {
  lab = await ImportLab.start();
  ({ server } = lab);
});
afterEach(() => lab.close());

const merge = (placeholderId = cleo, { id: userId } = ben) =>
  server.parley.useCase(MergePlaceholder).execute({ realmId, placeholderId, userId, isDryRun: false });
const unmerge = (placeholderId = cleo) => server.parley.useCase(UnmergePlaceholder).execute({ realmId, placeholderId });

async function get(as: TestUser, path: string, params: object = {}): Promise<Wire> {
  return fieldsOf(await server.request('GET', path, { as, params: { ...params }, realm: 'acme' }));
}

/** Returns the messages that a user sees: participants, sender, text and read state. */
async function shown(as: TestUser, narrow: readonly object[] = []): Promise<readonly unknown[]> {
  const params = { anchor: 'newest', num_before: 200, num_after: 0, apply_markdown: false, narrow };
  const { messages } = await get(as, '/messages', params);
  return messages
    .filter(({ type }: Wire) => type === 'private')
    .map(({ display_recipient, sender_id, content, flags }: Wire) => [
      display_recipient.map(({ id }: Wire) => id).sort(),
      ...[sender_id, content, flags.includes('read')],
    ]);
}

async function register(as: TestUser, fetched: readonly string[]): Promise<Wire> {
  const params = { event_types: ['message'], fetch_event_types: fetched };
  return fieldsOf(await server.request('POST', '/register', { as, params, realm: 'acme' }));
}

const people = (...ids: number[]) => ids.sort((a, b) => a - b);
const together = (...ids: readonly number[]) => [{ operator: 'dm', operand: ids }];

describe('direct conversation of a placeholder', () => {
  it('becomes a conversation with the user, in order and read, until the merge is reverted', async () => {
    await importMessages([...FIRST, ...LAST]);
    const others = await shown(zoe);
    fieldsOf(
      await server.request('POST', '/messages', {
        ...{ as: ben, realm: 'acme' },
        params: { type: 'direct', to: [ann.id], content: 'hi, I am Ben' },
      }),
    );
    const before = await shown(ann);
    const { queue_id } = await register(ann, []);
    expect(await merge()).toMatchObject({ messages: 3, reactions: 1, directMessages: 5 });
    const poll = { as: ann, realm: 'acme', params: { queue_id, last_event_id: -1, dont_block: true } };
    expect((await server.request('GET', '/events', poll)).body).toMatchObject({ code: 'BAD_EVENT_QUEUE_ID' });
    const both = people(ann.id, ben.id);
    const moved = [
      [both, ben.id, 'hello Ann', true],
      [both, ann.id, 'hello Cleo', true],
      [both, ben.id, 'goodbye Ann', true],
    ];
    expect(await shown(ann, together(ben.id))).toEqual([...moved, [both, ben.id, 'hi, I am Ben', false]]);
    expect(await shown(ben, together(ann.id))).toEqual([...moved, [both, ben.id, 'hi, I am Ben', false]]);
    expect(await shown(ben)).toEqual([
      moved[0],
      [people(ann.id, ben.id, dan), dan, 'hello both', true],
      ...[moved[1], [[ben.id], ben.id, 'note to self', true], moved[2]],
      [both, ben.id, 'hi, I am Ben', false],
    ]);
    expect(await shown(ann, together(cleo))).toEqual([]);
    expect(await shown(ben, [{ operator: 'search', operand: 'goodbye' }, ...together(ann.id)])).toEqual([moved[2]]);
    const { recent_private_conversations } = await register(ann, ['recent_private_conversations']);
    expect(recent_private_conversations.map(({ user_ids }: Wire) => user_ids)).toEqual([
      ...[[ben.id], [zoe.id], people(ben.id, dan)],
    ]);
    expect(await shown(zoe)).toEqual(others);

    expect(await unmerge()).toEqual({ messages: 3, reactions: 1, directMessages: 5 });
    expect(await shown(ann)).toEqual(before);
    expect(await shown(ben)).toEqual([[both, ben.id, 'hi, I am Ben', false]]);
    expect(await shown(zoe)).toEqual(others);
  });

  it('becomes a conversation with oneself after a merge into the other participant', async () => {
    await importMessages(FIRST);
    const before = await shown(ann);
    await merge(cleo, ann);
    expect(await shown(ann)).toEqual([
      [[ann.id], ann.id, 'hello Ann', true],
      [people(ann.id, dan), dan, 'hello both', true],
      [[ann.id], ann.id, 'hello Cleo', true],
      [people(ann.id, zoe.id), zoe.id, 'hello from Zoe', true],
      [[ann.id], ann.id, 'note to self', true],
    ]);
    await unmerge();
    expect(await shown(ann)).toEqual(before);
  });

  it('joins the imported conversation of the user with the same people', async () => {
    await importMessages(FIRST);
    const before = await shown(zoe);
    await merge(cleo, zoe);
    const both = people(ann.id, zoe.id);
    const joined = [
      [both, zoe.id, 'hello Ann', true],
      [both, ann.id, 'hello Cleo', true],
      [both, zoe.id, 'hello from Zoe', true],
    ];
    expect(await shown(zoe, together(ann.id))).toEqual(joined);
    expect(await shown(ann, together(zoe.id))).toEqual(joined);
    await unmerge();
    expect(await shown(zoe)).toEqual(before);
    expect(await shown(ann, together(zoe.id))).toEqual(before);
  });

  it('changes with each of its placeholders, which are merged and reverted in any order', async () => {
    await importMessages(FIRST);
    const before = await shown(ann);
    const group = async (as: TestUser) =>
      (await shown(as)).filter((message) => (message as readonly unknown[])[2] === 'hello both');
    await merge(cleo, ben);
    await merge(dan, zoe);
    expect(await group(zoe)).toEqual([[people(ann.id, ben.id, zoe.id), zoe.id, 'hello both', true]]);
    await unmerge(cleo);
    expect(await group(zoe)).toEqual([[people(ann.id, cleo, zoe.id), zoe.id, 'hello both', true]]);
    expect(await group(ben)).toEqual([]);
    await unmerge(dan);
    expect(await shown(ann)).toEqual(before);
    expect(await group(zoe)).toEqual([]);
  });

  it('is complete after a killed merge is repeated, and as before after a killed revert is repeated', async () => {
    const many = Array.from({ length: 120 }, (_, n): TestRecords[number] => {
      return { kind: 'message', id: `x${n}`, conversation: 'd', sender: 'cleo', sentAt: 200 + n, content: `part ${n}` };
    });
    await importMessages([...FIRST, ...many]);
    const before = await shown(ann);
    await dieAtMove(4);
    await expect(merge()).rejects.toThrow('killed');
    expect((await shown(ben)).length).toBe(49);
    expect(await merge()).toMatchObject({ directMessages: 124 - 49 });
    expect(await shown(ann, together(cleo))).toEqual([]);
    expect((await shown(ben)).length).toBe(124);
    await dieAtMove(4);
    await expect(unmerge()).rejects.toThrow('killed');
    expect((await shown(ben)).length).toBe(124 - 50);
    await unmerge();
    expect(await shown(ann)).toEqual(before);
    expect(await shown(ben)).toEqual([]);
  });

  /** Fails a move of direct messages by its number; each unit moves those of three conversations. */
  async function dieAtMove(number: number): Promise<void> {
    const moves = await server.storage.uow.write(realmId, async (tx) => tx.moves);
    let units = 0;
    const spy = jest.spyOn(moves, 'moveDirect');
    const original = Object.getPrototypeOf(moves).moveDirect;
    spy.mockImplementation((...args) => {
      if (++units === number) {
        spy.mockRestore();
        return Promise.reject(new Error('killed'));
      }
      return original.apply(moves, args);
    });
  }

  it('gets messages of a later import when the merge is repeated', async () => {
    await importMessages([...FIRST, ...LAST]);
    await merge();
    const news: TestRecords = [
      { kind: 'message', id: 'm8', conversation: 'd', sender: 'ann', sentAt: 180, content: 'until Monday' },
    ];
    const kept = FIRST.filter(({ id }) => id !== 'm3' && id !== 'r1');
    const { changes } = await lab.merged(realmId, [...PEOPLE, ...kept, ...news, ...LAST]);
    expect(changes).toMatchObject({ deleted: 1, kept: 0 });
    expect((await shown(ann, together(cleo))).length).toBe(1);
    expect(await merge()).toMatchObject({ messages: 0, directMessages: 1 });
    expect((await shown(ben, together(ann.id))).map((message) => (message as readonly unknown[])[2])).toEqual([
      'hello Ann',
      ...['goodbye Ann', 'until Monday'],
    ]);
    const [, later] = await lab.batches(realmId);
    expect(await lab.undo(realmId, { batchId: later!.id })).toMatchObject({ removed: 1, kept: 0 });
    expect(await lab.undo(realmId)).toMatchObject({ removed: 5, kept: 0 });
    expect(await unmerge()).toEqual({ messages: 0, reactions: 0, directMessages: 0 });
    expect(await shown(ann)).toEqual([]);
  });

  it('keeps unread messages of the other participants, and is part of exports with its new readers', async () => {
    const position = { kind: 'readPosition', id: 'p', person: 'ann', conversation: 'd', readUntil: 110 } as const;
    await importMessages([...FIRST, position, ...LAST]);
    const unreadOf = async (as: TestUser) => {
      const { pms, huddles, count } = (await register(as, ['message', 'update_message_flags'])).unread_msgs;
      return [pms.map(({ other_user_id }: Wire) => other_user_id), huddles, count];
    };
    expect(await unreadOf(ann)).toEqual([[cleo], [], 1]);
    await merge();
    expect(await unreadOf(ann)).toEqual([[ben.id], [], 1]);
    expect(await unreadOf(ben)).toEqual([[], [], 0]);
    const readers = new Map<string, readonly UserId[]>();
    const { realm, messages } = await server.parley.useCase(RealmReader).open(realmId, { covers: 'all' });
    const participants = new Map(realm.conversations.map(({ recipientId, userIds }) => [recipientId, userIds]));
    for await (const page of messages()) {
      for (const { message, holders } of page) {
        if (message.channelId !== null) continue;
        readers.set(
          message.content,
          holders.map(({ userId }) => userId),
        );
        expect([...readers.get(message.content)!].sort()).toEqual([...participants.get(message.recipientId)!].sort());
      }
    }
    expect(readers.get('goodbye Ann')).toEqual(people(ann.id, ben.id));
    await unmerge();
    expect(await unreadOf(ann)).toEqual([[cleo], [], 1]);
  });

  it('is listed as readable by the user when the import is verified', async () => {
    await importMessages(FIRST);
    await merge();
    const { differences, added } = await lab.verify(realmId, [...PEOPLE, ...FIRST]);
    expect(differences).toEqual([]);
    expect(added.map(({ person, channel }) => [person, channel])).toEqual([
      ...[
        ['Ben', null],
        ['Ben', null],
        ['Ben', null],
      ],
    ]);
    await unmerge();
    expect((await lab.verify(realmId, [...PEOPLE, ...FIRST])).added).toEqual([]);
  });
});
