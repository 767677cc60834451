import type { RealmId, UserId } from '@parley/domain/kernel';
import { ErasePerson, SendInvitationEmails, UpsertHostUser } from '@parley/domain/membership';
import type { TestRecords } from '@parley/import-plan/testing';
import { MergePlaceholder, UnmergePlaceholder } from '@parley/transfer/imports';
import { fieldsOf, type Wire } from '../testing/expectations.js';
import { ImportLab } from '../testing/import-lab.js';
import { runJobs } from '../testing/jobs.js';
import { TestBrowser } from '../testing/test-browser.js';
import { TestLogInServices } from '../testing/test-log-in-services.js';
import type { TestServer, TestServerOptions, TestUser } from '../testing/test-server.js';

const RECORDS: TestRecords = [
  { kind: 'person', id: 'ann', name: 'Ann', email: 'ann@acme.example', isEmailVerified: true, role: 'owner' },
  { kind: 'person', id: 'cleo', name: 'Cleo', email: 'Cleo@acme.example', externalId: 'x7', role: 'administrator' },
  { kind: 'person', id: 'dan', name: 'Dan', email: 'shared@acme.example', isDeactivated: true, externalId: 'x8' },
  { kind: 'person', id: 'eve', name: 'Eve', email: 'eve@acme.example' },
  { kind: 'person', id: 'fay', name: 'Fay', email: 'eve@acme.example' },
  { kind: 'channel', id: 's', name: 'secret', privacy: 'private', members: ['ann', 'cleo'] },
  { kind: 'conversation', id: 'd', members: ['ann', 'cleo'] },
  { kind: 'channel', id: 'c', name: 'general', privacy: 'public', members: ['ann', 'cleo'] },
  { kind: 'message', id: 'm0', channel: 'c', sender: 'ann', sentAt: 90, content: 'tea?' },
  { kind: 'reaction', id: 'r0', message: 'm0', person: 'cleo', emoji: '+1' },
  { kind: 'reaction', id: 'r1', message: 'm0', person: 'cleo', emoji: 'tada' },
  { kind: 'message', id: 'm1', channel: 's', sender: 'cleo', sentAt: 100, content: 'psst' },
  { kind: 'message', id: 'm2', conversation: 'd', sender: 'cleo', sentAt: 110, content: 'hello Ann' },
];

const services = new TestLogInServices();
let lab: ImportLab;
let server: TestServer;
let realmId: RealmId;
afterEach(() => lab.close());

/** Imports the records, and returns the ids of people by name. */
async function importPeople(
  claimBy: readonly string[],
  options: TestServerOptions = {},
  records: TestRecords = RECORDS,
): Promise<ReadonlyMap<string, number>> {
  lab = await ImportLab.start({
    logInProviders: [
      services.provider('company', { createsPeople: true }),
      services.provider('other', { createsPeople: true }),
    ],
    ...options,
  });
  ({ server } = lab);
  const { realm: imported } = await lab.imported(records, { claimBy });
  realmId = imported.id;
  return server.storage.uow.write(realmId, async (tx) => {
    const realm = await tx.realms.get(realmId);
    await tx.realms.update({ ...realm, settings: { ...realm.settings, openIdConnectAuthentication: true } });
    const ids = (await tx.users.listEntries(realmId)).map(({ id }) => id);
    return new Map((await tx.users.list(realmId, ids)).map(({ fullName, id }) => [fullName, id]));
  });
}

const userNamed = (email: string) => lab.signIn(realmId, email);

const post = (path: string, params: object, as: TestUser | null = null) =>
  server.request('POST', path, { as, params: params as Record<string, unknown>, realm: 'acme' });

async function invite(email: string): Promise<string> {
  fieldsOf(await post('/invites', { invitee_emails: email, stream_ids: [] }, await userNamed('ann@acme.example')));
  await runJobs(server, server.parley.useCase(SendInvitationEmails));
  return /do_confirm\/(\w+)/.exec(server.mailer.emails.at(-1)!.text)![1]!;
}

