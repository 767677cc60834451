import { CHANNEL_PERMISSIONS, type Channel, hasSharedHistory, isPrivate, isWebPublic } from '@parley/domain/channels';
import { GROUP_PERMISSIONS } from '@parley/domain/groups';
import { getOrThrow, type PersonCopy, type RealmCopy } from '@parley/domain/kernel';
import { REALM_IMAGE_NAMES, REALM_PERMISSIONS } from '@parley/domain/realms';
import { mapped } from './json.js';
import {
  AVATAR_SOURCES,
  BOT_TYPES,
  EMOJI_TYPE_NAMES,
  FIELD_TYPES,
  REALM_IMAGE_WORDS,
  RECIPIENT_TYPES,
  ROLE_NUMBERS,
  TOPICS_POLICY_NUMBERS,
  VISIBILITY_NUMBERS,
  ZULIP_FOREVER,
} from './layout.js';
import type { ColumnNames } from './message-rows.js';
import type { TableFiles } from './read-export.js';

/** Tables present in every export, possibly empty. */
export const TABLES_OF_PEOPLE = [
  'zerver_subscription',
  'zerver_usertopic',
  'zerver_customprofilefieldvalue',
  'zerver_userstatus',
  'zerver_userpresence',
  'zerver_alertword',
  'zerver_muteduser',
  'zerver_savedsnippet',
  'zerver_navigationview',
  'zerver_onboardingstep',
  'zerver_botstoragedata',
  'zerver_reaction',
  'zerver_submessage',
] as const;

/** Rows of Zulip's tables by table, except per-user data. */
export function realmTables(copy: RealmCopy, names: ColumnNames): Readonly<Record<string, Iterable<object>>> {
  return {
    ...settingTables(copy, names),
    ...groupTables(copy, names),
    ...userTables(copy, names),
    ...channelTables(copy, names),
    zerver_customprofilefield: copy.profileFields.map((field) => ({
      id: field.id,
      realm: copy.realm.id,
      name: field.name,
      hint: field.hint,
      field_type: FIELD_TYPES[field.kind],
      field_data: JSON.stringify(field.data),
      order: field.order,
      display_in_profile_summary: field.isInSummary,
      required: field.isRequired,
      editable_by_user: field.isEditableByUser,
      use_for_user_matching: field.isForMatching,
    })),
  };
}

const permissions = (names: ColumnNames, registry: object, values: object) =>
  Object.fromEntries(
    Object.keys(registry).map((name) => [names.permission(name), (values as Readonly<Record<string, number>>)[name]]),
  );

/** Organization with its settings and custom content. */
const settingTables = (copy: RealmCopy, names: ColumnNames) => {
  const { realm } = copy;
  return {
    zerver_realm: [
      {
        id: realm.id,
        uuid: realm.uuid,
        name: realm.name,
        string_id: realm.stringId,
        rendered_description: realm.renderedDescription,
        date_created: realm.createdAt,
        deactivated: false,
        ...Object.fromEntries(
          REALM_IMAGE_NAMES.flatMap((name) => {
            const { isUploaded, version } = realm.images[name];
            const word = REALM_IMAGE_WORDS[name];
            return [
              [`${word}_source`, isUploaded ? 'U' : word === 'icon' ? 'G' : 'D'],
              [`${word}_version`, version],
            ];
          }),
        ),
        ...names.realm.present(realm.settings),
        ...permissions(names, REALM_PERMISSIONS, realm.permissions),
      },
    ],
    zerver_realmuserdefault: [{ id: realm.id, realm: realm.id, ...names.user.present(realm.userDefaults) }],
    zerver_realmdomain: copy.allowedDomains.map(({ id, domain, allowsSubdomains }) => ({
      id,
      realm: realm.id,
      domain,
      allow_subdomains: allowsSubdomains,
    })),
    zerver_realmfilter: copy.linkifiers.map((it, order) => ({
      id: it.id,
      realm: realm.id,
      pattern: it.pattern,
      url_template: it.urlTemplate,
      example_input: it.exampleInput,
      reverse_template: it.reverseTemplate,
      alternative_url_templates: it.alternativeUrlTemplates,
      order,
    })),
    zerver_realmplayground: copy.playgrounds.map(({ id, name, language, urlTemplate }) => ({
      id,
      realm: realm.id,
      name,
      pygments_language: language,
      url_template: urlTemplate,
    })),
    zerver_realmemoji: copy.customEmoji.map((it) => ({
      id: it.id,
      realm: realm.id,
      author: it.authorId,
      name: it.name,
      file_name: it.fileName,
      is_animated: it.isAnimated,
      deactivated: it.isDeactivated,
    })),
    zerver_defaultstream: copy.channels
      .filter(({ isDefault }) => isDefault)
      .map(({ id }, index) => ({ id: index + 1, realm: realm.id, stream: id })),
  };
};

