import { type Block, paragraph, plain } from '@parley/domain/markdown';
import type { FileRecord, ImportRecord, MessageRecord, UnsupportedPart } from '@parley/transfer/records';
import type { DamageIds } from '../damage-ids.js';
import { field, flagOf, isObject, listOf, numberOf, present, textOf } from '../fields.js';
import type { DamagedElement, ParsedElement } from '../json-elements.js';
import type { Position } from '../source-error.js';
import { type DiscordNames, discordContent, discordTime } from './discord-text.js';

/** Place of the messages of a file. */
export interface DiscordPlace {
  readonly channel?: string;
  readonly conversation?: string;
  readonly thread?: string;
}

/** State of one reading of an export. */
export interface DiscordContext extends DiscordNames {
  readonly source: string;
  readonly damageIds: DamageIds;
  /** Notes a person; returns the records at the first occurrence. */
  personRecords(person: unknown): Iterable<ImportRecord>;
  /** Notes that a person could read the place. */
  addReader(place: DiscordPlace, person: string): void;
  /** Returns where the bytes of a file are, by the URL in a file of messages. */
  locate(url: string, file: string): Pick<FileRecord, 'path' | 'url' | 'missing'>;
  isNewFile(id: string): boolean;
  /** Notes a damaged part of the file that is being read. */
  addDamage(id: string): void;
}

const MEMBERSHIP: ReadonlySet<string> = new Set(['GuildMemberJoin', 'RecipientAdd', 'RecipientRemove', '7', '1', '2']);
/** Messages of people and apps; 20 and 23 are commands of apps. */
const ORDINARY: ReadonlySet<string> = new Set(['', 'Default', 'Reply', '0', '19', '20', '23']);
/** Notices by name, and numbers of newer ones: boosts, threads, stages, subscriptions, polls. */
const NOTICES: ReadonlySet<string> = new Set(
  (
    'Call,ChannelNameChange,ChannelIconChange,ChannelPinnedMessage,ThreadCreated,3,4,5,6,8,9,10,11,12,14,15,16,17,18,22,24,' +
    '25,26,27,28,29,31,32,36,37,38,39,44,46'
  ).split(','),
);
/** Copy of the first message at the start of a thread. */
const THREAD_START: ReadonlySet<string> = new Set(['21', 'ThreadStarterMessage']);

export const UNKNOWN_PERSON = { id: 'unknown', name: 'Unknown sender', isBot: true };

interface ElementPosition extends Position {
  /** Time of the previous message in the file. */
  readonly previousAt: number;
}

/** Converts an element of the list of messages. */
export function* messageRecords(
  element: ParsedElement | DamagedElement,
  place: DiscordPlace,
  position: ElementPosition,
  context: DiscordContext,
): Generator<ImportRecord> {
  const value = 'value' in element ? element.value : element.text;
  const id = textOf(value, 'id');
  const sentAt = discordTime(value, 'timestamp') ?? snowflakeTime(id);
  if (!isObject(value) || id === '' || sentAt === null) {
    yield* damagedMessage('damage' in element ? element.damage : 'is not a message', value, place, position, context);
    return;
  }
  const type = textOf(value, 'type');
  const { source } = context;
  if (MEMBERSHIP.has(type) || THREAD_START.has(type)) {
    const reason = MEMBERSHIP.has(type)
      ? 'Joining and leaving are not messages'
      : 'Discord repeats the first message at the start of a thread';
    yield { source, kind: 'skipped', id, type: `discord.${type}`, reason, original: value };
    return;
  }
  yield* ordinaryMessage(value, sentAt, place, position.file, context);
}

/** Ids of Discord contain the time. */
function snowflakeTime(id: string): number | null {
  if (!/^\d{15,20}$/.test(id)) return null;
  return (Number(BigInt(id) >> 22n) + 1_420_070_400_000) / 1000;
}

function* ordinaryMessage(
  message: Readonly<Record<string, unknown>>,
  sentAt: number,
  place: DiscordPlace,
  file: string,
  context: DiscordContext,
): Generator<ImportRecord> {
  const { source } = context;
  const id = textOf(message, 'id');
  const author = textOf(field(message, 'author'), 'id') === '' ? UNKNOWN_PERSON : field(message, 'author');
  const sender = textOf(author, 'id');
  yield* context.personRecords(author);
  context.addReader(place, sender);
  for (const person of listOf(message, 'mentions')) yield* context.personRecords(person);
  const held = [message, field(message, 'forwardedMessage')]
    .flatMap((each) => [
      ...listOf(each, 'attachments').map(attachmentFile),
      ...listOf(each, 'stickers').map(stickerFile),
    ])
    .filter((each) => each.id !== '');
  for (const each of held) if (context.isNewFile(each.id)) yield fileRecord(each, file, context);
  yield messageRecord(message, { sentAt, place, sender, files: held.map((each) => each.id) }, context);
  yield* reactionRecords(message, id, place, context);
  if (flagOf(message, 'isPinned')) yield { source, kind: 'pin', id, message: id };
}

interface Occasion {
  readonly sentAt: number;
  readonly place: DiscordPlace;
  readonly sender: string;
  readonly files: readonly string[];
}

