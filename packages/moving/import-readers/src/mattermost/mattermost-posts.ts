import { slackEmoji } from '@parley/domain/markdown';
import type { ImportRecord, MessageRecord, UnsupportedPart } from '@parley/transfer/records';
import { field, flagOf, isObject, listOf, numberOf, present, textOf, textsOf, timeOf } from '../fields.js';
import { type MattermostNames, mattermostContent } from './mattermost-text.js';

/** Place of posts. */
export interface MattermostPlace {
  readonly id: string;
  readonly isConversation: boolean;
  /** Empty for conversations. */
  readonly team: string;
}

/** State of one reading of an export. */
export interface MattermostContext extends MattermostNames {
  readonly source: string;
  /** Returns a new id for a key; keys may repeat. */
  newId(key: string): string;
  addPerson(userName: string): void;
  /** Returns the records of files at their first occurrence. */
  fileRecords(paths: readonly string[]): Iterable<ImportRecord>;
}

/** Changes of membership, which the exported memberships already contain. */
const MEMBERSHIP = /^system_(?:join|leave|add_to|remove_from|guest_join|add_guest_to)_?(?:channel|team|chan)?$/;
/** Types that show only their text. */
const ORDINARY: ReadonlySet<string> = new Set(['', 'me', 'slack_attachment', 'reminder', 'burn_on_read']);

const milliseconds = (value: unknown, name: string): number | null => timeOf((numberOf(value, name) ?? 0) / 1000);

/** Converts a post with its replies. */
export function* postRecords(
  post: unknown,
  place: MattermostPlace,
  context: MattermostContext,
): Generator<ImportRecord> {
  const root = yield* onePost(post, place, null, context);
  for (const reply of listOf(post, 'replies')) yield* onePost(reply, place, root, context);
}

/** Returns the id of the message. */
function* onePost(
  post: unknown,
  place: MattermostPlace,
  root: string | null,
  context: MattermostContext,
): Generator<ImportRecord, string> {
  const { source } = context;
  const user = textOf(post, 'user').toLowerCase() || 'unknown';
  const at = numberOf(post, 'create_at');
  const id = context.newId(`${place.id}/${at ?? 'unknown'}/${user}`);
  const type = textOf(post, 'type');
  if (MEMBERSHIP.test(type)) {
    const reason = 'The members of the channel are imported; joining and leaving are not messages';
    yield { source, kind: 'skipped', id, type: `mattermost.${type}`, reason, original: withoutReplies(post) };
    return id;
  }
  // The time and the author are parts of the id.
  if (milliseconds(post, 'create_at') === null || user === 'unknown') {
    const [type, reason] = ['mattermost.damaged_post', 'A post has no time or author'];
    const gap = place.isConversation ? { conversation: place.id } : { channel: place.id };
    yield { source, kind: 'skipped', id, type, reason, gap };
  }
  context.addPerson(user);
  const paths = attachmentPaths(post);
  yield* context.fileRecords(paths);
  yield messageRecord(post, { id, user, root, place, paths }, context);
  yield* marksOf(post, id, context);
  return id;
}

interface Occasion {
  readonly id: string;
  readonly user: string;
  readonly root: string | null;
  readonly place: MattermostPlace;
  readonly paths: readonly string[];
}

function messageRecord(
  post: unknown,
  { id, user, root, place, paths }: Occasion,
  context: MattermostContext,
): MessageRecord {
  const type = textOf(post, 'type');
  const props = field(post, 'props');
  const sentAt = milliseconds(post, 'create_at');
  const content = mattermostContent(textOf(post, 'message'), listOf(props, 'attachments'), place.team, context);
  const isEmpty = content === '' && paths.length === 0;
  const unsupported = unsupportedOf(post, type, sentAt, isEmpty);
  const shown = isEmpty ? '*Message without text*' : content;
  return {
    source: context.source,
    kind: 'message',
    id,
    ...(place.isConversation ? { conversation: place.id } : { channel: place.id }),
    sender: user,
    // Keeps the message, at the beginning.
    sentAt: sentAt ?? 1,
    content: type === 'me' ? (typeof shown === 'string' ? `/me ${shown}` : ['/me ', ...shown]) : shown,
    ...present({
      thread: root === null || place.isConversation ? undefined : root,
      // Conversations have no threads.
      replyTo: place.isConversation && root !== null ? root : undefined,
      senderName: textOf(props, 'override_username'),
      editedAt: milliseconds(post, 'edit_at'),
      files: paths.length === 0 ? undefined : paths,
      isAutomatic: isAutomatic(props) || undefined,
      isNotice: type.startsWith('system_') || undefined,
      unsupported: unsupported.length === 0 ? undefined : unsupported,
    }),
  };
}

const isAutomatic = (props: unknown): boolean =>
  ['from_webhook', 'from_bot', 'from_plugin'].some((name) => textOf(props, name) === 'true' || flagOf(props, name));

/** Posts of plugins, such as calls and polls, consist of their properties. */
function unsupportedOf(
  post: unknown,
  type: string,
  sentAt: number | null,
  isEmpty: boolean,
): readonly UnsupportedPart[] {
  const original = withoutReplies(post);
  if (sentAt === null) return [{ type: 'mattermost.post_without_time', original }];
  if (!ORDINARY.has(type) && !type.startsWith('system_'))
    return [{ type: `mattermost.post.${/^\w{1,60}$/.test(type) ? type : 'unknown'}`, original }];
  return isEmpty ? [{ type: 'mattermost.empty_post', original }] : [];
}

/** Converts each reply to a separate message. */
function withoutReplies(post: unknown): unknown {
  if (!isObject(post)) return post;
  const { replies: _, ...own } = post;
  return own;
}

const attachmentPaths = (post: unknown): readonly string[] => [
  ...new Set(
    listOf(post, 'attachments')
      .map((each) => textOf(each, 'path'))
      .filter((path) => path !== ''),
  ),
];

/** Reactions, pins and saved posts. */
function* marksOf(post: unknown, message: string, context: MattermostContext): Generator<ImportRecord> {
  const { source } = context;
  const seen = new Set<string>();
  for (const reaction of listOf(post, 'reactions')) {
    const person = textOf(reaction, 'user').toLowerCase();
    const name = textOf(reaction, 'emoji_name');
    const id = `${message}/${name}/${person}`;
    if (seen.has(id)) continue;
    seen.add(id);
    if (person === '' || name === '') {
      const reason = 'A reaction without a person or emoji is damaged';
      yield { source, kind: 'skipped', id, type: 'mattermost.reaction', reason, original: reaction };
      continue;
    }
    context.addPerson(person);
    const at = milliseconds(reaction, 'create_at');
    yield { source, kind: 'reaction', id, message, person, emoji: emojiOf(name), ...present({ at }) };
  }
  if (flagOf(post, 'is_pinned')) yield { source, kind: 'pin', id: message, message };
  for (const person of new Set(textsOf(post, 'flagged_by').map((name) => name.toLowerCase()))) {
    context.addPerson(person);
    yield { source, kind: 'pin', id: `${message}/${person}`, message, person };
  }
}

const TONES: Readonly<Record<string, number>> = { light: 2, medium_light: 3, medium: 4, medium_dark: 5, dark: 6 };

/** `+1_medium_skin_tone` → 👍🏽; names that are unknown or of custom emoji stay. */
function emojiOf(name: string): string {
  const [, base, tone] = /^(.+)_(light|medium_light|medium|medium_dark|dark)_skin_tone$/.exec(name) ?? [];
  return (base !== undefined ? slackEmoji(base, TONES[tone!]) : null) ?? slackEmoji(name) ?? name;
}