const groupTables = ({ realm, groups }: RealmCopy, names: ColumnNames) => ({
  zerver_usergroup: groups.map(({ id }) => ({ id, realm: realm.id })),
  zerver_namedusergroup: groups
    .filter(({ name }) => name !== null)
    .map((group) => ({
      usergroup_ptr: group.id,
      name: group.name,
      description: group.description,
      is_system_group: group.systemName !== null,
      deactivated: group.isDeactivated,
      creator: group.creatorId,
      date_created: group.createdAt,
      realm_for_sharding: realm.id,
      ...permissions(names, GROUP_PERMISSIONS, group.permissions ?? {}),
    })),
  zerver_usergroupmembership: groups
    .flatMap(({ id, memberIds }) => memberIds.map((user) => ({ user_group: id, user_profile: user })))
    .map((row, index) => ({ id: index + 1, ...row })),
  zerver_groupgroupmembership: groups
    .flatMap(({ id, subgroupIds }) => subgroupIds.map((subgroup) => ({ supergroup: id, subgroup })))
    .map((row, index) => ({ id: index + 1, ...row })),
});

const userTables = ({ realm, users }: RealmCopy, names: ColumnNames) => {
  const members = users.filter(({ systemKind }) => systemKind === null);
  return {
    zerver_userprofile: mapped(members, ({ user, botOptions }) => ({
      id: user.id,
      realm: realm.id,
      email: user.email,
      delivery_email: user.email,
      full_name: user.fullName,
      date_joined: user.joinedAt,
      is_active: user.isActive,
      ...(user.isDeleted && { is_deleted: true }),
      is_bot: user.bot !== null,
      bot_type: user.bot && BOT_TYPES[user.bot.kind],
      bot_owner: user.bot?.ownerId ?? null,
      role: ROLE_NUMBERS[user.role],
      avatar_source: AVATAR_SOURCES[user.avatar.source],
      avatar_version: user.avatar.version,
      default_sending_stream: user.bot?.defaultSendingChannelId ?? null,
      default_events_register_stream: botOptions?.eventsChannelId ?? null,
      default_all_public_streams: botOptions?.allPublicChannels ?? false,
      can_create_users: user.specialPermissions.includes('canCreateUsers'),
      can_change_user_emails: user.specialPermissions.includes('canChangeUserEmails'),
      ...names.user.present(user.settings),
    })),
    zerver_userprofile_mirrordummy: [],
    zerver_userprofile_crossrealm: users
      .filter(({ systemKind }) => systemKind !== null)
      .map(({ user }) => ({ id: user.id, email: user.email })),
    zerver_service: members.flatMap(({ user, botOptions }) => {
      if (!botOptions?.webhook) return [];
      const { url, token, interface: form } = botOptions.webhook;
      return {
        id: user.id,
        name: user.fullName,
        user_profile: user.id,
        base_url: url,
        token,
        interface: form === 'slack' ? 2 : 1,
      };
    }),
  };
};

const channelTables = (copy: RealmCopy, names: ColumnNames) => {
  const { realm } = copy;
  return {
    zerver_stream: mapped(copy.channels, (channel) => ({
      ...streamRow(channel, realm.id),
      ...permissions(names, CHANNEL_PERMISSIONS, channel.permissions),
    })),
    zerver_channelfolder: copy.channelFolders.map((folder) => ({
      id: folder.id,
      realm: realm.id,
      name: folder.name,
      description: folder.description,
      rendered_description: folder.renderedDescription,
      order: folder.order,
      date_created: folder.createdAt,
      creator: folder.creatorId,
      is_archived: folder.isArchived,
    })),
    zerver_recipient: [
      ...copy.channels.map((channel) => ({
        id: channel.recipientId,
        type: RECIPIENT_TYPES.channel,
        type_id: channel.id,
      })),
      ...copy.conversations.map(({ recipientId }) => ({
        id: recipientId,
        type: RECIPIENT_TYPES.direct,
        type_id: recipientId,
      })),
    ],
    zerver_huddle: copy.conversations.map(({ recipientId, userIds }) => ({
      id: recipientId,
      recipient: recipientId,
      group_size: userIds.length,
    })),
  };
};

const streamRow = (channel: Channel, realmId: number) => ({
  id: channel.id,
  realm: realmId,
  recipient: channel.recipientId,
  name: channel.name,
  description: channel.description,
  rendered_description: channel.renderedDescription,
  date_created: channel.createdAt,
  creator: channel.creatorId,
  deactivated: channel.isArchived,
  invite_only: isPrivate(channel),
  is_web_public: isWebPublic(channel),
  history_public_to_subscribers: hasSharedHistory(channel),
  message_retention_days: channel.messageRetentionDays === 'forever' ? ZULIP_FOREVER : channel.messageRetentionDays,
  topics_policy: TOPICS_POLICY_NUMBERS[channel.topicsPolicy],
  folder: channel.folderId,
  first_message: channel.firstMessageId,
  is_recently_active: channel.isRecentlyActive,
});