function messageRecord(
  message: Readonly<Record<string, unknown>>,
  { sentAt, place, sender, files }: Occasion,
  context: DiscordContext,
): MessageRecord {
  const type = textOf(message, 'type');
  const author = field(message, 'author');
  const name = textOf(author, 'nickname') || textOf(author, 'name');
  const replyTo = textOf(field(message, 'reference'), 'messageId');
  const content = discordContent(message, pollBlocks(field(message, 'poll')), context);
  const isEmpty = content === '' && files.length === 0;
  const unsupported = unsupportedOf(message, type, isEmpty);
  return {
    source: context.source,
    kind: 'message',
    id: textOf(message, 'id'),
    ...place,
    sender,
    sentAt,
    content: isEmpty ? '*Message without text*' : content,
    ...present({
      replyTo: type === 'Reply' || type === '19' ? replyTo : undefined,
      // Webhooks choose a name for each message.
      senderName: flagOf(author, 'isBot') && name !== context.personName(sender) ? name : undefined,
      editedAt: discordTime(message, 'timestampEdited'),
      files: files.length === 0 ? undefined : files,
      isAutomatic: flagOf(author, 'isBot') || undefined,
      isNotice: NOTICES.has(type) || undefined,
      unsupported: unsupported.length === 0 ? undefined : unsupported,
    }),
  };
}

function unsupportedOf(message: unknown, type: string, isEmpty: boolean): readonly UnsupportedPart[] {
  if (!ORDINARY.has(type) && !NOTICES.has(type))
    return [{ type: `discord.message.${/^\w{1,60}$/.test(type) ? type : 'unknown'}`, original: message }];
  if (isObject(field(message, 'poll'))) return [{ type: 'discord.poll', original: field(message, 'poll') }];
  return isEmpty ? [{ type: 'discord.empty_message', original: message }] : [];
}

function pollBlocks(poll: unknown): readonly Block[] {
  if (!isObject(poll)) return [];
  const question = textOf(field(poll, 'question'), 'text') || textOf(poll, 'question');
  const items = listOf(poll, 'answers').map((answer) => ({
    children: [plain(textOf(field(answer, 'media'), 'text') || textOf(answer, 'text'))],
    lists: [],
  }));
  const title: readonly Block[] = question === '' ? [] : [paragraph([{ type: 'strong', children: [plain(question)] }])];
  return items.length === 0 ? title : [...title, { type: 'list', start: null, items }];
}

/** File of a message, before it is located. */
interface Attached {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly size: number | null;
}

const attachmentFile = (attachment: unknown): Attached => ({
  id: textOf(attachment, 'id'),
  name: textOf(attachment, 'fileName') || 'file',
  url: textOf(attachment, 'url'),
  size: numberOf(attachment, 'fileSizeBytes'),
});

const stickerFile = (sticker: unknown): Attached => ({
  id: textOf(sticker, 'id') === '' ? '' : `sticker/${textOf(sticker, 'id')}`,
  name: `${textOf(sticker, 'name') || 'sticker'}.${FORMATS[textOf(sticker, 'format')] ?? 'png'}`,
  url: textOf(sticker, 'sourceUrl'),
  size: null,
});

const FORMATS: Readonly<Record<string, string>> = { Lottie: 'json', Gif: 'gif' };

const fileRecord = ({ id, name, url, size }: Attached, file: string, context: DiscordContext): FileRecord => ({
  source: context.source,
  kind: 'file',
  id,
  name,
  ...present({ size }),
  ...context.locate(url, file),
});

function* reactionRecords(
  message: unknown,
  id: string,
  place: DiscordPlace,
  context: DiscordContext,
): Generator<ImportRecord> {
  const { source } = context;
  for (const reaction of listOf(message, 'reactions')) {
    const emoji = textOf(field(reaction, 'emoji'), 'name');
    const key = textOf(field(reaction, 'emoji'), 'id') || emoji;
    const users = new Map(listOf(reaction, 'users').map((user) => [textOf(user, 'id'), user]));
    users.delete('');
    if (emoji === '' || (numberOf(reaction, 'count') ?? 0) > users.size) {
      const reason = 'The export has only the number of these reactions, not the people';
      yield {
        source,
        kind: 'skipped',
        id: `${id}/${key}/others`,
        type: 'discord.reaction',
        reason,
        original: reaction,
      };
    }
    if (emoji === '') continue;
    for (const [person, user] of users) {
      yield* context.personRecords(user);
      context.addReader(place, person);
      yield { source, kind: 'reaction', id: `${id}/${key}/${person}`, message: id, person, emoji };
    }
  }
}

/** Stands in for a part of a file that is not a message. */
function* damagedMessage(
  damage: string,
  original: unknown,
  place: DiscordPlace,
  { file, line, previousAt }: ElementPosition,
  context: DiscordContext,
): Generator<ImportRecord> {
  yield* context.personRecords(UNKNOWN_PERSON);
  const id = context.damageIds.next(file);
  context.addDamage(id);
  yield {
    source: context.source,
    kind: 'message',
    id,
    ...place,
    sender: UNKNOWN_PERSON.id,
    sentAt: previousAt,
    content: `The export contains a part here that ${damage} (line ${line}).`,
    isNotice: true,
    unsupported: [{ type: 'discord.damaged_message', original: isObject(original) ? original : { file, original } }],
  };
}
