import { cpSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EXPORT_PARTS } from '@parley/domain/composition';
import type { IdKind, PersonCopy, UserId } from '@parley/domain/kernel';
import { isErased } from '@parley/domain/membership';
import { MakeThumbnails } from '@parley/domain/messages';
import { DeliverReminder, DeliverScheduledMessage } from '@parley/domain/writing';
import { openExport, writeExport } from '@parley/export-files';
import { createRoutes, type RouteDependencies } from '@parley/http';
import { SharpImageProcessor } from '@parley/images';
import { COLUMN_NAMES } from '@parley/server/testing';
import { RealmReader } from '@parley/transfer/exports';
import { ImportRealm } from '@parley/transfer/imports';
import { type Contents, contentsOf, everyResponse, forgottenReads, responsesOf } from '../testing/every-response.js';
import { fieldsOf } from '../testing/expectations.js';
import { fill } from '../testing/filled-organization.js';
import { pngOf } from '../testing/images.js';
import { runJobs } from '../testing/jobs.js';
import { imageFile, postFiles } from '../testing/multipart.js';
import { TestServer, type TestUser } from '../testing/test-server.js';

// biome-ignore lint/suspicious/noExplicitAny: wire forms, checked by assertions.
type Wire = any;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-round-trip-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

async function exported(server: TestServer, realmId = server.realmId): Promise<string> {
  const source = await server.parley.useCase(RealmReader).open(realmId, { covers: 'all' });
  const path = join(folder, 'export.tar.gz');
  await writeFile(path, writeExport(source, { names: COLUMN_NAMES, temporaryFolder: folder }));
  return path;
}

/** Extracts the folder of an archive. */
async function unpacked(archive: string): Promise<string> {
  const { close } = await openExport(archive, { names: COLUMN_NAMES, temporaryFolder: folder });
  const there = readdirSync(folder).find((entry) => entry.startsWith('parley-import-'))!;
  const path = join(folder, 'unpacked');
  cpSync(join(folder, there, 'parley-export'), path, { recursive: true });
  await close();
  return path;
}

async function imported(server: TestServer, path: string, stringId: string | null) {
  const { source, close } = await openExport(path, { names: COLUMN_NAMES, temporaryFolder: folder });
  try {
    return await server.parley.useCase(ImportRealm).execute({ source, stringId });
  } finally {
    await close();
  }
}

/** Key of an uploaded avatar, which differs per server. */
const AVATAR_KEY = /(\/user_avatars\/\d+\/)[0-9a-f]{32}/g;

/** API responses to a user, without fields that vary by queue or time. */
async function responsesTo(server: TestServer, as: TestUser, contents: Contents): Promise<Record<string, unknown>> {
  const all = fieldsOf(
    await server.post('/register', as, {
      client_capabilities: {
        notification_settings_null: true,
        linkifier_url_template: true,
        include_deactivated_groups: true,
      },
      client_gravatar: false,
    }),
  ) as Record<string, unknown>;
  for (const name of ['queue_id', 'last_event_id', 'presence_last_update_id', 'presences', 'server_timestamp'])
    delete all[name];
  return withoutServer({ register: all, ...(await everyResponse(server, as, contents)) });
}

/** Replaces values that differ between servers. */
const withoutServer = (responses: object): Record<string, unknown> =>
  JSON.parse(
    JSON.stringify(responses)
      .replaceAll(AVATAR_KEY, '$1key')
      .replaceAll(/"api_key":"\w+"/g, '"api_key":"new"')
      .replaceAll(/"presence_last_update_id":\d+/g, '"presence_last_update_id":0')
      // Rendered texts retain the address of their server.
      .replaceAll(/(http:\/\/)?localhost:\d+/g, 'here'),
  );

interface Listed {
  readonly body: { readonly messages: readonly object[] };
}

/** Images that browsers load without credentials. */
async function picturesOf(server: TestServer, as: TestUser): Promise<Record<string, unknown>> {
  const { emoji } = fieldsOf(await server.get('/realm/emoji', as)) as {
    emoji: Record<string, { id: string; source_url: string; still_url: string | null }>;
  };
  const urls = Object.values(emoji).flatMap(({ source_url, still_url }) => [source_url, still_url ?? []].flat());
  const { members } = fieldsOf(await server.get('/users', as, { client_gravatar: false })) as {
    members: { avatar_url: string }[];
  };
  const uploaded = members.map(({ avatar_url }) => avatar_url).filter((url) => url.search(AVATAR_KEY) !== -1);
  urls.push(...uploaded, ...uploaded.map((url) => url.replace('.png', '-medium.png')));
  urls.push(...['icon', 'logo', 'night_logo'].map((name) => `/user_avatars/${as.user.realmId}/realm/${name}.png`));
  const pictures: Record<string, unknown> = {};
  for (const url of urls) {
    const response = await fetch(new URL(url, server.url));
    pictures[new URL(url, server.url).pathname.replace(AVATAR_KEY, '$1key')] = [response.status, await response.text()];
  }
  return pictures;
}

