import type { Actor } from '../access/actor.js';
import type { SystemGroupName } from '../access/roles.js';
import { type Channel, EMPTY_TOPIC_DISPLAY_NAME, normalizeTopic, topicKey } from '../channels/channel.js';
import { hasContentAccess, hasFullHistoryAccess } from '../channels/channel-access.js';
import type { SharedView } from '../channels/shared-view.js';
import { emojiPath } from '../files/custom-emoji.js';
import type { Group } from '../groups/group.js';
import { DomainError, orThrow } from '../kernel/errors.js';
import type { Caller, ChannelId, GroupId, MessageId, RealmId, UserId } from '../kernel/ids.js';
import type { RealmUrls } from '../kernel/ports.js';
import { foldCase, isLongerThan } from '../kernel/text.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { getOrThrow } from '../kernel/work.js';
import {
  type Author,
  type LinkableChannel,
  type MarkdownOptions,
  type MarkdownRenderer,
  type MentionableGroup,
  NOTHING_NAMED,
  type ParsedAhead,
  type ParsedMarkdown,
  type ParsedText,
  type RenderedMarkdown,
  type ResolvedNames,
  type TextRenderer,
} from '../markdown/markdown.js';
import { isUnspacedAt, isUnspacedBefore } from '../markdown/unspaced-scripts.js';
import { MAX_MESSAGE_LENGTH } from '../messages/message.js';
import { resolveUploads } from '../messages/message-files.js';
import type { Realm } from '../realms/realm.js';
import { inaccessibleUserIds } from '../users/accessible-users.js';
import type { User } from '../users/user.js';

/** Characters allowed before and after an alert word. */
export const BEFORE_ALERT_WORD: ReadonlySet<string> = new Set(' \n(".,\';[*`>');
export const AFTER_ALERT_WORD: ReadonlySet<string> = new Set(" \n)?:.,';]!*`");

const mayBegin = (text: string, at: number): boolean => at <= 1 || BEFORE_ALERT_WORD.has(text[at - 1]!);

/**
 * Deliberate: the reference server treats the first two positions of a text as word starts. Words of scripts without spaces
 * may begin and end anywhere, and so may words next to them.
 */
export const mayAlertWordBegin = (text: string, at: number): boolean =>
  mayBegin(text, at) || isUnspacedAt(text, at) || isUnspacedBefore(text, at);

export const mayAlertWordEnd = (text: string, end: number): boolean =>
  end === text.length || AFTER_ALERT_WORD.has(text[end]!) || isUnspacedAt(text, end) || isUnspacedBefore(text, end);

/**
 * Returns the look-up key of an alert word: its first letter if this belongs to a script without spaces, otherwise the
 * text before the first character that may follow an alert word. A text that contains the word has the same segment.
 */
export function alertSegment(word: string): string {
  const lowered = word.toLowerCase();
  return lowered.slice(0, segmentEnd(lowered, 0));
}

function segmentEnd(text: string, at: number): number {
  if (isUnspacedAt(text, at)) return at + (text.codePointAt(at)! > 0xffff ? 2 : 1);
  let end = at;
  while (end < text.length && !AFTER_ALERT_WORD.has(text[end]!) && !isUnspacedAt(text, end)) end++;
  return end;
}

/** Maximum segment length in UTF-16 units; alert words are never longer. */
const MAX_SEGMENT_LENGTH = 200;

/** Returns the segments at all positions of a lower-case text where an alert word may start. */
export function alertSegments(lowered: string): ReadonlySet<string> {
  const segments = new Set<string>(['']);
  const add = (start: number, end: number): void => {
    if (end - start <= MAX_SEGMENT_LENGTH) segments.add(lowered.slice(start, end));
  };
  let end = 0;
  let longEnd = 0;
  for (let at = 0; at < lowered.length; at++) {
    if (!mayAlertWordBegin(lowered, at)) continue;
    if (end <= at) end = segmentEnd(lowered, at);
    add(at, end);
    if (!mayBegin(lowered, at)) continue;
    // Words of scripts without spaces that were stored by older versions have long segments.
    if (longEnd < at) longEnd = at;
    while (longEnd < lowered.length && !AFTER_ALERT_WORD.has(lowered[longEnd]!)) longEnd++;
    add(at, longEnd);
  }
  return segments;
}

