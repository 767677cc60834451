import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EXPORT_PARTS } from '@parley/domain/composition';
import type { RealmId } from '@parley/domain/kernel';
import { REALM_PERMISSIONS, STORED_REALM_SETTINGS, USER_SETTINGS } from '@parley/domain/realms';
import { openExport, writeExport } from '@parley/export-files';
import { COLUMN_NAMES } from '@parley/server/testing';
import { RealmReader } from '@parley/transfer/exports';
import { ImportRealm } from '@parley/transfer/imports';
import { fieldsOf } from '../testing/expectations.js';
import { fill } from '../testing/filled-organization.js';
import { serverPerSuite } from '../testing/servers.js';

// biome-ignore lint/suspicious/noExplicitAny: a document that is changed in any way.
type Document = any;

const folder = mkdtempSync(join(tmpdir(), 'parley-hostile-'));
const options = { names: COLUMN_NAMES, temporaryFolder: folder };
const unpacked = join(folder, 'unpacked');
/** Export of a Zulip server with the same organization. */
const fromZulip = join(folder, 'from-zulip');
let original: string;
let tables: string;
let imports = 0;
/** Files with rows of people, messages and uploads. */
const LINES = 'parley-people.jsonl';
const MESSAGES = 'messages-000001.json';
const FILES = 'attachment.json';