/** Logs the same users in to another server. */
async function signIn(server: TestServer, people: readonly TestUser[]): Promise<readonly TestUser[]> {
  const signedIn: TestUser[] = [];
  for (const person of people) {
    const record = await server.storage.uow.read(person.user.realmId, ({ apiKeys }) =>
      apiKeys.find(person.user.realmId, person.id),
    );
    signedIn.push({ ...person, apiKey: server.parley.ports.apiKeyMint.derive(record!) });
  }
  return signedIn;
}

it('every read operation is compared or listed as left out', () => {
  expect(forgottenReads(createRoutes({} as RouteDependencies))).toEqual([]);
});

it('import on a new server preserves all responses of an exported organization', async () => {
  const from = await TestServer.start({ worksInBackground: true });
  const ophelia = await fill(from);
  fieldsOf(await from.post('/users/me/presence', from.people.hamlet, { status: 'active' }));
  // Presence is stored within a second.
  const presences = () => from.storage.uow.read(from.realmId, (r) => r.presence.list(from.realmId));
  while ((await presences()).length === 0) await new Promise((resolve) => setTimeout(resolve, 50));
  const path = await exported(from);
  const contents = await contentsOf(from);
  const { desdemona, hamlet, cordelia, iago } = from.people;
  const people = [desdemona, hamlet, cordelia, iago, ophelia];
  const to = await TestServer.startEmpty();
  const output = await imported(to, path, null);
  expect(output).toMatchObject({ files: 2, missingFiles: 0, realm: { id: from.realmId, stringId: 'zulip' } });
  to.clock.advance(10);
  const there = await signIn(to, people);
  for (const [index, person] of people.entries()) {
    expect(await responsesTo(to, there[index]!, contents)).toEqual(await responsesTo(from, person, contents));
  }
  // Update ids continue after import.
  const [seen] = await to.storage.uow.read(from.realmId, (r) => r.presence.list(from.realmId));
  expect(seen).toMatchObject({ userId: hamlet.id });
  expect(await to.storage.uow.write(from.realmId, (tx) => tx.presence.reserveIds(from.realmId, 1))).toBe(
    seen!.updateId + 1,
  );
  const pictures = await picturesOf(from, desdemona);
  expect(pictures).toMatchObject({
    '/user_avatars/1/key.png': [200, 'png 100x100x1'],
    '/user_avatars/1/key-medium.png': [200, 'png 500x500x1'],
    '/user_avatars/1/realm/icon.png': [200, 'png 100x100x1'],
    '/user_avatars/1/realm/logo.png': [200, 'png 300x50x1'],
    '/user_avatars/1/realm/night_logo.png': [200, 'png 400x50x1'],
    '/user_avatars/1/emoji/images/2.gif': [200, 'gif 64x64x3'],
    '/user_avatars/1/emoji/images/still/2.png': [200, 'png 64x64x1'],
  });
  expect(await picturesOf(to, there[0]!)).toEqual(pictures);
  await from.close();
  await to.close();
});

it('import on a new server keeps all ids and gaps, in any order of creation', async () => {
  const from = await TestServer.start();
  const { hamlet, cordelia, iago, desdemona } = from.people;
  const post = async (path: string, as: TestUser, params: object) => fieldsOf(await from.post(path, as, { ...params }));
  const kinds: readonly IdKind[] = [
    ...(['user', 'group', 'channel', 'recipient', 'customEmoji', 'message', 'file'] as const),
    ...[...EXPORT_PARTS.people, ...EXPORT_PARTS.realm].flatMap(({ idKinds = [] }) => idKinds),
  ];
  const leaveGaps = () =>
    from.storage.uow.writeAcross(async ({ copies }) => {
      for (const kind of kinds) await copies.raiseIds(kind, (await copies.lastId(kind)) + 4);
    });
  for (const [round, who] of [iago, hamlet, cordelia, iago].entries()) {
    await leaveGaps();
    const later = from.clock.now() + 3600 + round;
    const name = `number ${round}`;
    fieldsOf(await postFiles(from, `/realm/emoji/number_${round}`, desdemona, [imageFile()]));
    const { url } = fieldsOf(await postFiles(from, '/user_uploads', who, [{ name: 'a.txt', content: name }]));
    await post('/user_groups/create', desdemona, { name, description: '', members: [who.id] });
    await post('/channel_folders/create', desdemona, { name, description: '' });
    const { id: channelId } = await post('/channels/create', who, { name, subscribers: [hamlet.id, who.id] });
    await post('/default_stream_groups/create', desdemona, { group_name: name, description: '', stream_names: [] });
    await post('/realm/filters', desdemona, { pattern: `N${round}`, url_template: 'https://example.com' });
    await post('/realm/playgrounds', desdemona, {
      ...{ name, pygments_language: 'Python', url_template: 'https://example.com/{code}' },
    });
    await post('/realm/profile_fields', desdemona, { name, hint: '', field_type: 1 });
    await post('/realm/domains', desdemona, { domain: `n${round}.example.com`, allow_subdomains: false });
    await from.addUser({ email: `n${round}@zulip.com`, fullName: name });
    const message = { type: 'channel', to: channelId, topic: 'files', content: `[a](${url})` };
    const { id: message_id } = await post('/messages', who, message);
    await post('/drafts', who, { drafts: [{ ...message, type: 'stream', to: [channelId], timestamp: round }] });
    await post('/saved_snippets', who, { title: name, content: name });
    await post('/scheduled_messages', who, { ...message, content: name, scheduled_delivery_timestamp: later });
    await post('/reminders', who, { message_id, scheduled_delivery_timestamp: later });
  }
  const contents = await contentsOf(from);
  const people = [hamlet, cordelia, iago, desdemona];
  const to = await TestServer.startEmpty();
  await imported(to, await exported(from), null);
  for (const [index, there] of (await signIn(to, people)).entries()) {
    expect(await responsesTo(to, there, contents)).toEqual(await responsesTo(from, people[index]!, contents));
  }
  // Later ids continue after the highest one.
  for (const server of [from, to]) {
    const [as] = server === from ? [hamlet] : await signIn(to, [hamlet]);
    const { saved_snippet_id } = fieldsOf(
      await server.post('/saved_snippets', as!, { title: 'a', content: 'b' }),
    ) as Wire;
    expect(saved_snippet_id).toBe(17);
  }
  await from.close();
  await to.close();
});