const accept = (key: string, params: object = {}) =>
  post('/invites/accept', { key, full_name: 'Cleo Smith', password: 'alas, poor yorick 1601', ...params });

async function logInAt(method: string, subject: string, email: string): Promise<number> {
  services.confirmed = { subject, email, emailStatements: [{ email, isVerified: true }], fullName: 'Cleo S' };
  const browser = new TestBrowser(server);
  const realm = { realm: 'acme' };
  const begun = await browser.request('GET', `/accounts/login/external/${method}/`, undefined, realm);
  const state = new URL(begun.headers.location!).searchParams.get('state')!;
  await browser.request('GET', `/accounts/login/complete/${method}/`, { state }, realm);
  return (await browser.request('GET', '/json/users/me', undefined, realm)).body.user_id;
}

describe('placeholder of an import', () => {
  it('becomes the account of the person who joins with its address', async () => {
    const ids = await importPeople(['email']);
    const ann = await userNamed('ann@acme.example');
    const account = fieldsOf(await accept(await invite('cleo@acme.example'))) as Wire;
    expect(account.user_id).toBe(ids.get('Cleo'));
    const cleo = { ...ann, id: account.user_id, email: account.email, apiKey: account.api_key };
    const get = async (path: string, params = {}) =>
      fieldsOf(await server.request('GET', path, { as: cleo, params, realm: 'acme' })) as Wire;
    // The sign-up determines the role, not the source.
    expect(await get('/users/me')).toMatchObject({ full_name: 'Cleo Smith', role: 400, is_active: true });
    const { messages } = await get('/messages', { anchor: 'newest', num_before: 10, num_after: 0 });
    const imported = messages.filter(({ sender_id }: Wire) => sender_id === cleo.id);
    expect(imported.map(({ content }: Wire) => content)).toEqual(['<p>psst</p>', '<p>hello Ann</p>']);
    expect((await get('/users/me/subscriptions')).subscriptions).toMatchObject([
      { name: 'general' },
      { name: 'secret' },
    ]);
    fieldsOf(await post('/messages', { type: 'direct', to: [cleo.id], content: 'welcome' }, ann));
    expect((await get('/messages', { anchor: 'newest', num_before: 1, num_after: 0 })).messages).toMatchObject([
      { content: '<p>welcome</p>', flags: [] },
    ]);
  });

  it('cannot be claimed again after its account was deactivated', async () => {
    const ids = await importPeople(['email', 'company']);
    fieldsOf(await accept(await invite('cleo@acme.example')));
    const ann = await userNamed('ann@acme.example');
    fieldsOf(await server.request('DELETE', `/users/${ids.get('Cleo')}`, { as: ann, realm: 'acme' }));
    const joined = await logInAt('company', 'x7', 'cleo.smith@acme.example');
    expect([...ids.values()]).not.toContain(joined);
  });

  it.each([
    ['the import allows no claims', [], 'cleo@acme.example'],
    ['the person left the source', ['email'], 'shared@acme.example'],
    ['several people have the address', ['email'], 'eve@acme.example'],
  ])('is not claimed if %s', async (_, claimBy, email) => {
    const ids = await importPeople(claimBy);
    const account = fieldsOf(await accept(await invite(email))) as Wire;
    expect([...ids.values()]).not.toContain(account.user_id);
  });

  it('is not claimed with an unproven address', async () => {
    const ids = await importPeople(['email'], { sendsMail: false });
    const { invite_link } = fieldsOf(await post('/invites/multiuse', {}, await userNamed('ann@acme.example'))) as Wire;
    const key = invite_link.split('/').filter(Boolean).at(-1);
    const account = fieldsOf(await accept(key, { email: 'cleo@acme.example' })) as Wire;
    expect([...ids.values()]).not.toContain(account.user_id);
  });

  it('is claimed by its id only through the method that the import names', async () => {
    const ids = await importPeople(['company']);
    expect([...ids.values()]).not.toContain(await logInAt('other', 'x7', 'mallory@acme.example'));
    expect(await logInAt('company', 'x7', 'c@elsewhere.example')).toBe(ids.get('Cleo'));
    const cleo = await userNamed('c@elsewhere.example');
    expect(cleo.user).toMatchObject({ fullName: 'Cleo S', role: 'member', isActive: true });
  });

  it("is claimed by the host application's id, which it keeps", async () => {
    const ids = await importPeople(['host']);
    const upsert = () =>
      server.parley.useCase(UpsertHostUser).execute({ realmId, externalId: 'x7', fullName: 'Cleo the host' });
    const user = await upsert();
    expect(user).toMatchObject({ id: ids.get('Cleo'), externalId: 'x7', fullName: 'Cleo the host', isActive: true });
    expect((await upsert()).id).toBe(user.id);
  });
});