/** Parse options for messages of this realm; descriptions and profile fields have no previews. */
export function markdownOptions(
  realm: Realm,
  realmUrl: string,
  more: Partial<Pick<MarkdownOptions, 'mediaPreviews' | 'translateEmoticons'>> = {},
): MarkdownOptions {
  return {
    realmUrl,
    linkifiers: realm.linkifiers,
    defaultCodeLanguage: realm.settings.defaultCodeBlockLanguage,
    mediaPreviews: realm.settings.inlineImagePreview,
    translateEmoticons: false,
    emptyTopicName: EMPTY_TOPIC_DISPLAY_NAME,
    ...more,
  };
}

export async function parseAhead(
  renderer: MarkdownRenderer,
  text: string,
  options: MarkdownOptions,
): Promise<ParsedAhead> {
  try {
    return await renderer.parse(text, options);
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
}

const GROUP_TITLES: Readonly<Record<SystemGroupName, string>> = {
  nobody: 'Nobody',
  owners: 'Owners',
  administrators: 'Administrators',
  moderators: 'Moderators',
  fullMembers: 'Full members',
  members: 'Members',
  everyone: 'Everyone',
  internet: 'Everyone on the internet',
};

/** Returns the author of a text. Texts of a shared view name only what its readers can see. */
export const authorIn = (view: SharedView | null, actor: Actor): Author =>
  view === null
    ? { actor }
    : {
        actor: view.viewer,
        about: [...view.channels.values()],
        mentionable: view.readersAmong,
      };

type Reads = Pick<
  Repositories | Transaction,
  'users' | 'groups' | 'channels' | 'topics' | 'alertWords' | 'files' | 'customEmoji'
>;

/** Rendered text with the groups it mentions non-silently. */
export interface RenderedText extends RenderedMarkdown {
  readonly mentionedGroups: readonly Group[];
}

/**
 * Fast second step of rendering: looks up names with the author's access and inserts them. Runs a constant number of
 * look-ups, plus one per channel with linked topics.
 */
export async function renderText(
  tx: Reads,
  renderer: MarkdownRenderer,
  parsed: ParsedMarkdown,
  realm: Realm,
  author: Author,
): Promise<RenderedText> {
  const { references } = parsed;
  const { userNames, userIds, groupNames, channelNames, emojiNames, uploadPaths } = references;
  const realmId = realm.id;
  const alertWords = (await tx.alertWords.hasAny(realmId))
    ? await tx.alertWords.listBySegment(realmId, parsed.alertSegments)
    : NOTHING_NAMED.alertWords;
  // Most texts contain no references.
  const all = [userNames, userIds, groupNames, channelNames, emojiNames, uploadPaths];
  if (all.every(({ size }) => size === 0)) {
    return { ...renderer.render(parsed, { ...NOTHING_NAMED, alertWords }), mentionedGroups: [] };
  }
  const isAgents = author.mentionable !== undefined;
  const groups = groupNames.size > 0 && !isAgents ? await tx.groups.listByName(realmId, [...groupNames]) : [];
  const names: ResolvedNames = {
    ...NOTHING_NAMED,
    alertWords,
    ...(await resolveUsers(tx, parsed, realm, author)),
    groupsByName: resolveGroups(groups, groupNames),
    customEmoji: await resolveEmoji(tx, realmId, emojiNames),
    uploads: await resolveUploads(tx, realm.id, isAgents ? new Set() : uploadPaths),
    channelsByName: await resolveChannels(tx, parsed, realmId, author),
  };
  const rendered = renderer.render(parsed, names);
  return { ...rendered, mentionedGroups: groups.filter((group) => rendered.mentionedGroupIds.has(group.id)) };
}

async function resolveUsers(
  tx: Reads,
  { references }: ParsedMarkdown,
  realm: Realm,
  { actor, mentionable }: Author,
): Promise<Pick<ResolvedNames, 'usersByName' | 'usersById'>> {
  const { userNames, userIds } = references;
  const everyNamed = userNames.size > 0 ? await tx.users.listByName(realm.id, [...userNames]) : [];
  const everyById = userIds.size > 0 ? await tx.users.list(realm.id, [...userIds]) : [];
  const every = [...everyNamed, ...everyById];
  const ids = every.map((user) => user.id);
  const inaccessible = actor && (await inaccessibleUserIds(tx, actor, realm, ids));
  const readers = await mentionable?.(every);
  const isAccessible = ({ id }: User) => !inaccessible?.has(id) && readers?.has(id) !== false;
  // The last user with a name has it: an active one, if there is any.
  const named = everyNamed.filter(isAccessible).sort((a, b) => Number(a.isActive) - Number(b.isActive));
  const byFoldedName = new Map(named.map((user) => [foldCase(user.fullName), user]));
  const usersByName = new Map<string, User>();
  for (const name of userNames) {
    const user = byFoldedName.get(foldCase(name));
    if (user) usersByName.set(name, user);
  }
  return {
    usersByName,
    usersById: new Map<UserId, User>(everyById.filter(isAccessible).map((user) => [user.id, user])),
  };
}

function resolveGroups(groups: readonly Group[], names: ReadonlySet<string>): ReadonlyMap<string, MentionableGroup> {
  const byFoldedName = new Map(groups.map((group) => [foldCase(group.name ?? ''), group]));
  const result = new Map<string, MentionableGroup>();
  for (const name of names) {
    const group = byFoldedName.get(foldCase(name));
    if (!group) continue;
    result.set(name, {
      id: group.id satisfies GroupId,
      displayName: group.systemName ? GROUP_TITLES[group.systemName] : (group.name ?? ''),
      isActive: !group.isDeactivated,
    });
  }
  return result;
}

async function resolveEmoji(
  { customEmoji }: Reads,
  realmId: RealmId,
  names: ReadonlySet<string>,
): Promise<ResolvedNames['customEmoji']> {
  const found = names.size > 0 ? await customEmoji.listByName(realmId, [...names]) : [];
  return new Map(found.map((emoji) => [emoji.name, emojiPath(emoji)]));
}

async function resolveChannels(
  tx: Reads,
  { references }: ParsedMarkdown,
  realmId: RealmId,
  { actor, about = [] }: Author,
): Promise<ReadonlyMap<string, LinkableChannel>> {
  const { channelNames, topics } = references;
  const result = new Map<string, LinkableChannel>();
  if (channelNames.size === 0) return result;
  const topicsOf = new Map<string, string[]>();
  for (const { channelName, topic } of topics) {
    const existing = topicsOf.get(channelName);
    if (existing) existing.push(topic);
    else topicsOf.set(channelName, [topic]);
  }
  const isAbout = new Set<ChannelId>(about.map(({ id }) => id));
  const subscribed = new Set(actor && (await tx.channels.listSubscribedIds(realmId, actor.id)));
  for (const channel of await tx.channels.listByName(realmId, [...channelNames])) {
    const { id, name } = channel;
    const isReadable = actor === null || hasContentAccess(actor, channel, subscribed.has(id));
    if (!channelNames.has(name) || !(isReadable || isAbout.has(id))) continue;
    const typed = topicsOf.get(name) ?? [];
    const newestMessageIds = new Map<string, MessageId>();
    if (typed.length > 0) {
      const newest = await newestVisible(tx, actor, channel, subscribed.has(id), typed.map(keyOf));
      for (const topic of typed) {
        const messageId = newest.get(keyOf(topic));
        if (messageId !== undefined) newestMessageIds.set(topic, messageId);
      }
    }
    result.set(name, { id, name, newestMessageIds });
  }
  return result;
}

const keyOf = (typed: string): string => topicKey(normalizeTopic(typed));

/** Keyed by topic key. Topics without visible messages are absent, like nonexistent ones (contract decision 25). */
async function newestVisible(
  tx: Reads,
  actor: Actor | null,
  channel: Channel,
  isSubscribed: boolean,
  keys: readonly string[],
): Promise<ReadonlyMap<string, MessageId>> {
  const { realmId, recipientId } = channel;
  if (actor === null || hasFullHistoryAccess(actor, channel, isSubscribed)) {
    return tx.topics.listNewestInTopics(realmId, recipientId, keys);
  }
  // The channel is linked only because of `about`, which grants no access to its topics.
  if (!hasContentAccess(actor, channel, isSubscribed)) return new Map();
  return tx.topics.listNewestOwnInTopics({ realmId, userId: actor.id }, recipientId, keys);
}

/** Parse options of a user's messages, with the settings they depend on. */
interface ParseOptions {
  readonly realm: Realm;
  readonly translateEmoticons: boolean;
  readonly more: Partial<Pick<MarkdownOptions, 'mediaPreviews'>>;
  readonly options: MarkdownOptions;
}

/** Text parsed before the unit of work. */
export interface TextAhead {
  readonly content: string;
  readonly parsed: ParsedAhead;
  readonly by: ParseOptions;
}

/** Cache entry of a realm. */
interface RealmEntry {
  readonly realm: Realm;
  readonly translating: ParseOptions;
  readonly plain: ParseOptions;
  /** Value of `translateEmoticons` for each user seen so far. */
  readonly wishes: Map<UserId, boolean>;
}

/** Maximum number of realms in the cache. */
const MAX_REALMS = 1000;
const MAX_PEOPLE = 10_000;

/**
 * Parses user text before the unit of work that stores or shows it. Options are cached per user. The unit of work
 * checks that they still apply, and otherwise re-parses the text.
 */
export class UserTextParser {
  static readonly inject = ['unitOfWork', 'markdownRenderer', 'realmUrls'] as const;

  private readonly realms = new Map<RealmId, RealmEntry>();

  constructor(
    private readonly uow: UnitOfWork,
    readonly renderer: MarkdownRenderer,
    private readonly realmUrls: RealmUrls,
  ) {}

  async parse(caller: Caller, content: string): Promise<TextAhead> {
    const known = this.find(caller) ?? (await this.lookUp(caller));
    // Nothing is fetched because of an agent's message.
    const isAgents = caller.scope?.readers === 'all';
    const by = isAgents ? this.optionsBy(known.realm, known.translateEmoticons, { mediaPreviews: false }) : known;
    return { content, by, parsed: await parseAhead(this.renderer, content, by.options) };
  }

  /**
   * Returns the parsed text inside the unit of work; re-parses if settings changed. @throws DomainError
   * UNRENDERABLE_CONTENT
   */
  parsedBy(realm: Realm, user: User, { content, parsed, by }: TextAhead): ParsedMarkdown {
    const isSame = this.isStill(by, realm, user);
    if (isSame && parsed instanceof DomainError) throw parsed;
    if (isSame) return parsed as ParsedMarkdown;
    this.realms.delete(realm.id);
    const ahead = parsed instanceof DomainError ? undefined : parsed;
    return this.renderer.parseNow(content, this.optionsOf(realm, user.settings.translateEmoticons, by.more), ahead);
  }

  private isStill(
    { realm: before, translateEmoticons, more, options }: ParseOptions,
    realm: Realm,
    user: User,
  ): boolean {
    if (user.settings.translateEmoticons !== translateEmoticons) return false;
    // Usually the cached object itself.
    if (realm === before) return options.realmUrl === this.realmUrls.urlOf(realm);
    return areSame(this.optionsOf(realm, translateEmoticons, more), options);
  }

  private find({ realmId, userId }: Caller): ParseOptions | null {
    const existing = this.realms.get(realmId);
    const wish = existing?.wishes.get(userId);
    if (!existing || wish === undefined) return null;
    return wish ? existing.translating : existing.plain;
  }

  private async lookUp({ realmId, userId }: Caller): Promise<ParseOptions> {
    const { realm, wish } = await this.uow.read(realmId, async ({ realms, users }) => ({
      realm: await realms.get(realmId),
      wish: (await users.find(realmId, userId))?.settings.translateEmoticons ?? false,
    }));
    const existing = this.entryOf(realm);
    if (existing.wishes.size >= MAX_PEOPLE) existing.wishes.clear();
    existing.wishes.set(userId, wish);
    return wish ? existing.translating : existing.plain;
  }

  /** Returns the cache entry if its options are current, otherwise a new entry. */
  private entryOf(realm: Realm): RealmEntry {
    const existing = this.realms.get(realm.id);
    if (existing?.realm === realm) return existing;
    const plain = this.optionsBy(realm, false);
    if (existing && areSame(existing.plain.options, plain.options)) return existing;
    const fresh = { realm, plain, translating: this.optionsBy(realm, true), wishes: new Map<UserId, boolean>() };
    if (this.realms.size >= MAX_REALMS) this.realms.clear();
    this.realms.set(realm.id, fresh);
    return fresh;
  }

  private optionsBy(realm: Realm, translateEmoticons: boolean, more: ParseOptions['more'] = {}): ParseOptions {
    return { realm, translateEmoticons, more, options: this.optionsOf(realm, translateEmoticons, more) };
  }

  private optionsOf(realm: Realm, translateEmoticons: boolean, more: ParseOptions['more'] = {}): MarkdownOptions {
    return markdownOptions(realm, this.realmUrls.urlOf(realm), { translateEmoticons, ...more });
  }
}

const areSame = (one: MarkdownOptions, two: MarkdownOptions): boolean => JSON.stringify(one) === JSON.stringify(two);

/** Renders texts other than messages with message Markdown. */
export class MarkdownTextRenderer implements TextRenderer {
  static readonly inject = ['unitOfWork', 'markdownRenderer', 'realmUrls'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly renderer: MarkdownRenderer,
    private readonly realmUrls: RealmUrls,
  ) {}

  async parse(realmId: RealmId, text: string): Promise<ParsedText> {
    return getOrThrow(await this.parseAll(realmId, [text]), text);
  }

  async parseAll(realmId: RealmId, texts: readonly string[]): Promise<ReadonlyMap<string, ParsedText>> {
    const all = new Map<string, ParsedText>(texts.map((text) => [text, { text, parsed: null }]));
    const written = [...all.keys()].filter((text) => text !== '');
    if (written.length === 0) return all;
    const realm = await this.uow.read(realmId, ({ realms }) => realms.get(realmId));
    const options = markdownOptions(realm, this.realmUrls.urlOf(realm), { mediaPreviews: false });
    for (const text of written) all.set(text, { text, parsed: await parseAhead(this.renderer, text, options) });
    return all;
  }

  async render(tx: Transaction, realmId: RealmId, actor: Actor | null, { parsed }: ParsedText): Promise<string> {
    if (parsed === null) return '';
    const realm = await tx.realms.get(realmId);
    return (await renderText(tx, this.renderer, orThrow(parsed), realm, { actor })).html;
  }
}

/** Renders text as the caller's message would look, without storing or publishing anything (messages §15.1). */
export class RenderMarkdown {
  static readonly inject = ['unitOfWork', 'markdownRenderer', UserTextParser] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly renderer: MarkdownRenderer,
    private readonly parser: UserTextParser,
  ) {}

  /** Returns HTML, empty for an empty text. @throws DomainError UNRENDERABLE_CONTENT */
  async execute(caller: Caller, { content }: { readonly content: string }): Promise<string> {
    // Sending would truncate the content, so its rendering would be misleading.
    if (isLongerThan(content, MAX_MESSAGE_LENGTH))
      throw new DomainError('UNRENDERABLE_CONTENT', 'Unable to render message');
    const text = await this.parser.parse(caller, content);
    return this.uow.read(caller.realmId, async (repositories) => {
      const actor = await repositories.actors.get(caller);
      const realm = await repositories.realms.get(actor.realmId);
      const author = await repositories.users.get(actor.realmId, actor.id);
      const parsed = this.parser.parsedBy(realm, author, text);
      return (await renderText(repositories, this.renderer, parsed, realm, { actor })).html;
    });
  }
}
