import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ImportRecord } from '@parley/transfer/records';
import { Ajv } from 'ajv';
import { checkRecord } from './check-record.js';
import { RECORD_SCHEMA } from './record-schema.js';

type Complete<R> = R extends ImportRecord ? { readonly [K in keyof R]-?: unknown } : never;

const of = { source: 'test:1', id: 'x' };
const content = [
  'Hello ',
  { mention: 'person', id: 'p', name: 'Ann' },
  { mention: 'group', id: 'g', name: 'staff' },
  { mention: 'everyone' },
  { link: 'file', id: 'f', label: 'plan', url: 'https://files.example/f' },
];

/** Records with every member that their type has. */
const COMPLETE: readonly Partial<Complete<ImportRecord>>[] = [
  { ...of, kind: 'organization', name: 'Acme', description: 'd', createdAt: 1, urls: ['https://acme.example'] },
  {
    ...of,
    ...{
      kind: 'person',
      name: 'Ann',
      userName: 'ann',
      email: 'ann@acme.example',
      isEmailVerified: true,
      externalId: 'e',
    },
    ...{
      role: 'guest',
      isBot: false,
      isDeactivated: false,
      isExternal: false,
      joinedAt: 1.5,
      timeZone: 'UTC',
      avatar: 'f',
    },
  },
  { ...of, kind: 'group', name: 'staff', description: '', members: ['p'], isDeactivated: false },
  {
    ...of,
    ...{ kind: 'channel', name: 'general', description: '', privacy: 'public', members: [], isArchived: false },
    ...{ isReadOnly: true, createdAt: 1, creator: 'p', folder: 'Team' },
  },
  { ...of, kind: 'conversation', members: ['p', 'q'] },
  { ...of, kind: 'thread', channel: 'c', name: 'Lunch' },
  {
    ...of,
    ...{
      kind: 'message',
      channel: 'c',
      thread: 'm',
      topic: 't',
      sender: 'p',
      senderName: 'Hook',
      sentAt: 1,
      editedAt: 2,
    },
    ...{ content, files: ['f'], replyTo: 'm', isBroadcast: true, isAutomatic: true, isNotice: true },
    unsupported: [{ type: 'poll', original: { deep: [1] } }],
  },
  { ...of, kind: 'message', conversation: 'd', sender: 'p', sentAt: 1, content: '' },
  { ...of, kind: 'reaction', message: 'm', person: 'p', emoji: '👍', at: 1 },
  { ...of, kind: 'edit', message: 'm', person: 'p', at: 1, previous: 'before' },
  { ...of, kind: 'deletion', message: 'm', at: 1 },
  { ...of, kind: 'file', name: 'a.png', contentType: 'image/png', size: 1, createdAt: 1, owner: 'p', path: 'a.png' },
  { ...of, kind: 'file', name: 'a.png', url: 'https://files.example/a.png' },
  { ...of, kind: 'file', name: 'a.png', missing: 'deleted' },
  { ...of, kind: 'emoji', name: 'party', file: 'f', aliasOf: 'tada' },
  { ...of, kind: 'pin', message: 'm', person: 'p', at: 1 },
  { ...of, kind: 'readPosition', person: 'p', channel: 'c', readUntil: 1 },
  { ...of, kind: 'skipped', type: 'join', reason: 'no counterpart', original: null },
];

const message = { ...of, kind: 'message', channel: 'c', sender: 'p', sentAt: 1, content: 'x' };

describe('checkRecord', () => {
  it.each(COMPLETE.map((record) => [record.kind, record]))('accepts a complete %s', (_, record) => {
    expect(checkRecord(record, 'line 1')).toBe(record);
  });

  it.each([
    ['a text', 'person', /line 7 is not an import record/],
    ['an unknown kind', { ...of, kind: 'car' }, /line 7 has the unknown kind "car"; kinds are .*person, .*message, /],
    ['no kind', of, /line 7 lacks kind/],
    ['a missing member', { ...of, kind: 'person' }, /line 7 lacks name/],
    ['an unknown member', { ...message, contnet: 'x' }, /line 7 has the unknown member "contnet"/],
    ['a null member', { ...message, topic: null }, /line 7 .*topic.*string/],
    ['two places', { ...message, conversation: 'd' }, /line 7 is not an import record/],
    ['no place', { ...message, channel: undefined }, /line 7/],
    [
      'an infinite time',
      JSON.parse('{"source":"s","id":"x","kind":"deletion","message":"m","at":1e400}'),
      /line 7 .*at/,
    ],
    ['a time after the year 9999', { ...message, sentAt: 1e15 }, /line 7 .*sentAt/],
    ['an empty id', { ...message, id: '' }, /line 7 .*id/],
    ['an id with a null character', { ...message, id: 'a\0b' }, /line 7 .*id/],
    ['an endless id', { ...message, id: 'x'.repeat(501) }, /line 7 .*id/],
    [
      'the external id of a visitor',
      { ...of, kind: 'person', name: 'Ann', externalId: 'parley-visitor:1' },
      /line 7 .*externalId.*parley-visitor:/,
    ],
    ['an endless text', { ...message, content: 'x'.repeat(1_000_001) }, /line 7 .*content/],
    ['a mention without an id', { ...message, content: [{ mention: 'person' }] }, /line 7/],
    ['a file with path and URL', { ...of, kind: 'file', name: 'a', path: 'a', url: 'https://a.example' }, /line 7/],
    ['a prototype', JSON.parse(`{"__proto__":${JSON.stringify(message)}}`), /line 7/],
    ['a prototype next to members', JSON.parse(JSON.stringify(message).replace('{', '{"__proto__":{},')), /__proto__/],
  ])('rejects %s', (_, value, reason) => {
    expect(() => checkRecord(value, 'line 7')).toThrow(
      expect.objectContaining({ code: 'INVALID_IMPORT', message: expect.stringMatching(reason) }),
    );
  });

  it('uses a valid schema', () => {
    expect(new Ajv().validateSchema(RECORD_SCHEMA)).toBe(true);
  });

  it('uses the published schema', () => {
    const published = join(__dirname, '../../../../docs/import-record.schema.json');
    expect(JSON.parse(readFileSync(published, 'utf8'))).toEqual(RECORD_SCHEMA);
  });
});