it('import keeps the ledger of erasures, with the new ids of the people', async () => {
  const server = await TestServer.start();
  try {
    const { id: personId } = server.people.hamlet;
    await server.parley.users.erase({ realm: 'zulip', userId: personId });
    const { realm } = await imported(server, await exported(server), 'copy');
    const [former, copy] = await Promise.all(
      [server.realmId, realm.id].map((realmId) =>
        server.storage.uow.read(realmId, async (reads) => {
          const [erasure] = await reads.erasures.list(realmId);
          const user = await reads.users.get(realmId, erasure!.personId);
          return { ...erasure, name: user.fullName, isErased: isErased(user) };
        }),
      ),
    );
    expect(former).toMatchObject({ personId, isErased: true });
    expect(copy!.personId).not.toBe(personId);
    expect(copy).toEqual({ ...former, id: copy!.id, realmId: realm.id, personId: copy!.personId });
  } finally {
    await server.close();
  }
});

it('import recreates thumbnails of images', async () => {
  const images = new SharpImageProcessor();
  const from = await TestServer.start({ images });
  const { hamlet } = from.people;
  const png = { name: 'a.png', content: pngOf(1000, 20), type: 'image/png' };
  const { url } = fieldsOf(await postFiles(from, '/user_uploads', hamlet, [png])) as { url: string };
  const to = await TestServer.startEmpty({ images });
  expect(await imported(to, await exported(from), null)).toMatchObject({ files: 1 });
  const [there] = await signIn(to, [hamlet]);
  const path = `${url.replace('/user_uploads/', '//user_uploads/thumbnail/')}/840x560.webp`;
  await runJobs(to, to.parley.useCase(MakeThumbnails));
  expect((await to.get(path, there!)).status).toBe(200);
  await from.close();
  await to.close();
});

it('imported scheduled messages and reminders are delivered when they are due', async () => {
  const from = await TestServer.start();
  const { hamlet } = from.people;
  const town = await from.createChannel('town', [hamlet]);
  const message_id = await from.sendMessage(hamlet, town, { topic: 'plans', content: 'bring bread' });
  const dueAt = from.clock.now() + 3600;
  const later = { type: 'channel', to: town, topic: 'plans', content: 'time to go' };
  const due = { scheduled_delivery_timestamp: dueAt };
  fieldsOf(await from.post('/scheduled_messages', hamlet, { ...later, ...due }));
  fieldsOf(await from.post('/reminders', hamlet, { message_id, ...due }));
  const to = await TestServer.startEmpty();
  await imported(to, await exported(from), null);
  const [there] = await signIn(to, [hamlet]);
  const received = async () => {
    for (const handler of [DeliverReminder, DeliverScheduledMessage]) await runJobs(to, to.parley.useCase(handler));
    const messages = await to.messagesFor(there!, { num_before: 2, apply_markdown: false });
    return messages.map(({ content }: Wire) => content);
  };
  to.clock.advance(dueAt - to.clock.now() - 1);
  expect(await received()).not.toContain('time to go');
  to.clock.advance(1);
  expect((await received()).sort()).toEqual([expect.stringMatching('You requested'), 'time to go']);
  await from.close();
  await to.close();
});

