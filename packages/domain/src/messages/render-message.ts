import type { Actor } from '../access/actor.js';
import type { SystemGroupName } from '../access/system-groups.js';
import type { Channel } from '../channels/channel.js';
import { hasContentAccess, hasFullHistoryAccess } from '../channels/channel-access.js';
import { EMPTY_TOPIC_DISPLAY_NAME, normalizeTopic, topicKey } from '../channels/topic.js';
import { emojiPath } from '../files/custom-emoji.js';
import type { Group } from '../groups/group.js';
import { DomainError } from '../kernel/errors.js';
import type { ChannelId, GroupId, MessageId, RealmId, UserId } from '../kernel/ids.js';
import { foldCase } from '../kernel/text.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import {
  type LinkableChannel,
  type MarkdownOptions,
  type MarkdownRenderer,
  type MentionableGroup,
  NOTHING_NAMED,
  type ParsedMarkdown,
  type RenderedMarkdown,
  type ResolvedNames,
} from '../markdown/markdown.js';
import type { Author, ParsedAhead } from '../markdown/text-renderer.js';
import type { Realm } from '../realms/realm.js';
import { inaccessibleUserIds } from '../users/accessible-users.js';
import type { User } from '../users/user.js';
import { resolveUploads } from './linked-uploads.js';

/** How a message of this realm is parsed; descriptions and profile fields show no previews. */
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

type Reads = Pick<
  Repositories | Transaction,
  'users' | 'groups' | 'channels' | 'topics' | 'alertWords' | 'files' | 'customEmoji'
>;

/** What was made of a text, and the groups it mentions aloud. */
export interface RenderedText extends RenderedMarkdown {
  readonly mentionedGroups: readonly Group[];
}

/**
 * The quick second half of rendering: looks up what the text names, as far as its author may see it, and puts it in. A
 * constant number of look-ups, and one more for each channel whose topics are linked to.
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
  // Most texts.
  const named = [userNames, userIds, groupNames, channelNames, emojiNames, uploadPaths];
  if (named.every(({ size }) => size === 0)) {
    return withGroups(renderer.render(parsed, { ...NOTHING_NAMED, alertWords }), []);
  }
  const groups = groupNames.size > 0 ? await tx.groups.listByName(realmId, [...groupNames]) : [];
  const names: ResolvedNames = {
    ...NOTHING_NAMED,
    alertWords,
    ...(await resolveUsers(tx, parsed, realm, author.actor)),
    groupsByName: resolveGroups(groups, groupNames),
    customEmoji: await resolveEmoji(tx, realmId, emojiNames),
    uploads: await resolveUploads(tx, realm.id, uploadPaths),
    channelsByName: await resolveChannels(tx, parsed, realmId, author),
  };
  const rendered = renderer.render(parsed, names);
  return withGroups(
    rendered,
    groups.filter((group) => rendered.mentionedGroupIds.has(group.id)),
  );
}

/** Spelt out, for the reason that docs/performance.md gives. */
const withGroups = (rendered: RenderedMarkdown, mentionedGroups: readonly Group[]): RenderedText => ({
  html: rendered.html,
  mentionedUserIds: rendered.mentionedUserIds,
  mentionedGroupIds: rendered.mentionedGroupIds,
  mentionsChannelWildcard: rendered.mentionsChannelWildcard,
  mentionsTopicWildcard: rendered.mentionsTopicWildcard,
  hasLink: rendered.hasLink,
  hasImage: rendered.hasImage,
  uploadPaths: rendered.uploadPaths,
  pendingThumbnails: rendered.pendingThumbnails,
  alertWordUserIds: rendered.alertWordUserIds,
  isMeMessage: rendered.isMeMessage,
  mentionedGroups,
});

async function resolveUsers(
  tx: Reads,
  { references }: ParsedMarkdown,
  realm: Realm,
  actor: Actor | null,
): Promise<Pick<ResolvedNames, 'usersByName' | 'usersById'>> {
  const { userNames, userIds } = references;
  const everyNamed = userNames.size > 0 ? await tx.users.listByName(realm.id, [...userNames]) : [];
  const everyById = userIds.size > 0 ? await tx.users.list(realm.id, [...userIds]) : [];
  const ids = [...everyNamed, ...everyById].map((user) => user.id);
  const inaccessible = actor && (await inaccessibleUserIds(tx, actor, realm, ids));
  const isKnown = (user: User) => !inaccessible?.has(user.id);
  const named = everyNamed.filter(isKnown);
  const byFoldedName = new Map(named.map((user) => [foldCase(user.fullName), user]));
  const usersByName = new Map<string, User>();
  for (const name of userNames) {
    const user = byFoldedName.get(foldCase(name));
    if (user) usersByName.set(name, user);
  }
  return { usersByName, usersById: new Map<UserId, User>(everyById.filter(isKnown).map((user) => [user.id, user])) };
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
    const known = topicsOf.get(channelName);
    if (known) known.push(topic);
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

/** By key. A topic of which the actor sees nothing is absent, like one that does not exist (contract decision 25). */
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
  // Linked to by `about` alone: that the channel exists says nothing about its topics.
  if (!hasContentAccess(actor, channel, isSubscribed)) return new Map();
  return tx.topics.listNewestOwnInTopics({ realmId, userId: actor.id }, recipientId, keys);
}
