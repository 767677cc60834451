import { VISITOR_PREFIX } from '@parley/domain/access';

/** Limits of untrusted records. Lengths are in UTF-16 units. */
const MAX_ID_LENGTH = 500;
const MAX_NAME_LENGTH = 1000;
const MAX_TEXT_LENGTH = 1_000_000;
const MAX_URL_LENGTH = 4000;
const MAX_MEMBERS = 200_000;
const MAX_PARTS = 50_000;
/** End of the year 9999; not every client can display later times. */
const LAST_SECOND = 253_402_300_799;

/** Text with no null characters, which separate ids of the import itself. */
const id = { type: 'string', minLength: 1, maxLength: MAX_ID_LENGTH, pattern: '^[^\\u0000]+$' };
const name = { type: 'string', maxLength: MAX_NAME_LENGTH };
const text = { type: 'string', maxLength: MAX_TEXT_LENGTH };
const url = { type: 'string', maxLength: MAX_URL_LENGTH };
const flag = { type: 'boolean' };
const time = { type: 'number', minimum: 0, maximum: LAST_SECOND };
const ids = (maxItems: number) => ({ type: 'array', maxItems, items: id });
const content = { $ref: '#/definitions/content' };
const part = (properties: object, required: readonly string[]) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

/** Object. Members are required unless their name ends with `?`. */
function recordOf(kind: string, members: Readonly<Record<string, object>>, more: object = {}) {
  const named = Object.entries(members).map(([key, shape]) => [key.replace('?', ''), shape] as const);
  return {
    type: 'object',
    properties: { source: name, kind: { const: kind }, id, ...Object.fromEntries(named) },
    required: ['source', 'kind', 'id', ...Object.keys(members).filter((key) => !key.endsWith('?'))],
    additionalProperties: false,
    ...more,
  };
}

/** Message in a channel or in a conversation. */
const ONE_PLACE = { oneOf: [{ required: ['channel'] }, { required: ['conversation'] }] };

const RECORDS = [
  recordOf('organization', {
    name,
    'description?': text,
    'createdAt?': time,
    'urls?': { type: 'array', maxItems: 100, items: url },
    'messageFiles?': { enum: ['days', 'threads'] },
  }),
  recordOf('person', {
    name,
    'userName?': name,
    'email?': name,
    'isEmailVerified?': flag,
    // Ids of visitors belong to this server.
    'externalId?': { ...id, pattern: `^(?!${VISITOR_PREFIX})[^\\u0000]+$` },
    'role?': { enum: ['owner', 'administrator', 'moderator', 'member', 'guest'] },
    'isBot?': flag,
    'isDeactivated?': flag,
    'isExternal?': flag,
    'joinedAt?': time,
    'timeZone?': name,
    'avatar?': id,
  }),
  recordOf('group', {
    name,
    'description?': text,
    members: ids(MAX_MEMBERS),
    'hasMoreMembers?': flag,
    'isDeactivated?': flag,
  }),
  recordOf('channel', {
    name,
    'description?': text,
    privacy: { enum: ['public', 'private'] },
    members: ids(MAX_MEMBERS),
    'hasMoreMembers?': flag,
    'isUnlisted?': flag,
    'isArchived?': flag,
    'isReadOnly?': flag,
    'createdAt?': time,
    'creator?': id,
    'folder?': name,
  }),
  recordOf('conversation', { members: { ...ids(10_000), minItems: 1 } }),
  recordOf('thread', { channel: id, 'name?': name }),
  recordOf(
    'message',
    {
      'channel?': id,
      'conversation?': id,
      'thread?': id,
      'topic?': name,
      sender: id,
      'senderName?': name,
      sentAt: time,
      'editedAt?': time,
      content,
      'files?': ids(1000),
      'replyTo?': id,
      'isBroadcast?': flag,
      'isAutomatic?': flag,
      'isNotice?': flag,
      'unsupported?': {
        type: 'array',
        maxItems: 1000,
        items: part({ type: name, original: {} }, ['type', 'original']),
      },
    },
    ONE_PLACE,
  ),
  recordOf('reaction', { message: id, person: id, emoji: { ...name, minLength: 1 }, 'at?': time }),
  recordOf('edit', { message: id, 'person?': id, at: time, previous: content }),
  recordOf('deletion', { message: id, 'at?': time }),
  recordOf(
    'file',
    {
      name,
      'contentType?': name,
      'size?': { type: 'number', minimum: 0 },
      'createdAt?': time,
      'owner?': id,
      'path?': url,
      'url?': url,
      'missing?': name,
    },
    {
      not: {
        anyOf: [{ required: ['path', 'url'] }, { required: ['path', 'missing'] }, { required: ['url', 'missing'] }],
      },
    },
  ),
  recordOf('emoji', { name: { ...name, minLength: 1 }, 'file?': id, 'aliasOf?': name }),
  recordOf('pin', { message: id, 'person?': id, 'at?': time }),
  recordOf('readPosition', { person: id, 'channel?': id, 'conversation?': id, readUntil: time }, ONE_PLACE),
  recordOf('skipped', {
    type: name,
    reason: name,
    'original?': {},
    'gap?': part({ channel: id, conversation: id, from: time, until: time }, []),
  }),
];

export const RECORD_KINDS: readonly string[] = RECORDS.map(({ properties }) => properties.kind.const);

/** JSON Schema of `ImportRecord`, published as docs/import-record.schema.json. */
export const RECORD_SCHEMA = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Import record',
  description: 'One line of a file for parley import; see docs/import.md.',
  type: 'object',
  required: ['kind'],
  discriminator: { propertyName: 'kind' },
  oneOf: RECORDS,
  definitions: {
    content: {
      anyOf: [text, { type: 'array', maxItems: MAX_PARTS, items: { $ref: '#/definitions/contentPart' } }],
    },
    contentPart: {
      anyOf: [
        text,
        part({ mention: { enum: ['person', 'group'] }, id, name }, ['mention', 'id']),
        part({ mention: { const: 'everyone' } }, ['mention']),
        part({ link: { enum: ['channel', 'message', 'file'] }, id, label: name, url }, ['link', 'id']),
      ],
    },
  },
} as const;