describe('erasure of a person', () => {
  it('erases placeholders that the identities of the person claim, so that nobody else gets their messages', async () => {
    const ids = await importPeople(['host', 'email', 'company']);
    const { users } = server.parley;
    const cleo = { realm: 'acme', userId: ids.get('Cleo')! };
    const upserted = { realm: 'acme', externalId: 'u1', name: 'Cleo S' };
    await users.upsert(upserted);
    const link = (externalId: string, userId: UserId) =>
      server.storage.uow.write(realmId, async (tx) => {
        await tx.externalIds.remove(realmId, userId);
        await tx.externalIds.assign(realmId, userId, externalId);
      });
    // Cleo had the account before the import.
    await link('x7', (await users.find({ realm: 'acme', externalId: 'u1' }))!.id as UserId);
    await users.erase({ realm: 'acme', externalId: 'x7' });
    expect(await users.find(cleo)).toMatchObject({ name: 'Deleted user' });
    const successor = await users.upsert({ ...upserted, externalId: 'x7', name: 'Mallory' });
    expect(successor.id).not.toBe(cleo.userId);
    expect(await messagesSeenBy(successor.id)).toEqual([]);
    await runJobs(server, server.parley.useCase(ErasePerson));
    expect(await tracesOf(cleo.userId)).toEqual([]);
  });

  it('deletes the messages of these placeholders when everything written is erased later', async () => {
    const ids = await importPeople(['host', 'email', 'company']);
    const { users } = server.parley;
    const cleo = { realm: 'acme', userId: ids.get('Cleo')! };
    const { id } = await users.upsert({ realm: 'acme', externalId: 'u1', name: 'Cleo S' });
    await server.storage.uow.write(realmId, async (tx) => {
      await tx.externalIds.remove(realmId, id as UserId);
      await tx.externalIds.assign(realmId, id as UserId, 'x7');
    });
    await users.erase({ realm: 'acme', externalId: 'x7' });
    for (let round = 0; round < 2; round++) {
      await runJobs(server, server.parley.useCase(ErasePerson));
      await users.erase({ realm: 'acme', userId: id }, { everythingWritten: true });
    }
    await runJobs(server, server.parley.useCase(ErasePerson));
    expect(await users.erase(cleo)).toMatchObject({ everythingWritten: true, endedAt: expect.any(Date) });
    const written = await server.storage.uow.read(realmId, (reads) =>
      reads.pages.listViews(
        realmId,
        Array.from({ length: 50 }, (_, n) => (n + 1) as never),
      ),
    );
    expect(written.filter(({ message }) => message.senderId === cleo.userId)).toEqual([]);
  });
});

/** Returns what remains of the person's ids in the source and of the identities that claim the account. */
const tracesOf = (userId: number) =>
  server.storage.uow.read(realmId, async ({ placeholderKeys, importBatches, importedRecords }) => {
    const claims = (await placeholderKeys.list(realmId)).filter(({ key }) => !key.startsWith('visit:'));
    const keys = claims.filter(({ placeholderId }) => placeholderId === userId);
    const [batch] = await importBatches.list(realmId);
    const people = { id: batch!.id, kind: 'person' } as const;
    const records = await importedRecords.listOfBatch(realmId, people, { targetId: userId, recordId: '' }, 1);
    return [...keys, ...records.filter(({ targetId }) => targetId === userId)];
  });

