import { type Block, type Inline, paragraph, plain, slackEmoji } from '@parley/domain/markdown';
import type { ImportedContent, ImportRecord, MessageRecord, UnsupportedPart } from '@parley/transfer/records';
import type { DamageIds } from '../damage-ids.js';
import { field, flagOf, isObject, listOf, numberOf, present, textOf, textsOf, timeOf } from '../fields.js';
import type { DamagedElement, ParsedElement } from '../json-elements.js';
import type { Position } from '../source-error.js';
import { fileId, fileName, fileRecord, isExternalFile } from './slack-files.js';
import { type Author, authorOf, UNKNOWN_AUTHOR } from './slack-people.js';
import {
  messageId,
  parseSlackText,
  type SlackNames,
  typeName,
  withoutTokens,
  writeSlackContent,
} from './slack-text.js';

/** Place of messages. */
export interface SlackPlace {
  readonly id: string;
  readonly isConversation: boolean;
}

/** State of one reading of an export. */
export interface SlackContext extends SlackNames {
  readonly source: string;
  readonly localFiles: ReadonlyMap<string, string>;
  readonly damageIds: DamageIds;
  /** Notes a person who needs a record, with the name found in a message. */
  addPerson(author: Author): void;
  /** Returns true at the first call for a file. */
  isNewFile(id: string): boolean;
  /** Returns true at the first call for a thread. */
  isNewThread(id: string): boolean;
  isNewPin(id: string): boolean;
  /** Returns the id of the person that is a bot; null for bots that are not in the lists of people. */
  personOfBot(bot: string): string | null;
}

/** Changes of membership, which the membership of the export's channels already contains. */
const MEMBERSHIP: ReadonlySet<string> = new Set('channel_join,channel_leave,group_join,group_leave'.split(','));
/** Texts by Slack itself. */
const NOTICES: ReadonlySet<string> = new Set(
  (
    'channel_topic,channel_purpose,channel_name,channel_archive,channel_unarchive,channel_convert_to_private,' +
    'channel_convert_to_public,channel_posting_permissions,channel_canvas_updated,group_topic,group_purpose,group_name,' +
    'group_archive,group_unarchive,pinned_item,unpinned_item,bot_add,bot_remove,bot_enable,bot_disable,reminder_add,' +
    'reminder_delete,huddle_thread,sh_room_created,sh_room_shared,tombstone,ekm_access_denied,app_conversation_join,' +
    'joiner_notification,joiner_notification_for_inviter,joiner_notification_for_existing_member,file_mention,' +
    'bot_thread_broadcast_notice,channel_posting,document_mention'
  ).split(','),
);
/** Messages by people and apps. */
const ORDINARY: ReadonlySet<string> = new Set(
  ',me_message,bot_message,file_share,file_comment,thread_broadcast,reply_broadcast,slackbot_response,assistant_app_thread'.split(
    ',',
  ),
);

/** Converts an element of a day's file. */
export function* messageRecords(
  element: ParsedElement | DamagedElement,
  place: SlackPlace,
  position: Position,
  context: SlackContext,
): Generator<ImportRecord> {
  if ('damage' in element) {
    yield* damagedMessage(
      `JSON that ${element.damage}`,
      { type: 'slack.damaged_json', original: withoutTokens(element.text) },
      place,
      position,
      context,
    );
    return;
  }
  const { value } = element;
  const ts = textOf(value, 'ts');
  const sentAt = /^\d{1,12}(?:\.\d{1,9})?$/.test(ts) ? timeOf(Number(ts)) : null;
  if (!isObject(value) || sentAt === null) {
    yield* damagedMessage(
      'a message without a time',
      { type: 'slack.damaged_message', original: withoutTokens(value) },
      place,
      position,
      context,
    );
    return;
  }
  const subtype = textOf(value, 'subtype');
  if (MEMBERSHIP.has(subtype)) yield membershipNotice(value, messageId(place.id, ts), subtype, context.source);
  else if (subtype === 'message_deleted') yield deletion(value, place, sentAt, context.source);
  else if (subtype === 'message_changed') yield edit(value, element.size, place, sentAt, context);
  else {
    yield* ordinaryMessage(value, element.size, { place, ts, sentAt }, context);
  }
}

const membershipNotice = (message: unknown, id: string, subtype: string, source: string): ImportRecord => ({
  source,
  kind: 'skipped',
  id,
  type: `slack.${subtype}`,
  reason: 'The members of the channel are imported; joining and leaving are not messages',
  original: withoutTokens(message),
});

function deletion(message: unknown, place: SlackPlace, at: number, source: string): ImportRecord {
  const ts = textOf(message, 'deleted_ts') || textOf(field(message, 'previous_message'), 'ts');
  const id = messageId(place.id, ts);
  return { source, kind: 'deletion', id, message: id, at };
}