it('public export contains nothing private', async () => {
  const from = await TestServer.start();
  await fill(from);
  const { hamlet, desdemona } = from.people;
  fieldsOf(await from.patch('/settings', hamlet, { email_address_visibility: 4 }));
  const contentsFor = async (covers: ReadonlySet<UserId>) => {
    const source = await from.parley.useCase(RealmReader).open(from.realmId, { covers });
    const messages: string[] = [];
    for await (const page of source.messages()) messages.push(...page.map(({ message }) => message.content));
    const people: PersonCopy[] = [];
    for await (const person of source.people()) people.push(person);
    return { source, messages, person: people.find(({ userId }) => userId === hamlet.id)! };
  };
  const all = await contentsFor(new Set());
  expect(all.source.realm.channels.map(({ name }) => name)).toEqual(['town', 'archive', 'lobby']);
  expect(all.source.realm.conversations).toEqual([]);
  expect(all.messages).not.toContainEqual(expect.stringMatching(/hush|three of us|to be/));
  expect(all.messages).toContain('welcome');
  expect(all.person).toMatchObject({ drafts: [], alertWords: [], snippets: [], scheduledMessages: [], reminders: [] });
  const own = all.source.realm.users.find(({ user }) => user.id === hamlet.id)!.user;
  expect([own.email, own.settings.webFontSizePx]).toEqual([`user${hamlet.id}@parley.invalid`, 16]);
  const consenting = await contentsFor(new Set([hamlet.id]));
  expect(consenting.messages).toContain('to be');
  expect(consenting.person.drafts).toHaveLength(1);
  expect(consenting.source.realm.channels.map(({ name }) => name)).toEqual(['town', 'secret', 'archive', 'lobby']);
  const other = await contentsFor(new Set([desdemona.id]));
  expect(other.messages).not.toContain('to be');
  await from.close();
});

/** Foreign keys in Zulip's tables; null refers to nothing. */
const REFERENCES: Readonly<Record<string, string>> = {
  'zerver_message.sender': 'zerver_userprofile',
  'zerver_message.recipient': 'zerver_recipient',
  'zerver_message.realm': 'zerver_realm',
  'zerver_message.sending_client': 'zerver_client',
  'zerver_usermessage.user_profile': 'zerver_userprofile',
  'zerver_usermessage.message': 'zerver_message',
  'zerver_userprofile.realm': 'zerver_realm',
  'zerver_userprofile.bot_owner': 'zerver_userprofile',
  'zerver_stream.recipient': 'zerver_recipient',
  'zerver_stream.creator': 'zerver_userprofile',
  'zerver_stream.folder': 'zerver_channelfolder',
  'zerver_stream.first_message': 'zerver_message',
  'zerver_huddle.recipient': 'zerver_recipient',
  'zerver_defaultstream.stream': 'zerver_stream',
  'zerver_subscription.user_profile': 'zerver_userprofile',
  'zerver_subscription.recipient': 'zerver_recipient',
  'zerver_reaction.user_profile': 'zerver_userprofile',
  'zerver_reaction.message': 'zerver_message',
  'zerver_submessage.sender': 'zerver_userprofile',
  'zerver_submessage.message': 'zerver_message',
  'zerver_usertopic.user_profile': 'zerver_userprofile',
  'zerver_usertopic.stream': 'zerver_stream',
  'zerver_usertopic.recipient': 'zerver_recipient',
  'zerver_userstatus.user_profile': 'zerver_userprofile',
  'zerver_alertword.user_profile': 'zerver_userprofile',
  'zerver_muteduser.user_profile': 'zerver_userprofile',
  'zerver_muteduser.muted_user': 'zerver_userprofile',
  'zerver_savedsnippet.user_profile': 'zerver_userprofile',
  'zerver_navigationview.user': 'zerver_userprofile',
  'zerver_botstoragedata.bot_profile': 'zerver_userprofile',
  'zerver_customprofilefieldvalue.user_profile': 'zerver_userprofile',
  'zerver_customprofilefieldvalue.field': 'zerver_customprofilefield',
  'zerver_usergroupmembership.user_profile': 'zerver_userprofile',
  'zerver_usergroupmembership.user_group': 'zerver_usergroup',
  'zerver_groupgroupmembership.supergroup': 'zerver_usergroup',
  'zerver_groupgroupmembership.subgroup': 'zerver_usergroup',
  'zerver_namedusergroup.usergroup_ptr': 'zerver_usergroup',
  'zerver_realmemoji.author': 'zerver_userprofile',
  'zerver_attachment.owner': 'zerver_userprofile',
};
/** Tables of recipients by recipient type. */
const ADDRESSED = [null, 'zerver_userprofile', 'zerver_stream', 'zerver_huddle'] as const;
/** Flag values as documented in docs/export.md. */
const READ = 1;
const STARRED = 2;
const MENTIONED = 8;