/** Writes per-user data into Zulip's tables. */
export class PersonTables {
  private readonly ids = new Map<string, number>();
  private readonly channels: ReadonlyMap<number, Channel>;
  private readonly isActive: ReadonlyMap<number, boolean>;

  constructor(
    private readonly copy: RealmCopy,
    private readonly files: TableFiles,
  ) {
    files.begin(...TABLES_OF_PEOPLE);
    this.channels = new Map(copy.channels.map((channel) => [channel.id, channel]));
    this.isActive = new Map(copy.users.map(({ user }) => [user.id, user.isActive]));
  }

  async addConversations(): Promise<void> {
    for (const { recipientId, userIds } of this.copy.conversations) {
      for (const user of userIds) {
        await this.add('zerver_subscription', {
          user_profile: user,
          recipient: recipientId,
          active: true,
          is_user_active: this.isActive.get(user) ?? true,
          is_muted: false,
          color: '#c2c2c2',
          pin_to_top: false,
        });
      }
    }
  }

  async addPerson(person: PersonCopy): Promise<void> {
    const user_profile = person.userId;
    const realm = this.copy.realm.id;
    for (const it of person.subscriptions) {
      await this.add('zerver_subscription', {
        user_profile,
        recipient: getOrThrow(this.channels, it.channelId).recipientId,
        active: it.isActive,
        is_user_active: this.isActive.get(person.userId) ?? true,
        is_muted: it.isMuted,
        color: it.color,
        pin_to_top: it.isPinned,
        desktop_notifications: it.notifications.desktop,
        audible_notifications: it.notifications.audible,
        push_notifications: it.notifications.push,
        email_notifications: it.notifications.email,
        wildcard_mentions_notify: it.notifications.wildcardMentions,
      });
    }
    for (const { channelId, topic, visibility, changedAt } of person.topicPolicies) {
      await this.add('zerver_usertopic', {
        user_profile,
        stream: channelId,
        recipient: getOrThrow(this.channels, channelId).recipientId,
        topic_name: topic,
        last_updated: changedAt,
        visibility_policy: VISIBILITY_NUMBERS[visibility],
      });
    }
    for (const { fieldId, value, rendered } of person.profile) {
      await this.add('zerver_customprofilefieldvalue', {
        user_profile,
        field: fieldId,
        value,
        rendered_value: rendered,
      });
    }
    if (person.status) {
      const { text, emoji } = person.status;
      await this.add('zerver_userstatus', {
        user_profile,
        client: 1,
        timestamp: 0,
        status_text: text,
        emoji_name: emoji?.name ?? '',
        emoji_code: emoji?.code ?? '',
        reaction_type: EMOJI_TYPE_NAMES[emoji?.type ?? 'unicode'],
      });
    }
    if (person.presence) {
      await this.add('zerver_userpresence', {
        user_profile,
        realm,
        last_connected_time: person.presence.lastConnected,
        last_active_time: person.presence.lastActive,
      });
    }
    for (const word of person.alertWords) await this.add('zerver_alertword', { user_profile, realm, word });
    for (const { userId, mutedAt } of person.mutedUsers) {
      await this.add('zerver_muteduser', { user_profile, muted_user: userId, date_muted: mutedAt });
    }
    for (const { title, content, createdAt } of person.snippets) {
      await this.add('zerver_savedsnippet', { user_profile, realm, title, content, date_created: createdAt });
    }
    for (const { fragment, isPinned, name } of person.navigationViews) {
      await this.add('zerver_navigationview', { user: user_profile, fragment, is_pinned: isPinned, name });
    }
    for (const step of person.onboardingSteps) {
      await this.add('zerver_onboardingstep', { user: user_profile, onboarding_step: step, timestamp: 0 });
    }
    for (const { key, value } of person.botStorage) {
      await this.add('zerver_botstoragedata', { bot_profile: user_profile, key, value });
    }
  }

  async addReactions(
    messageId: number,
    reactions: readonly {
      readonly userId: number;
      readonly type: 'unicode' | 'custom' | 'extra';
      readonly code: string;
      readonly name: string;
    }[],
  ): Promise<void> {
    for (const { userId, type, code, name } of reactions) {
      await this.add('zerver_reaction', {
        user_profile: userId,
        message: messageId,
        emoji_name: name,
        emoji_code: code,
        reaction_type: EMOJI_TYPE_NAMES[type],
      });
    }
  }

  async addSubmessages(
    messageId: number,
    submessages: readonly { readonly senderId: number; readonly kind: string; readonly content: string }[],
  ): Promise<void> {
    for (const { senderId, kind, content } of submessages) {
      await this.add('zerver_submessage', { message: messageId, sender: senderId, msg_type: kind, content });
    }
  }

  private add(table: string, row: object): Promise<void> {
    const id = (this.ids.get(table) ?? 0) + 1;
    this.ids.set(table, id);
    return this.files.add(table, { id, ...row });
  }
}