/** Exports with all edits contain one of these per edit. */
function edit(message: unknown, size: number, place: SlackPlace, at: number, context: SlackContext): ImportRecord {
  const previous = field(message, 'previous_message');
  const changed = field(message, 'message');
  const target = messageId(place.id, textOf(changed, 'ts') || textOf(previous, 'ts'));
  const person = textOf(field(changed, 'edited'), 'user');
  if (person !== '') context.addPerson({ id: person, name: '', isBot: false });
  return {
    source: context.source,
    kind: 'edit',
    id: `${target}/${textOf(message, 'ts')}`,
    message: target,
    at,
    previous: writeSlackContent(parseSlackText(previous, size).blocks, context),
    ...present({ person }),
  };
}

interface Occasion {
  readonly place: SlackPlace;
  readonly ts: string;
  readonly sentAt: number;
}

function* ordinaryMessage(
  message: Readonly<Record<string, unknown>>,
  size: number,
  { place, ts, sentAt }: Occasion,
  context: SlackContext,
): Generator<ImportRecord> {
  const { source } = context;
  const id = messageId(place.id, ts);
  const subtype = textOf(message, 'subtype');
  const author = authorOf(message, context.personOfBot(textOf(message, 'bot_id')));
  context.addPerson(author);
  const files = filesOf(message);
  const held = files.filter((file) => !isExternalFile(file) && textOf(file, 'id') !== '');
  for (const file of held) if (context.isNewFile(fileId(file))) yield fileRecord(source, file, context.localFiles);
  const { content, unsupported } = contentOf(message, size, files, context);
  const parent = textOf(message, 'thread_ts');
  const thread = messageId(place.id, parent);
  // Replies without a root: it was deleted, or is older than the export.
  if (parent !== '' && !place.isConversation && context.isNewThread(thread) && parent !== ts)
    yield { source, kind: 'thread', id: thread, channel: place.id };
  const record: MessageRecord = {
    source,
    kind: 'message',
    id,
    ...(place.isConversation ? { conversation: place.id } : { channel: place.id }),
    sender: author.id,
    sentAt,
    content,
    ...present({
      thread: parent === '' || place.isConversation ? undefined : thread,
      // Conversations have no threads.
      replyTo: place.isConversation && parent !== '' && parent !== ts ? thread : undefined,
      senderName: senderName(message, author, context),
      editedAt: timeOf(numberOf(field(message, 'edited'), 'ts')),
      files: held.length === 0 ? undefined : [...new Set(held.map(fileId))],
      isBroadcast: subtype === 'thread_broadcast' || subtype === 'reply_broadcast' || undefined,
      isAutomatic: textOf(message, 'bot_id') !== '' || subtype === 'bot_message' || undefined,
      isNotice: NOTICES.has(subtype) || undefined,
      unsupported: unsupported.length === 0 ? undefined : unsupported,
    }),
  };
  yield record;
  yield* reactionRecords(message, id, context);
  yield* pinRecords(message, id, place, context);
}

/** Name chosen for one message, as webhooks and apps do. */
function senderName(message: unknown, author: Author, context: SlackContext): string | undefined {
  const name = textOf(message, 'username');
  const isApp = author.isBot || textOf(message, 'bot_id') !== '';
  return isApp && name !== author.name && name !== context.personName(author.id) ? name : undefined;
}

/**
 * Files of a message, its cards and the messages that it shares. The preview of a linked message does not share its
 * files, which may be private. Exports before 2018 have a single `file`.
 */
function filesOf(message: unknown): readonly unknown[] {
  const cards = listOf(message, 'attachments').filter(
    (card) => !flagOf(card, 'is_msg_unfurl') || flagOf(card, 'is_share'),
  );
  const files = [message, ...cards].flatMap((each) => listOf(each, 'files'));
  return files.length > 0 || !isObject(field(message, 'file')) ? files : [field(message, 'file')];
}

interface Content {
  readonly content: ImportedContent;
  readonly unsupported: readonly UnsupportedPart[];
}

function contentOf(
  message: Readonly<Record<string, unknown>>,
  size: number,
  files: readonly unknown[],
  context: SlackContext,
): Content {
  const subtype = textOf(message, 'subtype');
  const shown = subtype === 'file_comment' ? { text: textOf(field(message, 'comment'), 'comment') } : message;
  const { blocks, unsupported } = parseSlackText(shown, size);
  const links = files.filter((file) => isExternalFile(file) || textOf(file, 'id') === '').map(fileLink);
  const all = [...blocks, ...roomBlocks(field(message, 'room'), context), ...links];
  const isKnown = ORDINARY.has(subtype) || NOTICES.has(subtype);
  const content = writeSlackContent(all.length === 0 && files.length === 0 ? [emptyText(subtype)] : all, context);
  return {
    content: subtype === 'me_message' ? withPrefix('/me ', content) : content,
    unsupported: isKnown
      ? unsupported
      : [...unsupported, { type: `slack.message.${typeName(subtype)}`, original: withoutTokens(message) }],
  };
}