it("archive contains every row referenced by Zulip's tables", async () => {
  const from = await TestServer.start();
  await fill(from);
  const { hamlet, cordelia, desdemona } = from.people;
  const { stream_id } = fieldsOf(await from.get('/get_stream_id', desdemona, { stream: 'town' })) as Wire;
  fieldsOf(await from.post('/default_streams', desdemona, { stream_id }));
  const path = await unpacked(await exported(from));
  const json = (file: string) => JSON.parse(readFileSync(join(path, file), 'utf8'));
  const tables: Record<string, Wire[]> = { ...json('realm.json'), ...json('attachment.json') };
  for (const file of readdirSync(path).filter((name) => /^messages-\d{6}\.json$/.test(name))) {
    for (const [name, rows] of Object.entries(json(file)))
      tables[name] = [...(tables[name] ?? []), ...(rows as Wire[])];
  }
  const everybody = [...tables.zerver_userprofile!, ...tables.zerver_userprofile_crossrealm!];
  const idsOf = (table: string): Set<number> =>
    new Set((table === 'zerver_userprofile' ? everybody : tables[table]!).map(({ id }) => id));
  const dangling: string[] = [];
  const check = (what: string, id: unknown, table: string) => {
    if (id !== null && !idsOf(table).has(id as number)) dangling.push(`${what}: ${id}`);
  };
  for (const [column, target] of Object.entries(REFERENCES)) {
    const [table, name] = column.split('.') as [string, string];
    // An empty table would make the comparison vacuous.
    if (tables[table]!.length === 0) dangling.push(`${table} is empty`);
    for (const row of tables[table]!) check(column, row[name], target);
  }
  for (const { id, type, type_id } of tables.zerver_recipient!)
    check(`recipient ${id}`, type_id, ADDRESSED[type as 1]!);
  for (const table of ['zerver_realm', 'zerver_stream', 'zerver_namedusergroup']) {
    for (const row of tables[table]!) {
      const permissions = Object.entries(row).filter(([name]) => /^can_.*_group$/.test(name));
      expect(permissions.length).toBeGreaterThan(5);
      for (const [name, group] of permissions) check(`${table}.${name}`, group, 'zerver_usergroup');
    }
  }
  for (const { path_id, messages } of tables.zerver_attachment!) {
    expect(readFileSync(join(path, 'uploads', path_id)).length).toBeGreaterThan(0);
    for (const id of messages) check('zerver_attachment.messages', id, 'zerver_message');
  }
  for (const pictures of ['uploads', 'emoji', 'avatars', 'realm_icons']) {
    const records: Wire[] = json(`${pictures}/records.json`);
    expect(records.length).toBeGreaterThan(0);
    for (const record of records) readFileSync(join(path, pictures, record.path));
  }
  expect(dangling).toEqual([]);
  for (const [table, rows] of Object.entries(tables)) {
    if (table.startsWith('zerver_') && table !== 'zerver_namedusergroup') {
      expect([table, new Set(rows.map(({ id }) => id)).size]).toEqual([table, rows.length]);
    }
  }
  for (const person of [hamlet, cordelia, desdemona]) {
    const page = {
      anchor: 'newest',
      num_before: 1000,
      num_after: 0,
      allow_empty_topic_name: true,
      apply_markdown: false,
    };
    const { messages } = fieldsOf(await from.get('/messages', person, page)) as { messages: Wire[] };
    const masks = new Map(
      tables
        .zerver_usermessage!.filter((row) => row.user_profile === person.id)
        .map((row) => [row.message, row.flags_mask]),
    );
    const rows = new Map(tables.zerver_message!.map((row) => [row.id, row]));
    expect(messages.length).toBeGreaterThan(3);
    expect([...masks.keys()].sort((a, b) => a - b)).toEqual(messages.map(({ id }) => id));
    for (const { id, sender_id, content, subject, timestamp, flags, type } of messages) {
      const row = rows.get(id)!;
      const bits = masks.get(id)!;
      const inArchive = [row.sender, row.content, row.date_sent, row.is_channel_message, row.subject];
      // Topic of direct messages in Zulip's database.
      expect(inArchive).toEqual([
        sender_id,
        content,
        timestamp,
        type === 'stream',
        type === 'stream' ? subject : '\u0007',
      ]);
      const has = (flag: string) => flags.includes(flag);
      expect([id, (bits & READ) > 0, (bits & STARRED) > 0]).toEqual([id, has('read'), has('starred')]);
      if ((bits & MENTIONED) > 0) expect(has('mentioned')).toBe(true);
    }
  }
  await from.close();
});

it("import accepts a Zulip archive without Parley's additional data", async () => {
  const from = await TestServer.start();
  await fill(from);
  const path = await unpacked(await exported(from));
  rmSync(join(path, 'parley.json'));
  rmSync(join(path, 'parley-people.jsonl'));
  const messageFile = join(path, 'messages-000001.json');
  const { zerver_message, zerver_usermessage } = JSON.parse(readFileSync(messageFile, 'utf8'));
  writeFileSync(messageFile, JSON.stringify({ zerver_message, zerver_usermessage }));
  const to = await TestServer.startEmpty();
  const output = await imported(to, path, null);
  expect(output).toMatchObject({ files: 2, pictures: 6, missingPictures: 0, realm: { stringId: 'zulip' } });
  to.clock.advance(10);
  const contents = await contentsOf(from);
  const { hamlet, cordelia, desdemona } = from.people;
  const people = [hamlet, cordelia, desdemona];
  const there = await signIn(to, people);
  const same = [
    '/users',
    '/user_groups',
    '/streams',
    '/users/me/subscriptions',
    '/users/me/alert_words',
    '/realm/linkifiers',
    '/realm/domains',
    '/realm/emoji',
    '/realm/profile_fields',
    '/channel_folders',
  ];
  for (const [index, person] of people.entries()) {
    const read = async (server: TestServer, as: TestUser) =>
      withoutServer(await responsesOf(server, as, contents, [...same, '/messages']));
    const [after, before] = [await read(to, there[index]!), await read(from, person)];
    for (const path of same) {
      const names = Object.keys(before).filter((name) => name.startsWith(`${path} `));
      expect(names).toHaveLength(1);
      for (const name of names) expect([name, after[name]]).toEqual([name, before[name]]);
    }
    const texts = (responses: Record<string, unknown>) =>
      (Object.entries(responses).find(([name]) => name.startsWith('/messages {'))![1] as Listed).body.messages.map(
        (message) => ({
          ...message,
          // Columns missing from Zulip's tables.
          last_moved_timestamp: undefined,
          last_edit_timestamp: undefined,
        }),
      );
    expect(texts(after)).toEqual(texts(before));
  }
  expect(await picturesOf(to, there[2]!)).toEqual(await picturesOf(from, desdemona));
  await from.close();
  await to.close();
});

