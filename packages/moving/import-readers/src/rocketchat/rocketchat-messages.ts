import { slackEmoji } from '@parley/domain/markdown';
import type { ImportRecord, MessageRecord, UnsupportedPart } from '@parley/transfer/records';
import { plainJson } from '../bson-documents.js';
import { field, flagOf, isObject, listOf, numberOf, present, textOf, textsOf, timeOf } from '../fields.js';
import { quotationOf, type RocketChatNames, rocketChatContent } from './rocketchat-text.js';

/** Place of the messages of a room. */
export interface RocketChatPlace {
  readonly channel?: string;
  readonly conversation?: string;
  /** Set for discussions, which are threads of their channel. */
  readonly thread?: string;
}

/** State of one reading of an export. */
export interface RocketChatContext extends RocketChatNames {
  readonly source: string;
  /** Returns the place of a room, also of one without an entry. */
  placeOf(room: string): RocketChatPlace;
  addPerson(id: string, name: string, isExternal: boolean): void;
  hasFile(id: string): boolean;
  /** Returns true at the first call for a file without an upload. */
  isNewMissingFile(id: string): boolean;
}

/** Changes of membership, which the subscriptions already contain. */
const MEMBERSHIP: ReadonlySet<string> = new Set(
  (
    'uj,ul,ut,ult,ujt,au,ru,wm,added-user-to-team,removed-user-from-team,user-added-room-to-team,user-removed-room-from-team,' +
    'user-converted-to-team,user-converted-to-channel,user-deleted-room-from-team,livechat-started'
  ).split(','),
);

/** Notices, with the words that precede their text. */
const NOTICES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    r: 'Renamed the channel:',
    rm: 'Message removed',
    room_changed_topic: 'Changed the topic:',
    room_changed_description: 'Changed the description:',
    room_changed_announcement: 'Changed the announcement:',
    room_changed_avatar: 'Changed the picture of the channel',
    room_changed_privacy: 'Changed the privacy:',
    'room-archived': 'Archived the channel',
    'room-unarchived': 'Restored the channel',
    'room-set-read-only': 'Made the channel read-only',
    'room-removed-read-only': 'Made the channel writable',
    message_pinned: 'Pinned a message',
    'discussion-created': 'Started a discussion:',
    'user-muted': 'Muted:',
    'user-unmuted': 'Unmuted:',
    'subscription-role-added': 'Got a role:',
    'subscription-role-removed': 'Lost a role:',
    videoconf: 'Started a call',
    jitsi_call_started: 'Started a call',
    'livechat-close': 'Closed the conversation:',
    livechat_transfer_history: 'Transferred the conversation',
    livechat_navigation_history: 'Opened a page:',
    command: 'Command:',
  }),
);

/** Unix seconds of a date, number or text. */
export function dateOf(value: unknown, name: string): number | null {
  const found = field(value, name);
  if (found instanceof Date) return timeOf(found.getTime() / 1000);
  const milliseconds = numberOf(value, name) ?? Date.parse(textOf(value, name));
  return timeOf(Number.isFinite(milliseconds) ? milliseconds / 1000 : null);
}

/** Ids are texts, or ObjectIds in some collections. */
export const idOf = (value: unknown, name = '_id'): string => {
  const found = field(value, name);
  if (typeof found === 'string') return found;
  return isObject(found) && typeof found.toHexString === 'function' ? String(found) : '';
};

export function* messageRecords(message: unknown, context: RocketChatContext): Generator<ImportRecord> {
  const { source } = context;
  const id = idOf(message);
  const type = textOf(message, 't');
  const sender = field(message, 'u');
  const person = idOf(sender) || 'unknown';
  const place = context.placeOf(textOf(message, 'rid'));
  if (MEMBERSHIP.has(type)) {
    const reason = 'The members of the channel are imported; joining and leaving are not messages';
    yield { source, kind: 'skipped', id, type: `rocketchat.${type}`, reason, original: plainJson(message) };
    return;
  }
  context.addPerson(person, textOf(sender, 'name') || textOf(sender, 'username'), isObject(field(message, 'token')));
  if (flagOf(message, '_hidden') && textOf(message, 'parent') !== '') yield earlierText(message, context);
  else {
    yield* missingFile(message, context);
    yield messageRecord(message, { id, type, person, place }, context);
    yield* marksOf(message, id, context);
  }
}

/** Servers that keep the history store a hidden copy before each edit and deletion. */
function earlierText(message: unknown, context: RocketChatContext): ImportRecord {
  const editor = idOf(field(message, 'editedBy'));
  const { text } = quotationOf(textOf(message, 'msg'));
  return {
    source: context.source,
    kind: 'edit',
    id: idOf(message),
    message: textOf(message, 'parent'),
    at: dateOf(message, 'editedAt') ?? dateOf(message, 'ts') ?? 1,
    previous: rocketChatContent(message, text, context),
    ...present({ person: editor }),
  };
}

