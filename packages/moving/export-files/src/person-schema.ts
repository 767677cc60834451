const ID = { type: 'integer', minimum: 1 } as const;
const TEXT = { type: 'string' } as const;
const TIME = { type: 'number', description: 'seconds since 1970-01-01 UTC' } as const;
const BYTES = { type: 'integer', minimum: 0 } as const;

const listOf = <T extends object>(items: T) => ({ type: 'array', items }) as const;
const orNull = <T extends object>(schema: T) => ({ anyOf: [schema, { type: 'null' }] }) as const;
const record = <P extends object>(properties: P) =>
  ({ type: 'object', properties, required: Object.keys(properties) }) as const;

const NAMED = record({ id: ID, name: TEXT });

const MESSAGE = record({
  id: ID,
  sentAt: TIME,
  client: { ...TEXT, description: 'program that sent the message' },
  channel: {
    ...orNull(record({ id: ID, name: orNull(TEXT), topic: orNull(TEXT) })),
    description: 'null for direct messages; name and topic are null if the person may no longer see the channel',
  },
  participants: { ...orNull(listOf(NAMED)), description: 'of the direct conversation; null in channels' },
  sender: NAMED,
  content: { ...TEXT, description: 'Markdown' },
  earlierTexts: { ...listOf(record({ replacedAt: TIME, content: TEXT })), description: 'newest first' },
  answers: { ...listOf(TEXT), description: 'answers to polls and to-do lists as JSON' },
  data: { ...orNull({ type: 'object' }), description: 'data of the application that embeds the chat' },
  flags: { type: 'object', additionalProperties: { type: 'boolean' } },
});

/** JSON Schema of the files in a person's archive, by file name; for `.jsonl` of one line. */
export const PERSON_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $defs: {
    'account.json': {
      type: 'object',
      required: [
        'exportedAt',
        'organization',
        'user',
        'groups',
        'bots',
        'logIns',
        'invitations',
        'personal',
        'channels',
        'profileFields',
      ],
      properties: {
        exportedAt: TIME,
        organization: record({ name: TEXT, stringId: TEXT }),
        user: { type: 'object', description: 'profile, role and settings' },
        groups: listOf(TEXT),
        bots: listOf(record({ id: ID, fullName: TEXT, email: TEXT, isActive: { type: 'boolean' } })),
        logIns: { type: 'object', description: 'sessions, devices and accounts at services, without secrets' },
        invitations: { type: 'array', description: 'open invitations that the person sent' },
        personal: {
          type: 'object',
          description: 'subscriptions, drafts, reminders, other lists, and data of the application',
        },
        channels: { ...listOf(NAMED), description: 'names of the channels that the person may see' },
        profileFields: listOf(NAMED),
      },
    },
    'channel-messages.jsonl': MESSAGE,
    'direct-messages.jsonl': MESSAGE,
    'reactions.jsonl': record({ messageId: ID, type: TEXT, code: TEXT, name: TEXT }),
    'answers.jsonl': record({ messageId: ID, content: { ...TEXT, description: 'JSON' } }),
    'audit.jsonl': record({
      at: TIME,
      action: TEXT,
      isOwn: { type: 'boolean' },
      changes: { ...TEXT, description: 'JSON' },
      details: { type: ['string', 'null'], description: 'JSON' },
    }),
    'files.jsonl': record({
      id: ID,
      name: TEXT,
      size: BYTES,
      contentType: TEXT,
      createdAt: TIME,
      messageIds: { ...listOf(ID), description: 'messages that refer to the file' },
      path: { ...orNull(TEXT), description: 'in this archive; null if the bytes are missing' },
    }),
  },
} as const;