describe("import of a Zulip server's archive", () => {
  let from: TestServer;
  let to: TestServer;
  let path: string;
  beforeEach(async () => {
    from = await TestServer.start();
    for (const name of ['alpha', 'beta', 'gamma', 'delta']) {
      const id = await from.createChannel(name, [from.people.hamlet]);
      await from.sendMessage(from.people.hamlet, id, { topic: 'greetings', content: `hello ${name}` });
    }
    path = await unpacked(await exported(from));
    for (const own of ['parley.json', 'parley-people.jsonl']) rmSync(join(path, own));
    to = await TestServer.startEmpty();
  });
  afterEach(async () => {
    await from.close();
    await to.close();
  });

  /** Changes the tables in `realm.json`. */
  function change(work: (tables: Record<string, Wire[]>) => void): void {
    const file = join(path, 'realm.json');
    const tables = JSON.parse(readFileSync(file, 'utf8'));
    work(tables);
    writeFileSync(file, JSON.stringify(tables));
  }

  /** Channel ids with gaps, in a different order than the ids of their recipients. */
  const IDS: Readonly<Record<string, number>> = { alpha: 40, beta: 7, gamma: 12, delta: 41 };
  function renumberChannels(): void {
    change((tables) => {
      const newIds = new Map(tables.zerver_stream!.map(({ id, name }) => [id, IDS[name] ?? id + 100]));
      for (const row of tables.zerver_stream!) row.id = newIds.get(row.id);
      for (const row of tables.zerver_recipient!) if (row.type === 2) row.type_id = newIds.get(row.type_id);
      for (const row of tables.zerver_defaultstream!) row.stream = newIds.get(row.stream);
    });
  }

  const hamletThere = async () => (await signIn(to, [from.people.hamlet]))[0]!;
  const channelsThere = async (): Promise<Wire[]> =>
    (fieldsOf(await to.get('/streams', await hamletThere(), { exclude_archived: false })) as Wire).streams;

  it('keeps channel ids created in a different order than their recipients', async () => {
    renumberChannels();
    await imported(to, path, null);
    const ids: Record<string, number> = Object.fromEntries(
      (await channelsThere()).map(({ name, stream_id }) => [name, stream_id]),
    );
    expect(ids).toMatchObject(IDS);
    const later = { name: 'later', subscribers: [from.people.hamlet.id] };
    const { id } = fieldsOf(await to.post('/channels/create', await hamletThere(), later)) as Wire;
    expect(id).toBeGreaterThan(Math.max(...Object.values(ids)));
    const narrow = [{ operator: 'channel', operand: IDS.alpha }];
    const params = { narrow, anchor: 'newest', num_before: 10, num_after: 0, apply_markdown: false };
    const { messages } = fieldsOf(await to.get('/messages', await hamletThere(), params)) as Wire;
    expect(messages.at(-1)).toMatchObject({ content: 'hello alpha', stream_id: IDS.alpha });
  });

  it('rejects an archive with an incomplete message file', async () => {
    renameSync(join(path, 'messages-000001.json'), join(path, 'messages-000001.json.partial'));
    await expect(imported(to, path, null)).rejects.toThrow(
      'The export is incomplete: it holds messages-000001.json.partial.',
    );
  });

  it('keeps messages forever in channels with a retention period of -1', async () => {
    change(({ zerver_stream }) => {
      const days: Record<string, number> = { alpha: -1, beta: 30, gamma: 0 };
      for (const row of zerver_stream!) row.message_retention_days = days[row.name] ?? null;
    });
    await imported(to, path, null);
    const periods = (await channelsThere()).map(({ name, message_retention_days: days }) => [name, days]);
    expect(Object.fromEntries(periods)).toMatchObject({ alpha: -1, beta: 30, gamma: null, delta: null });
  });

  it('restores the names of archived channels unless another channel uses the name', async () => {
    change(({ zerver_stream }) => {
      const archive = (name: string, archived: string) =>
        Object.assign(
          zerver_stream!.find((row) => row.name === name),
          { name: archived, deactivated: true },
        );
      archive('beta', '0a1b2c3!DEACTIVATED:Beta');
      archive('gamma', '!!!DEACTIVATED:ALPHA');
      archive('delta', '!DEACTIVATED:old delta');
    });
    await imported(to, path, null);
    const names = (await channelsThere()).filter(({ is_archived }) => is_archived).map(({ name }) => name);
    expect(names.sort()).toEqual(['!!!DEACTIVATED:ALPHA', 'Beta', 'old delta']);
  });

  it("maps the other server's system bots and shows canonical time zones", async () => {
    const { hamlet } = from.people;
    change((tables) => {
      for (const row of tables.zerver_userprofile_crossrealm!) row.email = row.email.replace(/@.*/, '@zulip.com');
      tables.zerver_userprofile_crossrealm!.push({ id: 900, email: 'nagios-send-bot@zulip.com' });
      tables.zerver_userprofile!.find(({ id }) => id === hamlet.id)!.timezone = 'US/Pacific';
    });
    await imported(to, path, 'dev');
    const as = await hamletThere();
    const get = async (path: string, params?: object) =>
      fieldsOf(await to.request('GET', path, { as, params: { ...params }, realm: 'dev' })) as Wire;
    expect((await get(`/users/${hamlet.id}`)).user.timezone).toBe('America/Los_Angeles');
    const { messages } = await get('/messages', { anchor: 'newest', num_before: 100, num_after: 0 });
    const notices = messages.filter(({ sender_full_name }: Wire) => sender_full_name === 'Notification Bot');
    expect(notices.length).toBeGreaterThan(0);
    for (const { sender_realm_str } of notices) expect(sender_realm_str).toBe('dev');
  });
});