interface Occasion {
  readonly id: string;
  readonly type: string;
  readonly person: string;
  readonly place: RocketChatPlace;
}

function messageRecord(
  message: unknown,
  { id, type, person, place }: Occasion,
  context: RocketChatContext,
): MessageRecord {
  const notice = NOTICES.get(type);
  const { quoted, text } = quotationOf(textOf(message, 'msg'));
  const isEncrypted = type === 'e2e';
  const shown = isEncrypted ? '_Encrypted message_' : [notice, text].filter((part) => part).join(' ');
  const content = rocketChatContent(message, shown, context);
  const files = filesOf(message, context);
  const sentAt = dateOf(message, 'ts');
  const isEmpty = content === '' && files.length === 0;
  const isKnown = (type === '' || notice !== undefined) && sentAt !== null && !isEmpty;
  const unsupported: readonly UnsupportedPart[] = isKnown
    ? []
    : [{ type: `rocketchat.${partType(type, sentAt === null)}`, original: plainJson(message) }];
  const parent = textOf(message, 'tmid');
  // Direct conversations and discussions cannot contain threads.
  const isInThread = place.channel !== undefined && place.thread === undefined;
  return {
    source: context.source,
    kind: 'message',
    id,
    ...place,
    ...(isInThread && parent !== '' ? { thread: parent } : {}),
    sender: person,
    // Keeps the message, at the beginning.
    sentAt: sentAt ?? 1,
    content: isEmpty ? '*Message without text*' : content,
    ...present({
      replyTo: quoted ?? (isInThread ? undefined : parent),
      senderName: textOf(message, 'alias'),
      editedAt: notice === undefined ? dateOf(message, 'editedAt') : undefined,
      files: files.length === 0 ? undefined : files,
      isBroadcast: (isInThread && flagOf(message, 'tshow')) || undefined,
      isAutomatic: isObject(field(message, 'bot')) || undefined,
      isNotice: notice !== undefined || undefined,
      unsupported: unsupported.length === 0 ? undefined : unsupported,
    }),
  };
}

function partType(type: string, isWithoutTime: boolean): string {
  if (isWithoutTime) return 'message_without_time';
  if (type === '') return 'empty_message';
  return `message.${/^[\w-]{1,60}$/.test(type) ? type : 'unknown'}`;
}

/** Messages name their files too, which a dump without uploads needs. */
function* missingFile(message: unknown, context: RocketChatContext): Generator<ImportRecord> {
  const [id] = filesOf(message, context);
  if (id === undefined || context.hasFile(id) || !context.isNewMissingFile(id)) return;
  const file = [...listOf(message, 'files'), field(message, 'file')].find((each) => idOf(each) === id);
  const name = textOf(file, 'name') || 'file';
  yield { source: context.source, kind: 'file', id, name, missing: 'missing in the dump' };
}

/** Newer versions list several files, older ones have one. Some entries are thumbnails that no upload has. */
function filesOf(message: unknown, context: RocketChatContext): readonly string[] {
  const files = [...listOf(message, 'files'), field(message, 'file')]
    .map((file) => idOf(file))
    .filter((id) => id !== '');
  const unique = [...new Set(files)];
  const known = unique.filter((id) => context.hasFile(id));
  return known.length > 0 ? known : unique.slice(0, 1);
}

/** Reactions, pins and stars. */
function* marksOf(message: unknown, id: string, context: RocketChatContext): Generator<ImportRecord> {
  const { source } = context;
  const reactions = field(message, 'reactions');
  for (const [key, reaction] of isObject(reactions) ? Object.entries(reactions) : []) {
    const name = key.replace(/^:|:$/g, '');
    for (const userName of new Set(textsOf(reaction, 'usernames'))) {
      const person = context.personId(userName) ?? `name:${userName}`;
      context.addPerson(person, userName, false);
      yield {
        source,
        kind: 'reaction',
        id: `${id}/${name}/${person}`,
        message: id,
        person,
        emoji: slackEmoji(name) ?? name,
      };
    }
  }
  const at = dateOf(message, 'pinnedAt');
  if (flagOf(message, 'pinned')) yield { source, kind: 'pin', id, message: id, ...present({ at }) };
  for (const person of new Set(listOf(message, 'starred').map((each) => idOf(each)))) {
    if (person === '') continue;
    context.addPerson(person, '', false);
    yield { source, kind: 'pin', id: `${id}/${person}`, message: id, person };
  }
}
