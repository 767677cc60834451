import { canReadContent } from '../channels/channel-permissions.js';
import type { Group } from '../groups/group.js';
import type { SystemGroupName } from '../groups/system-groups.js';
import type { Realm } from '../realms/realm.js';
import type { GroupId, MessageId, RealmId, UserId } from '../shared/ids.js';
import type { RealmAddresses } from '../shared/realm-address.js';
import { foldCase } from '../shared/text.js';
import type { Repositories, Transaction } from '../shared/unit-of-work.js';
import { strangersAmong } from '../users/acquaintances.js';
import type { Actor } from '../users/actor.js';
import type { User } from '../users/user.js';
import {
  type LinkableChannel,
  type MarkdownOptions,
  type MarkdownRenderer,
  type MentionableGroup,
  NOTHING_NAMED,
  type ParsedMarkdown,
  type RenderedMarkdown,
  type ResolvedNames,
} from './markdown.js';
import { EMPTY_TOPIC_DISPLAY_NAME, normalizeTopic, topicKey } from './topic.js';

/** How a message of this realm is parsed; descriptions and profile fields show no previews. */
export function markdownOptions(
  realm: Realm,
  realmUrl: string,
  more: Partial<Pick<MarkdownOptions, 'mediaPreviews' | 'translateEmoticons'>> = {},
): MarkdownOptions {
  return {
    realmUrl,
    linkifiers: [],
    defaultCodeLanguage: realm.settings.defaultCodeBlockLanguage,
    mediaPreviews: realm.settings.inlineImagePreview,
    translateEmoticons: false,
    emptyTopicName: EMPTY_TOPIC_DISPLAY_NAME,
    ...more,
  };
}

/** How the caller's own messages are parsed. */
export async function ownMarkdownOptions(
  { realms, users }: Pick<Repositories, 'realms' | 'users'>,
  { realmId, userId }: { readonly realmId: RealmId; readonly userId: UserId },
  addresses: RealmAddresses,
): Promise<MarkdownOptions> {
  const realm = await realms.get(realmId);
  const user = await users.find(realmId, userId);
  const translateEmoticons = user?.settings.translateEmoticons ?? false;
  return markdownOptions(realm, addresses.urlOf(realm), { translateEmoticons });
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

type Reads = Pick<Repositories | Transaction, 'users' | 'groups' | 'channels' | 'messages'>;

/** What was made of a text, and the groups it mentions aloud. */
export interface RenderedText extends RenderedMarkdown {
  readonly mentionedGroups: readonly Group[];
}

/**
 * The quick second half of rendering: looks up what the text names, as far as `reader` may see it, and puts it in. The
 * realm's own bots, null, name whatever their notices are about. A constant number of look-ups, but one for each channel
 * and topic that is linked to.
 */
export async function renderText(
  tx: Reads,
  renderer: MarkdownRenderer,
  parsed: ParsedMarkdown,
  realm: Realm,
  reader: Actor | null,
): Promise<RenderedText> {
  const { references } = parsed;
  const { userNames, userIds, groupNames, channelNames } = references;
  // Most texts.
  if (userNames.size + userIds.size + groupNames.size + channelNames.size === 0) {
    return { ...renderer.render(parsed, NOTHING_NAMED), mentionedGroups: [] };
  }
  const realmId = realm.id;
  const groups = groupNames.size > 0 ? await tx.groups.listByName(realmId, [...groupNames]) : [];
  const names: ResolvedNames = {
    ...NOTHING_NAMED,
    ...(await resolveUsers(tx, parsed, realm, reader)),
    groupsByName: resolveGroups(groups, groupNames),
    channelsByName: await resolveChannels(tx, parsed, realmId, reader),
  };
  const rendered = renderer.render(parsed, names);
  return { ...rendered, mentionedGroups: groups.filter((group) => rendered.mentionedGroupIds.has(group.id)) };
}

async function resolveUsers(
  tx: Reads,
  { references }: ParsedMarkdown,
  realm: Realm,
  reader: Actor | null,
): Promise<Pick<ResolvedNames, 'usersByName' | 'usersById'>> {
  const { userNames, userIds } = references;
  const everyNamed = userNames.size > 0 ? await tx.users.listByName(realm.id, [...userNames]) : [];
  const everyById = userIds.size > 0 ? await tx.users.list(realm.id, [...userIds]) : [];
  const ids = [...everyNamed, ...everyById].map((user) => user.id);
  const strangers = reader && (await strangersAmong(tx, reader, realm, ids));
  const isKnown = (user: User) => !strangers?.has(user.id);
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

async function resolveChannels(
  tx: Reads,
  { references }: ParsedMarkdown,
  realmId: RealmId,
  reader: Actor | null,
): Promise<ReadonlyMap<string, LinkableChannel>> {
  const result = new Map<string, LinkableChannel>();
  if (references.channelNames.size === 0) return result;
  for (const channel of await tx.channels.listByName(realmId, [...references.channelNames])) {
    if (!references.channelNames.has(channel.name)) continue;
    if (reader) {
      const isSubscribed = await tx.channels.isSubscribed(realmId, channel.id, reader.id);
      if (!canReadContent(reader, channel, isSubscribed).allowed) continue;
    }
    const newestMessageIds = new Map<string, MessageId>();
    for (const { channelName, topic } of references.topics) {
      if (channelName !== channel.name) continue;
      const key = topicKey(normalizeTopic(topic));
      const newest = await tx.messages.findNewestInTopic(realmId, channel.recipientId, key);
      if (newest !== null) newestMessageIds.set(topic, newest);
    }
    result.set(channel.name, { id: channel.id, name: channel.name, newestMessageIds });
  }
  return result;
}