it('import into a server with other organizations preserves references in texts', async () => {
  const from = await TestServer.start();
  await fill(from);
  const { desdemona } = from.people;
  const patch = async (path: string, params: object) =>
    fieldsOf(await from.patch(path, desdemona, params as Record<string, unknown>));
  const { streams } = fieldsOf(await from.get('/streams', desdemona)) as { streams: Wire[] };
  const town = streams.find(({ name }) => name === 'town').stream_id;
  const first = await from.sendMessage(desdemona, town, { topic: 'links', content: 'later' });
  const last = await from.sendMessage(desdemona, town, { topic: 'links', content: 'the last one' });
  const link = `[it](#narrow/channel/${town}-town/topic/links/near/${last}) of @**Iago**`;
  await patch(`/messages/${first}`, { content: link });
  await patch(`/streams/${town}`, { description: link });
  await patch('/realm', { description: link });
  await patch('/channel_folders/1', { description: link });
  const path = await exported(from);
  const to = await TestServer.start();
  await to.addRealm('busy');
  await to.sendMessage(to.people.hamlet, [to.people.hamlet]);
  await to.createChannel('other');
  // Uses the id of the first emoji in the export.
  fieldsOf(await postFiles(to, '/realm/emoji/other', to.people.hamlet, [imageFile()]));
  const { realm } = await imported(to, path, 'copied');
  expect(realm.id).toBeGreaterThan(from.realmId);
  const hamlet = await to.storage.uow.read(realm.id, (r) => r.users.findByEmail(realm.id, 'hamlet@zulip.com'));
  const record = await to.storage.uow.read(realm.id, ({ apiKeys }) => apiKeys.find(realm.id, hamlet!.id));
  const as = { ...to.people.hamlet, id: hamlet!.id, apiKey: to.parley.ports.apiKeyMint.derive(record!) };
  const narrow = [{ operator: 'channel', operand: 'town' }];
  const params = { anchor: 'newest', num_before: 100, num_after: 0, narrow };
  const { messages } = fieldsOf(await to.request('GET', '/messages', { as, params, realm: 'copied' })) as {
    messages: {
      id: number;
      sender_id: number;
      content: string;
      reactions: { emoji_name: string; emoji_code: string; reaction_type: string }[];
    }[];
  };
  const get = async (path: string) => fieldsOf(await to.request('GET', path, { as, realm: 'copied' })) as Wire;
  const there = (await get('/get_stream_id?stream=town')).stream_id;
  const linked = messages.find(({ content }) => content.includes('the last one'))!.id;
  const iago = await to.storage.uow.read(realm.id, (r) => r.users.findByEmail(realm.id, 'iago@zulip.com'));
  expect([there, linked]).not.toEqual([town, last]);
  const linkThere = `href="#narrow/channel/${there}-town/topic/links/near/${linked}"`;
  const folderThere = (await get('/channel_folders')).channel_folders[0].rendered_description;
  const channelThere = (await get(`/streams/${there}`)).stream;
  expect(channelThere.description).toContain(`/${there}-town/topic/links/near/${linked})`);
  const realmThere = (await to.request('GET', '/server_settings', { realm: 'copied' })).body.realm_description;
  const edited = messages.find(({ content }) => content.includes('near/'))!;
  for (const html of [edited.content, channelThere.rendered_description, realmThere, folderThere]) {
    expect(html).toContain(linkThere);
    expect(html).toContain(`data-user-id="${iago!.id}"`);
  }
  const file = messages.find(({ content }) => content.includes('user_uploads'))!;
  const address = /href="(\/user_uploads\/[^"]+)"/.exec(file.content)![1]!;
  expect(address).toContain(`/user_uploads/${realm.id}/`);
  expect((await to.request('GET', `/${address}`, { as, realm: 'copied' })).body).toBe('alas');
  expect(messages.some(({ sender_id }) => sender_id === hamlet!.id)).toBe(true);
  const { emoji } = fieldsOf(await to.request('GET', '/realm/emoji', { as, realm: 'copied' })) as {
    emoji: Record<string, { name: string; source_url: string; deactivated: boolean }>;
  };
  const yorick = Object.keys(emoji).find((id) => !emoji[id]!.deactivated)!;
  expect([yorick, emoji[yorick]!.source_url]).toEqual(['3', `/user_avatars/${realm.id}/emoji/images/3.gif`]);
  const beep = messages.find(({ content }) => content.includes('beeps'))!;
  expect(beep.content).toContain(`src="${emoji[yorick]!.source_url}"`);
  const reacted = messages.flatMap(({ reactions }) => reactions).filter(({ emoji_name }) => emoji_name === 'yorick');
  expect(reacted).toEqual([expect.objectContaining({ emoji_code: yorick, reaction_type: 'realm_emoji' })]);
  const picture = await to.request('GET', `/${emoji[yorick]!.source_url}`, { realm: 'copied' });
  expect([picture.status, picture.body]).toEqual([200, 'gif 64x64x3']);
  await from.close();
  await to.close();
});