const emptyText = (subtype: string): Block =>
  paragraph([
    {
      type: 'em',
      children: [plain(subtype === '' ? 'Message without text' : `Message of the type ${typeName(subtype)}`)],
    },
  ]);

const withPrefix = (prefix: string, content: ImportedContent): ImportedContent =>
  typeof content === 'string' ? prefix + content : [prefix, ...content];

const fileLink = (file: unknown): Block => {
  const url = textOf(file, 'url_private') || textOf(file, 'permalink');
  return paragraph(url === '' ? [plain(fileName(file))] : [{ type: 'link', url, children: [plain(fileName(file))] }]);
};

/** Huddle or call. */
function roomBlocks(room: unknown, context: SlackContext): readonly Block[] {
  if (!isObject(room)) return [];
  const history = textsOf(room, 'participant_history');
  const participants = history.length > 0 ? history : textsOf(room, 'participants');
  const start = timeOf(numberOf(room, 'date_start'));
  const end = timeOf(numberOf(room, 'date_end'));
  const parts: Inline[] = [];
  if (start !== null && end !== null && end > start)
    parts.push(plain(`Duration: ${Math.ceil((end - start) / 60)} min`));
  for (const [index, id] of participants.entries()) {
    const before = index > 0 ? ', ' : parts.length > 0 ? ' · Participants: ' : 'Participants: ';
    parts.push(plain(before), { type: 'mention', of: 'user', id, name: context.personName(id) ?? id });
  }
  return parts.length === 0 ? [] : [paragraph(parts)];
}

function* reactionRecords(message: unknown, id: string, context: SlackContext): Generator<ImportRecord> {
  const { source } = context;
  for (const reaction of listOf(message, 'reactions')) {
    const name = textOf(reaction, 'name');
    const people = new Set(textsOf(reaction, 'users'));
    if (name === '' || (numberOf(reaction, 'count') ?? 0) > people.size) {
      yield {
        source,
        kind: 'skipped',
        id: `${id}/${name}/others`,
        type: 'slack.reaction',
        reason: 'Slack exports only the first people of a reaction',
        original: withoutTokens(reaction),
      };
    }
    if (name === '') continue;
    for (const person of people) {
      context.addPerson({ id: person, name: '', isBot: false });
      yield { source, kind: 'reaction', id: `${id}/${name}/${person}`, message: id, person, emoji: emojiOf(name) };
    }
  }
}

/** `thumbsup::skin-tone-3` → 👍🏼; names of custom emoji stay. */
function emojiOf(name: string): string {
  const [base, tone] = name.split('::skin-tone-');
  return slackEmoji(base!, tone === undefined ? undefined : Number(tone)) ?? base!;
}

function* pinRecords(
  message: unknown,
  id: string,
  { id: place }: SlackPlace,
  context: SlackContext,
): Generator<ImportRecord> {
  if (!textsOf(message, 'pinned_to').includes(place) || !context.isNewPin(id)) return;
  const at = timeOf(numberOf(field(message, 'pinned_info'), 'pinned_ts'));
  yield { source: context.source, kind: 'pin', id, message: id, ...present({ at }) };
}

/** Stands in for a part of a file that is not a message. */
function* damagedMessage(
  what: string,
  part: UnsupportedPart,
  place: SlackPlace,
  { file, line }: Position,
  context: SlackContext,
): Generator<ImportRecord> {
  context.addPerson(UNKNOWN_AUTHOR);
  const day = dayOf(file);
  const id = context.damageIds.next(file);
  const where = place.isConversation ? { conversation: place.id } : { channel: place.id };
  const span = day === null ? {} : { from: day, until: day + SECONDS_PER_DAY };
  const [type, reason] = ['slack.damaged_file', 'A part of the file is damaged'];
  yield { source: context.source, kind: 'skipped', id, type, reason, gap: { ...where, ...span } };
  yield {
    source: context.source,
    kind: 'message',
    id: `${place.id}/${id.split('/').at(-1)}`,
    ...where,
    sender: UNKNOWN_AUTHOR.id,
    sentAt: day ?? 1,
    content: writeSlackContent(
      [paragraph([plain(`The export contains ${what} here (${file}, line ${line}).`)])],
      context,
    ),
    isNotice: true,
    unsupported: [part],
  };
}

export const SECONDS_PER_DAY = 86_400;

/** Returns the first second of the day of a file; null for other files. */
export function dayOf(file: string): number | null {
  const day = /(\d{4}-\d\d-\d\d)\.json$/.exec(file)?.[1];
  return day === undefined ? null : timeOf(Date.parse(day) / 1000);
}
