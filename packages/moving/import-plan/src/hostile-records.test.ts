import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  MAX_CHANNEL_DESCRIPTION_LENGTH,
  MAX_CHANNEL_FOLDER_NAME_LENGTH,
  parseChannelName,
  parseFolderName,
  parseTopic,
} from '@parley/domain/channels';
import { parseEmojiName } from '@parley/domain/files';
import { MAX_GROUP_DESCRIPTION_LENGTH, parseGroupName } from '@parley/domain/groups';
import { positionOfUnprintable, settingValues } from '@parley/domain/kernel';
import { checkNewRealm } from '@parley/domain/log-in';
import { STORED_REALM_SETTINGS, USER_SETTINGS } from '@parley/domain/realms';
import { isEmailAddress, parseFullName } from '@parley/domain/users';
import { FakeRenderer } from '@parley/testkit';
import { checkRecord } from './check-record.js';
import { planImport } from './plan.js';
import { RECORD_SCHEMA } from './record-schema.js';
import { openRecords, type TestRecords } from './testing/open-records.js';

const folder = mkdtempSync(join(tmpdir(), 'parley-hostile-records-'));
afterAll(() => rmSync(folder, { recursive: true }));

const VALUES = [
  ...['', ' ', '\0', '\u0001', '\r\nBcc: x', '\ud800', '\u202e', 'javascript:alert(1)', '<script>', '"`\\>*'],
  ...['@all', ' @all', '@ @all', '\0role:owners', 'role:role:x', 'Ann|12', '@**Ann**', '-_', '../..', 'a@b.example\0'],
  ...['x'.repeat(1000), '@'.repeat(1000), '\u0301'.repeat(1000), 'é*'.repeat(500)],
];

/** Valid record of each kind that names, addresses or describes something. */
const VALID: Readonly<Record<string, object>> = {
  organization: { name: 'Acme' },
  person: { name: 'Ann', email: 'ann@acme.example', isEmailVerified: true },
  group: { name: 'makers', members: [] },
  channel: { name: 'general', privacy: 'public', members: [] },
  thread: { channel: 'c', name: 'x' },
  message: { channel: 'c', thread: 'm', sender: 'p', sentAt: 1, content: 'x' },
  emoji: { name: 'cat', file: 'f' },
};

const isText = (schema: object): boolean => (schema as { type?: unknown }).type === 'string';

/** Records with each value in each text of the schema; the import refuses those that are left out. */
function hostileRecords(kind: string): TestRecords {
  const { properties } = RECORD_SCHEMA.oneOf.find((record) => record.properties.kind.const === kind)!;
  const members = Object.entries(properties).filter(([name, schema]) => name !== 'source' && isText(schema));
  expect(members.length).toBeGreaterThan(0);
  return members.flatMap(([member]) =>
    VALUES.flatMap((value, number) => {
      const record = { kind, id: `${kind} ${member} ${number}`, ...VALID[kind], [member]: value };
      try {
        checkRecord({ source: 'test:1', ...record }, '');
        return [record as TestRecords[number]];
      } catch {
        return [];
      }
    }),
  );
}

const plan = (records: TestRecords) =>
  planImport(openRecords(records, { 'a.png': Buffer.from('x') }), {
    stringId: 'acme',
    realmUrl: 'https://acme.example',
    mappings: [],
    temporaryFolder: folder,
    now: 2_000_000_000,
    renderer: new FakeRenderer(),
    unicodeEmoji: () => ({ namesByCode: new Map(), codesByName: new Map() }),
  });

const BASE: TestRecords = [
  { kind: 'person', id: 'p', name: 'Ann' },
  { kind: 'channel', id: 'c', name: 'general', privacy: 'public', members: [] },
  { kind: 'message', id: 'm', channel: 'c', sender: 'p', sentAt: 1, content: 'x' },
  { kind: 'file', id: 'f', name: 'a.png', path: 'a.png' },
];

describe('records with hostile texts', () => {
  it('become people, groups, channels, emoji and topics whose names the API accepts, without any permission', async () => {
    const kinds = Object.keys(VALID).filter((kind) => kind !== 'organization');
    const { source, close } = await plan([...BASE, ...kinds.flatMap(hostileRecords)]);
    const { users, groups, channels, channelFolders, customEmoji } = source.realm;
    expect([users, groups, channels, channelFolders, customEmoji].map((all) => all.length > 5)).not.toContain(false);
    for (const { user } of users) {
      if (user.bot?.isSystem) continue;
      expect(parseFullName(user.fullName, 1)).toBe(user.fullName);
      expect([user.email, isEmailAddress(user.email)]).toEqual([user.email, true]);
      expect([user.role, user.specialPermissions]).toEqual(['member', []]);
      expect(user.settings).toEqual(settingValues(USER_SETTINGS, {}));
    }
    for (const { name, description, systemName } of groups) {
      if (systemName !== null) continue;
      expect([parseGroupName(name!), positionOfUnprintable(name!)]).toEqual([name, 0]);
      expect([...description].length).toBeLessThanOrEqual(MAX_GROUP_DESCRIPTION_LENGTH);
    }
    for (const { name, description, renderedDescription } of channels) {
      expect(parseChannelName(name)).toBe(name);
      expect([...description].length).toBeLessThanOrEqual(MAX_CHANNEL_DESCRIPTION_LENGTH);
      expect(renderedDescription).not.toContain('<script');
    }
    for (const { name } of channelFolders) {
      expect([parseFolderName(name), [...name].length <= MAX_CHANNEL_FOLDER_NAME_LENGTH]).toEqual([name, true]);
    }
    for (const { name } of customEmoji) expect(parseEmojiName(name)).toBe(name);
    for await (const page of source.messages()) {
      for (const { message } of page) expect(parseTopic(message.topic)).toBe(message.topic);
    }
    close();
  });

  it('become an organization with a name that the API accepts, and its usual settings', async () => {
    for (const record of hostileRecords('organization')) {
      const { source, close } = await plan([record, ...BASE]);
      const { name, settings } = source.realm.realm;
      checkNewRealm({ stringId: 'acme', name });
      expect(positionOfUnprintable(name)).toBe(0);
      expect(settings).toEqual({ ...settingValues(STORED_REALM_SETTINGS, {}), description: settings.description });
      close();
    }
  });
});