it("import takes only the new organization's write lock", async () => {
  const from = await TestServer.start();
  await fill(from);
  const to = await TestServer.start();
  const path = await exported(from);
  const writes = jest.spyOn(to.storage.uow, 'write');
  const { realm } = await imported(to, path, 'copied');
  expect(realm.id).not.toBe(from.realmId);
  expect([...new Set(writes.mock.calls.map(([realmId]) => realmId))]).toEqual([realm.id]);
  await from.close();
  await to.close();
});

describe('failed import', () => {
  let from: TestServer;
  let to: TestServer;
  beforeEach(async () => {
    from = await TestServer.start();
    to = await TestServer.startEmpty();
    await from.post('/messages', from.people.iago, { type: 'direct', to: [from.people.iago.id], content: 'x' });
  });
  afterEach(async () => {
    await from.close();
    await to.close();
  });

  const realms = () => to.storage.uow.readAcross((r) => r.realms.list());

  /** Exports with one changed file, as an unpacked folder. */
  async function changed(name: string, change: (content: string) => string): Promise<string> {
    const { source: _, ...opened } = await openExport(await exported(from), {
      names: COLUMN_NAMES,
      temporaryFolder: folder,
    });
    const unpacked = readdirSync(folder).find((entry) => entry.startsWith('parley-import-'))!;
    const copy = join(folder, 'changed');
    cpSync(join(folder, unpacked, 'parley-export'), copy, { recursive: true });
    await opened.close();
    writeFileSync(join(copy, name), change(readFileSync(join(copy, name), 'utf8')));
    return copy;
  }

  it.each([
    ['an unknown sender', 'messages-000001.json', /"sender":\d+/, '"sender":4711', /names a user 4711/],
    ['an unknown recipient', 'messages-000001.json', /"recipient":\d+/, '"recipient":4711', /names a recipient 4711/],
    ['no JSON', 'messages-000001.json', /^\{/, '', /messages-000001.json is not JSON/],
    ['an unknown role', 'parley.json', /"role":"owner"/, '"role":"king"', /role is none of/],
    ['HTML that runs', 'parley.json', /"renderedDescription":""/, '"renderedDescription":"<script>"', /not safe/],
    [
      'a picture outside the archive',
      'emoji/records.json',
      /\[\]/,
      '[{"path":"../../a.png"}]',
      /cannot be that of a file/,
    ],
    ['a newer format', 'parley.json', /"format":1/, '"format":99', /newer version/],
  ])('rejects a damaged archive: %s', async (_, name, pattern, replacement, message) => {
    const path = await changed(name, (content) => content.replace(pattern, replacement));
    await expect(imported(to, path, null)).rejects.toThrow(message);
    expect(await realms()).toEqual([]);
    // Another attempt can succeed.
    await imported(to, await exported(from), null);
    expect(await realms()).toHaveLength(1);
  });

  it('counts and skips an invalid image', async () => {
    fieldsOf(await postFiles(from, '/realm/emoji/yorick', from.people.hamlet, [imageFile()]));
    const path = await changed('emoji/1/emoji/images/1.png', () => '<script>');
    expect(await imported(to, path, null)).toMatchObject({ pictures: 0, missingPictures: 1 });
    expect((await fetch(`${to.url}/user_avatars/1/emoji/images/1.png`)).status).toBe(404);
  });

  it('leaves nothing behind if the string id is taken', async () => {
    await to.addRealm('zulip');
    await expect(imported(to, await exported(from), null)).rejects.toThrow('Subdomain is already in use');
    expect(await realms()).toHaveLength(1);
  });

  it('leaves nothing behind if the archive is truncated', async () => {
    const path = await exported(from);
    writeFileSync(path, readFileSync(path).subarray(0, 3000));
    await expect(imported(to, path, null)).rejects.toThrow(/damaged/);
  });
});