const { server } = serverPerSuite();
beforeAll(async () => {
  const { desdemona, hamlet } = server.people;
  await server.addBot(hamlet, 'caller', 'outgoingWebhook');
  await fill(server);
  fieldsOf(
    await server.post('/realm/profile_fields', desdemona, {
      name: 'Account',
      field_type: 7,
      field_data: { subtype: 'custom', url_pattern: 'https://example.com/%(username)s' },
    }),
  );
  const group = { group_name: 'all', description: 'of channels', stream_names: [] };
  fieldsOf(await server.post('/default_stream_groups/create', desdemona, group));
  const source = await server.parley.useCase(RealmReader).open(server.realmId, { covers: 'all' });
  const archive = join(folder, 'export.tar.gz');
  await writeFile(archive, writeExport(source, options));
  const { close } = await openExport(archive, options);
  const there = readdirSync(folder).find((entry) => entry.startsWith('parley-import-'))!;
  cpSync(join(folder, there, 'parley-export'), unpacked, { recursive: true });
  await close();
  const rows = { ...documentIn(MESSAGES), ...documentIn(FILES) };
  const people = readFileSync(join(unpacked, LINES), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  original = JSON.stringify({ ...documentIn('parley.json').realm, lines: people, ...rows });
  tables = JSON.stringify({ ...documentIn('realm.json'), ...rows });
  // Pictures take most of the time of an import.
  for (const kind of ['avatars', 'emoji', 'realm_icons']) rmSync(join(unpacked, kind), { recursive: true });
  cpSync(unpacked, fromZulip, { recursive: true });
  rmSync(join(fromZulip, 'parley.json'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
});

const MARKER = 'hostile7';
/** One of so many places is tested; all in `npm run endurance`. */
const SHARE = process.env.HOSTILE_LOAD === 'long' ? 1 : 4;

/** Texts of messages and files in both archives. HTML is sanitized. */
const FREE_MESSAGE_COLUMNS = [
  ...['zerver_message.#.content', 'zerver_message.#.rendered_content', 'zerver_message.#.subject'],
  ...['parley_message.#.submessages.#.content', 'parley_message.#.submessages.#.kind', 'parley_client.#.name'],
  'zerver_attachment.#.file_name',
];

/** Texts that users may set to anything. Clients show them as text or as Markdown. */
const FREE_TEXTS = [
  ...['realm.renderedDescription', 'realm.settings.defaultCodeBlockLanguage', 'profileFields.#.data.subtype'],
  ...['realm.name', 'realm.settings.description', 'realm.settings.welcomeMessageCustomText'],
  ...['groups.#.name', 'groups.#.description', 'playgrounds.#.name', 'profileFields.#.name', 'profileFields.#.hint'],
  'defaultChannelGroups.#.description',
  ...['channels', 'channelFolders'].flatMap((owner) => [`${owner}.#.description`, `${owner}.#.renderedDescription`]),
  ...[
    ...['alertWords.#', 'botStorage.#.key', 'botStorage.#.value', 'drafts.#.content', 'drafts.#.to.topic'],
    ...['navigationViews.#.fragment', 'navigationViews.#.name', 'profile.#.rendered', 'profile.#.value'],
    ...['reminders.#.content', 'reminders.#.failure', 'reminders.#.note', 'reminders.#.renderedContent'],
    ...['clientName', 'content', 'failure', 'renderedContent', 'topic'].map((name) => `scheduledMessages.#.${name}`),
    ...['snippets.#.content', 'snippets.#.title', 'status.text', 'topicPolicies.#.topic'],
  ].map((name) => `lines.#.${name}`),
  'parley_message.#.topicLinks.#.text',
  ...FREE_MESSAGE_COLUMNS,
];

/** The same texts in the tables of a Zulip server. */
const FREE_COLUMNS = [
  ...['name', 'description', 'rendered_description', 'default_code_block_language', 'welcome_message_custom_text'].map(
    (column) => `zerver_realm.#.${column}`,
  ),
  ...['zerver_customprofilefield.#.hint', 'zerver_customprofilefield.#.name'],
  ...['zerver_namedusergroup.#.description', 'zerver_namedusergroup.#.name', 'zerver_realmplayground.#.name'],
  ...['stream', 'channelfolder'].flatMap((owner) => [
    `zerver_${owner}.#.description`,
    `zerver_${owner}.#.rendered_description`,
  ]),
  ...[
    ...['usertopic.#.topic_name', 'customprofilefieldvalue.#.value', 'customprofilefieldvalue.#.rendered_value'],
    ...['userstatus.#.status_text', 'alertword.#.word', 'savedsnippet.#.title', 'savedsnippet.#.content'],
    ...['navigationview.#.fragment', 'navigationview.#.name', 'botstoragedata.#.key', 'botstoragedata.#.value'],
  ].map((column) => `zerver_${column}`),
  ...FREE_MESSAGE_COLUMNS,
];

/** Settings and permissions in each archive, as declared. */
const SETTINGS = [
  ...Object.keys(STORED_REALM_SETTINGS).map((name) => `realm.settings.${name}`),
  ...Object.keys(USER_SETTINGS).flatMap((name) => [`realm.userDefaults.${name}`, `users.#.user.settings.${name}`]),
  ...Object.keys(REALM_PERMISSIONS).map((name) => `realm.permissions.${name}`),
];
const SETTING_COLUMNS = [
  ...Object.keys(COLUMN_NAMES.realm.present(STORED_REALM_SETTINGS))
    // Zulip has these columns under other names.
    .filter((name) => !/_(?:stream|channel)_id$/.test(name))
    .map((name) => `zerver_realm.#.${name}`),
  ...Object.keys(COLUMN_NAMES.user.present(USER_SETTINGS)).flatMap((name) => [
    `zerver_realmuserdefault.#.${name}`,
    `zerver_userprofile.#.${name}`,
  ]),
  ...Object.keys(REALM_PERMISSIONS).map((name) => `zerver_realm.#.${COLUMN_NAMES.permission(name)}`),
];

/** Declared parts in an archive of a Parley server. Those of applications and of erasures have tests of their own. */
const PARTS = [
  ...EXPORT_PARTS.realm
    .flatMap(({ none }) => Object.keys(none))
    .filter((name) => !['dataKeys', 'dataSchemas', 'erasures'].includes(name)),
  ...EXPORT_PARTS.people.flatMap(({ none }) => Object.keys(none).map((name) => `lines.#.${name}`)),
];

type Path = readonly string[];

/** Returns one place of each kind of value in a document, by a name without the positions in lists. */
function placesIn(value: Document): ReadonlyMap<string, Path> {
  const places = new Map<string, Path>();
  const visit = (member: Document, path: Path, name: Path) => {
    if (typeof member !== 'object' || member === null) places.set(name.join('.'), path);
    else {
      const isList = Array.isArray(member);
      for (const key of Object.keys(member)) visit(member[key], [...path, key], [...name, isList ? '#' : key]);
    }
  };
  visit(value, [], []);
  return places;
}

const isParent = (places: ReadonlyMap<string, Path>, name: string): boolean =>
  [...places.keys()].some((place) => place.startsWith(`${name}.`));

function setAt(document: Document, path: Path, value: unknown): void {
  const owner = path.slice(0, -1).reduce((at, key) => at[key], document);
  owner[path.at(-1)!] = value;
}

async function isStored(realmId: RealmId): Promise<boolean> {
  const source = await server.parley.useCase(RealmReader).open(realmId, { covers: 'all' });
  const stored: unknown[] = [source.realm];
  for (const rows of [source.people(), source.messages(), source.files()])
    for await (const row of rows) stored.push(row);
  return JSON.stringify(stored).includes(MARKER);
}

const documentIn = (name: string): Document => JSON.parse(readFileSync(join(unpacked, name), 'utf8'));

/** Writes rows of messages and files, which both archives have, and returns the other members. */
function writeRows(path: string, { zerver_attachment, ...document }: Document): Document {
  const { zerver_message, zerver_usermessage, parley_message, parley_client, ...others } = document;
  const messages = { zerver_message, zerver_usermessage, parley_message, parley_client };
  writeFileSync(join(path, MESSAGES), JSON.stringify(messages));
  writeFileSync(join(path, FILES), JSON.stringify({ zerver_attachment }));
  return others;
}

const realms = () => server.storage.uow.readAcross((reads) => reads.realms.list());

function importChanged(change: (copy: Document) => void) {
  const document = JSON.parse(original);
  change(document);
  const { lines, ...realm } = writeRows(unpacked, document);
  writeFileSync(join(unpacked, LINES), lines.map((line: unknown) => JSON.stringify(line)).join('\n'));
  writeFileSync(join(unpacked, 'parley.json'), JSON.stringify({ format: 1, realm }));
  return importFrom(unpacked);
}

function importTables(change: (copy: Document) => void) {
  const document = JSON.parse(tables);
  change(document);
  writeFileSync(join(fromZulip, 'realm.json'), JSON.stringify(writeRows(fromZulip, document)));
  return importFrom(fromZulip);
}

async function importFrom(path: string) {
  const { source, close } = await openExport(path, options);
  try {
    return await server.parley.useCase(ImportRealm).execute({ source, stringId: `copy${++imports}` });
  } finally {
    await close();
  }
}

const personOf = (copy: Document) => copy.users.find(({ user }: Document) => user.email === 'hamlet@zulip.com').user;
const botOf = (copy: Document) => copy.users.find(({ user }: Document) => user.bot?.kind === 'outgoingWebhook');
const profileOf = (copy: Document) => copy.lines.find(({ profile }: Document) => profile.length > 0).profile;
const schema = (text: string) => ({ kind: 'channel', schema: text });

describe('archive of a stranger', () => {
  it('is imported without what only the operator grants, which the report names', async () => {
    const { realm, dropped } = await importChanged((copy) => {
      personOf(copy).specialPermissions = ['canHoldMessages', 'canCreateUsers'];
      copy.realm.settings.ownerFullContentAccess = true;
      copy.realm.settings.presenceDisabled = true;
    });
    expect(dropped).toEqual([
      'canHoldMessages of hamlet@zulip.com',
      'canCreateUsers of hamlet@zulip.com',
      'ownerFullContentAccess',
    ]);
    expect(realm.settings).toMatchObject({ ownerFullContentAccess: false, presenceDisabled: true });
    const user = await server.storage.uow.read(realm.id, ({ users }) =>
      users.findByEmail(realm.id, 'hamlet@zulip.com'),
    );
    expect(user!.specialPermissions).toEqual([]);
  });

  it.each<[string, (copy: Document) => void, string]>([
    [
      'a schema that is not JSON',
      (copy) => copy.dataSchemas.push(schema('{')),
      'The schema for data of each channel is invalid: it is not JSON.',
    ],
    [
      'an asynchronous schema',
      (copy) => copy.dataSchemas.push(schema('{"$async":true}')),
      'The schema for data of each channel is invalid: the keyword $async is not supported here.',
    ],
    [
      'a cyclic schema',
      (copy) => copy.dataSchemas.push(schema('{"$ref":"#"}')),
      'The schema for data of each channel is invalid: $ref must be #/$defs/ and a name of $defs.',
    ],
    [
      'a pattern with a lookahead',
      (copy) => copy.dataSchemas.push(schema('{"properties":{"a":{"pattern":"(?=a)"}}}')),
      'The schema for data of each channel is invalid: error parsing regexp: invalid or unsupported Perl syntax: `(?=`.',
    ],
    [
      'a playground with a script',
      (copy) => {
        copy.playgrounds[0].urlTemplate = 'javascript:alert({code})';
      },
      'playground play, which is a script',
    ],
    [
      'a linkifier with a script',
      (copy) => {
        copy.linkifiers[0].urlTemplate = 'javascript:{id}';
      },
      'linkifier #(?P<id>[0-9]+): Invalid URL template.',
    ],
    [
      'a domain that is none',
      (copy) => {
        copy.allowedDomains[0].domain = 'localhost';
      },
      'domain: Invalid domain: Domain must have at least one dot (.)',
    ],
  ])('is imported without %s, which the report names', async (_, change, reason) => {
    const { realm, dropped } = await importChanged(change);
    expect(dropped).toEqual([reason]);
    const rows = await server.storage.uow.read(realm.id, async (reads) => [
      ...(await reads.dataSchemas.list(realm.id)),
      ...(await reads.playgrounds.list(realm.id)).filter(({ urlTemplate }) => urlTemplate.startsWith('javascript')),
    ]);
    expect(rows).toEqual([]);
  });

  const SCRIPT = `javascript:${MARKER}\r\n<b>*`;
  it.each<[value: string, archive: string, hostile: unknown, stored: readonly string[]]>([
    ['another type', 'of a Parley server', { marker: MARKER }, []],
    ['a null character', 'of a Parley server', `${MARKER}\0`, []],
    ['a script with line breaks', 'of a Parley server', SCRIPT, FREE_TEXTS],
    ['another type', 'of a Zulip server', { marker: MARKER }, []],
    ['a null character', 'of a Zulip server', `${MARKER}\0`, []],
    ['a script with line breaks', 'of a Zulip server', SCRIPT, FREE_COLUMNS],
  ])(
    'refuses or reports %s in each setting of an archive %s, and stores it only in texts without format',
    async (_, archive, hostile, stored) => {
      const isOwn = archive === 'of a Parley server';
      const places = placesIn(JSON.parse(isOwn ? original : tables));
      const settings = isOwn ? SETTINGS : SETTING_COLUMNS;
      expect(
        [...settings, ...(isOwn ? PARTS : [])].filter((name) => !places.has(name) && !isParent(places, name)),
      ).toEqual([]);
      const { dropped: usual } = await (isOwn ? importChanged(() => {}) : importTables(() => {}));
      expect(usual).toEqual([]);
      const found: string[] = [];
      const silent: string[] = [];
      const chosen = new Map([...places].filter((_place, index) => index % SHARE === 0));
      for (const [name, path] of chosen) {
        const change = (copy: Document) => setAt(copy, path, hostile);
        const outcome = await (isOwn ? importChanged(change) : importTables(change)).catch(({ code }) => ({ code }));
        if ('code' in outcome) expect([name, outcome.code]).toEqual([name, 'INVALID_IMPORT']);
        else if (outcome.dropped.length === 0) ((await isStored(outcome.realm.id)) ? found : silent).push(name);
      }
      expect(found.sort()).toEqual(stored.filter((name) => chosen.has(name)).sort());
      expect(silent.filter((name) => settings.includes(name))).toEqual([]);
    },
  );

  it('is refused from a Zulip server with a webhook that is a file, and imported with an empty one', async () => {
    const change = (url: string) => (copy: Document) => {
      const webhook = { token: 't', interface: 1, base_url: url };
      copy.zerver_service = [
        { ...webhook, user_profile: copy.zerver_userprofile.find((user: Document) => user.is_bot).id },
      ];
    };
    await expect(importTables(change('file:///etc/passwd'))).rejects.toThrow(
      'zerver_service[0].base_url is not an address of the web',
    );
    const { realm } = await importTables(change(''));
    const copy = await server.parley.useCase(RealmReader).open(realm.id, { covers: 'all' });
    expect(copy.realm.users.filter(({ botOptions }) => botOptions?.webhook)).toEqual([]);
  });

  it('is imported with a supported schema, which checks patterns in bounded time', async () => {
    const { realm, dropped } = await importChanged((copy) => {
      copy.dataSchemas.push(schema('{"properties":{"a":{"pattern":"^(a+)+$"}}}'));
    });
    expect(dropped).toEqual([]);
    const { id } = await server.parley.realms.find(realm.stringId).then((found) => found!);
    const [stored] = await server.storage.uow.read(realm.id, ({ dataSchemas }) => dataSchemas.list(realm.id));
    expect(id).toBe(realm.id);
    const data = { a: `${'a'.repeat(3000)}!` };
    expect(server.parley.ports.dataValidator.mismatch(stored!.schema, data)).toBe('/a must match pattern "^(a+)+$"');
  });

  it.each<[string, (copy: Document) => void, RegExp]>([
    ['two schemas for one kind', (copy) => copy.dataSchemas.push(schema('{}'), schema('{}')), /There is a schema for/],
    ['a long schema', (copy) => copy.dataSchemas.push(schema(' '.repeat(16_385))), /schema is too long/],
    [
      '21 keys of data',
      (copy) =>
        copy.dataKeys.push(...Array.from({ length: 21 }, (_, n) => ({ kind: 'user', name: `k${n}`, type: 'number' }))),
      /20/,
    ],
    [
      'a script in a link of a profile',
      (copy) => {
        copy.profileFields.find(({ id }: Document) => id === profileOf(copy)[0].fieldId).kind = 'link';
        profileOf(copy)[0].value = 'javascript:alert(1)';
      },
      /Mood is not a URL/,
    ],
    [
      'a long text in a profile',
      (copy) => Object.assign(profileOf(copy)[0], { value: 'x'.repeat(51) }),
      /Mood is too long/,
    ],
    [
      'an email address with a line break',
      (copy) => Object.assign(personOf(copy), { email: 'a@b.example\r\nBcc: c' }),
      /email contains/,
    ],
    [
      'an account with a script',
      (copy) => Object.assign(copy.profileFields[0].data, { url_pattern: 'javascript:%(username)s' }),
      /data is a script/,
    ],
    [
      'a webhook that is a file',
      (copy) => {
        const webhook = { url: 'file:///etc/passwd', interface: 'generic', token: 't' };
        botOf(copy).botOptions = { eventsChannelId: null, allPublicChannels: false, webhook };
      },
      /url is not an address of the web/,
    ],
    ['an unknown special permission', (copy) => personOf(copy).specialPermissions.push('canDoAll'), /is none of/],
    [
      'a setting of another type',
      (copy) => Object.assign(copy.realm.settings, { messageRetentionDays: -1 }),
      /has no such value/,
    ],
  ])('is refused with %s', async (_, change, problem) => {
    const before = await realms();
    await expect(importChanged(change)).rejects.toThrow(problem);
    expect(await realms()).toEqual(before);
  });
});