const messagesSeenBy = async (userId: number) =>
  server.parley.as({ realm: 'acme', userId }).messages.list({ last: 10 }).toArray();

describe('merge of a placeholder', () => {
  let ids: ReadonlyMap<string, number>;
  let ann: TestUser;
  let ben: TestUser;
  beforeEach(async () => {
    ids = await importPeople([]);
    ann = await userNamed('ann@acme.example');
    ben = await server.addUser({ realmId, email: 'ben@acme.example', fullName: 'Ben' });
  });

  const input = (more: object = {}) => {
    const [placeholderId, userId] = [ids.get('Cleo') as UserId, ben.id];
    return { realmId, placeholderId, userId, isDryRun: false, ...more };
  };
  const merge = (more?: object) => server.parley.useCase(MergePlaceholder).execute(input(more));
  const unmerge = (more?: object) => server.parley.useCase(UnmergePlaceholder).execute(input(more));
  /** Returns the messages that Ann sees: sender and reactions by text. */
  async function shown(as = ann): Promise<Wire> {
    const params = { anchor: 'newest', num_before: 10, num_after: 0, apply_markdown: false };
    const { messages } = fieldsOf(await server.request('GET', '/messages', { as, params, realm: 'acme' })) as Wire;
    return Object.fromEntries(
      messages.map(({ content, sender_id, reactions }: Wire) => [
        content,
        [sender_id, ...reactions.map(({ emoji_name, user_id }: Wire) => `${emoji_name} ${user_id}`)],
      ]),
    );
  }
  const subscribed = async () =>
    (
      fieldsOf(await server.request('GET', '/users/me/subscriptions', { as: ben, realm: 'acme' })) as Wire
    ).subscriptions.map(({ name }: Wire) => name);

  it('gives messages, reactions and channels to a user, and lists the channels', async () => {
    const cleo = ids.get('Cleo');
    const before = await shown();
    expect(before).toMatchObject({ psst: [cleo], 'hello Ann': [cleo], 'tea?': [ann.id, `+1 ${cleo}`, `tada ${cleo}`] });
    const { messages } = fieldsOf(
      await server.request('GET', '/messages', {
        as: ann,
        params: {
          anchor: 'oldest',
          num_before: 0,
          num_after: 10,
          narrow: [{ operator: 'channel', operand: 'general' }],
        },
        realm: 'acme',
      }),
    ) as Wire;
    await post(`/messages/${messages[0].id}/reactions`, { emoji_name: 'tada' }, ben);

    const gained = {
      messages: 2,
      reactions: 1,
      directMessages: 1,
      channels: [
        expect.objectContaining({ name: 'secret', isPrivate: true }),
        expect.objectContaining({ name: 'general' }),
      ],
    };
    expect(await merge({ isDryRun: true })).toMatchObject({ messages: 2, reactions: 1, directMessages: 1 });
    expect(await shown()).toEqual({ ...before, 'tea?': [...before['tea?'], `tada ${ben.id}`] });
    const merged = await merge();
    expect(merged).toEqual({ ...gained, channels: expect.arrayContaining(gained.channels) });
    expect(await subscribed()).toEqual(['general', 'secret']);
    expect(await shown()).toMatchObject({ psst: [ben.id], 'hello Ann': [ben.id] });
    expect((await shown())['tea?'].sort()).toEqual([ann.id, `+1 ${ben.id}`, `tada ${cleo}`, `tada ${ben.id}`].sort());
    expect(await shown(ben)).toMatchObject({ 'hello Ann': [ben.id] });
    const search = { anchor: 'newest', num_before: 5, num_after: 0 };
    const narrow = [
      { operator: 'sender', operand: ben.id },
      { operator: 'search', operand: 'psst' },
    ];
    const found = await server.request('GET', '/messages', { as: ann, params: { ...search, narrow }, realm: 'acme' });
    expect((fieldsOf(found) as Wire).messages).toHaveLength(1);
    expect(await merge()).toEqual({ messages: 0, reactions: 0, directMessages: 0, channels: [] });

    expect(await unmerge()).toEqual({ messages: 2, reactions: 1, directMessages: 1 });
    expect(await shown()).toMatchObject({ psst: [cleo], 'hello Ann': [cleo] });
    expect((await shown())['tea?'].sort()).toEqual([ann.id, `+1 ${cleo}`, `tada ${cleo}`, `tada ${ben.id}`].sort());
    expect(await subscribed()).toEqual([]);
    expect(await merge()).toMatchObject({ messages: 2 });
  });

  it('does not subscribe the user again when it is repeated', async () => {
    await merge();
    const params = { subscriptions: ['secret'] };
    fieldsOf(await server.request('DELETE', '/users/me/subscriptions', { as: ben, params, realm: 'acme' }));
    expect(await merge({ isDryRun: true })).toMatchObject({ channels: [] });
    await merge();
    expect(await subscribed()).toEqual(['general']);
  });

  it('subscribes the user to many channels in small units of work', async () => {
    await lab.close();
    const many = Array.from({ length: 120 }, (_, n) => n).map((n) => {
      return { kind: 'channel', id: `n${n}`, name: `n ${n}`, privacy: 'private', members: ['ann', 'cleo'] } as const;
    });
    ids = await importPeople([], {}, [...RECORDS, ...many]);
    ben = await server.addUser({ realmId, email: 'ben@acme.example', fullName: 'Ben' });
    const puts = await server.storage.uow.write(realmId, async (tx) => jest.spyOn(tx.channels, 'putSubscriptions'));
    await merge();
    const sizes = puts.mock.calls.map(([rows]) => rows.length);
    expect(sizes.reduce((sum, size) => sum + size)).toBe(122);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(50);
    expect((await subscribed()).length).toBe(122);
  });

  it('is followed by an erasure of the user, and not undone afterwards', async () => {
    await merge();
    const { users } = server.parley;
    const [cleo, to] = [
      { realm: 'acme', userId: ids.get('Cleo')! },
      { realm: 'acme', userId: ben.id },
    ];
    await expect(users.erase(cleo)).rejects.toMatchObject({
      code: 'USER_MERGED',
      message: `User ${cleo.userId} was merged into user ${ben.id}. Erase that one, or revert the merge.`,
    });
    await users.erase(to);
    expect(await users.find(cleo)).toMatchObject({ name: 'Deleted user' });
    await runJobs(server, server.parley.useCase(ErasePerson));
    expect(await tracesOf(cleo.userId)).toEqual([]);
    await expect(unmerge()).rejects.toMatchObject({ code: 'USER_ERASED' });
    await users.erase(to, { everythingWritten: true });
    expect(await users.erase(cleo)).toMatchObject({ everythingWritten: true });
  });

  it('rejects users that are not placeholders, and placeholders that are merged into another user', async () => {
    const refused = (code: string) => expect.objectContaining({ code });
    await expect(merge({ placeholderId: ann.id })).rejects.toEqual(refused('NOT_A_PLACEHOLDER'));
    await expect(merge({ placeholderId: 9999 })).rejects.toEqual(refused('UNKNOWN_USER'));
    await expect(merge({ userId: ids.get('Eve') })).rejects.toEqual(refused('NAMED_USER_DEACTIVATED'));
    await expect(merge({ realmId: server.realmId })).rejects.toEqual(refused('UNKNOWN_USER'));
    await expect(unmerge()).rejects.toEqual(refused('NOT_MERGED'));
    await merge();
    await expect(merge({ userId: ann.id })).rejects.toEqual(refused('NOT_A_PLACEHOLDER'));
  });
});
