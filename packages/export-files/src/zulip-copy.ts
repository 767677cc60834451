import { CHANNEL_PERMISSIONS, type Channel, normalizeColor } from '@parley/domain/channels';
import type { GroupCopy, MessageCopy, PersonCopy, RealmCopy, UserCopy } from '@parley/domain/exports';
import { GROUP_PERMISSIONS } from '@parley/domain/groups';
import { isOnboardingStep } from '@parley/domain/onboarding';
import {
  type GroupSettingDefinition,
  SYSTEM_GROUPS,
  type SystemGroupName,
  systemGroupTitle,
} from '@parley/domain/permissions';
import { REALM_IMAGE_NAMES, REALM_PERMISSIONS, type RealmImages, STORED_REALM_SETTINGS } from '@parley/domain/realms';
import {
  type ChannelId,
  type CustomEmojiId,
  type GroupId,
  isSettingValue,
  type MessageId,
  type ProfileFieldId,
  type RealmId,
  type RecipientId,
  type Registry,
  recordOf,
  type SettingDefinition,
  type SettingValues,
  type UserId,
} from '@parley/domain/shared';
import { USER_SETTINGS } from '@parley/domain/user-settings';
import { type Avatar, SYSTEM_BOTS, type SystemBotKind } from '@parley/domain/users';
import type { ColumnNames, SettingColumns } from './column-names.js';
import {
  AVATAR_SOURCES,
  BOT_TYPES,
  EMOJI_TYPE_NAMES,
  FIELD_TYPES,
  keyOfValue,
  REALM_IMAGE_WORDS,
  RECIPIENT_TYPES,
  ROLE_NUMBERS,
  TOPICS_POLICY_NUMBERS,
  VISIBILITY_NUMBERS,
} from './layout.js';
import { EMOJI_NAME } from './parley-shapes.js';
import { safeHtml } from './safe-html.js';
import {
  flag,
  id,
  integer,
  list,
  number,
  object,
  orElse,
  orNull,
  parseJson,
  record,
  type Shape,
  text,
  time,
  wrong,
} from './shape.js';

type Row = Readonly<Record<string, unknown>>;

/** What a Zulip server's `realm.json` says. */
export interface ZulipCopy {
  readonly realm: RealmCopy;
  readonly people: readonly PersonCopy[];
  readonly reactionsOf: (message: MessageId) => MessageCopy['reactions'];
  readonly submessagesOf: (message: MessageId) => MessageCopy['submessages'];
  /** Whom messages to a recipient of one person are for. */
  readonly personOf: (recipient: RecipientId) => UserId | null;
  /** Of somebody or of a place that is not in the export. */
  readonly skipsMessage: (copy: MessageCopy) => boolean;
}

const NAME = text(1000);
const user = id<UserId>();
const channel = id<ChannelId>();
const recipient = id<RecipientId>();
const group = id<GroupId>();

/**
 * Zulip's tables as an organization: of each what Parley has as well. Columns that this version does not know are passed over, and
 * those that are missing are at their defaults. @throws DomainError INVALID_IMPORT
 */
export function readZulipTables(tables: Row, names: ColumnNames): ZulipCopy {
  return new ZulipReader(tables, names).read();
}

class ZulipReader {
  private readonly realmId: RealmId;
  private readonly realmRow: Row;
  private readonly system: Readonly<Record<SystemGroupName, GroupId>>;

  constructor(
    private readonly tables: Row,
    private readonly names: ColumnNames,
  ) {
    const [row] = this.rows('zerver_realm');
    if (!row) throw wrong('realm.json', 'has no organization');
    this.realmRow = row;
    this.realmId = id<RealmId>()(row.id, 'zerver_realm[0].id');
    this.system = this.systemGroups();
  }

  read(): ZulipCopy {
    const users = this.users();
    const channels = this.channels();
    const subscriptions = this.subscriptions();
    const conversations = this.conversations(subscriptions);
    const userDefaults = settingsOf(USER_SETTINGS, this.names.user, this.rows('zerver_realmuserdefault')[0] ?? {});
    const realm: RealmCopy = {
      realm: {
        id: this.realmId,
        stringId: NAME(this.realmRow.string_id, 'zerver_realm[0].string_id'),
        uuid: orElse(text(100), '00000000-0000-4000-8000-000000000000')(this.realmRow.uuid, 'zerver_realm[0].uuid'),
        name: NAME(this.realmRow.name, 'zerver_realm[0].name'),
        createdAt: time(this.realmRow.date_created, 'zerver_realm[0].date_created'),
        settings: this.realmSettings(channels),
        images: this.realmImages(),
        renderedDescription: safeHtml(
          orElse(text(), '')(this.realmRow.rendered_description, 'zerver_realm[0].rendered_description'),
          orElse(text(), '')(this.realmRow.description, 'zerver_realm[0].description'),
        ),
        permissions: this.permissionsOf(REALM_PERMISSIONS, this.realmRow),
        userDefaults,
      },
      linkifiers: this.linkifiers(),
      playgrounds: this.table('zerver_realmplayground', {
        id: integer,
        name: NAME,
        pygments_language: NAME,
        url_template: text(10_000),
      }).map((it) => ({ id: it.id, name: it.name, language: it.pygments_language, urlTemplate: it.url_template })),
      allowedDomains: this.table('zerver_realmdomain', { id: integer, domain: NAME, allow_subdomains: flag }).map(
        (it) => ({
          id: it.id,
          domain: it.domain,
          allowsSubdomains: it.allow_subdomains,
        }),
      ),
      customEmoji: this.customEmoji(),
      groups: this.groups(users),
      users,
      profileFields: this.profileFields(),
      channelFolders: this.table('zerver_channelfolder', {
        id: id<never>(),
        name: NAME,
        description: orElse(text(10_000), ''),
        rendered_description: orElse(text(10_000), ''),
        order: orElse(integer, 0),
        date_created: orElse(time, 0),
        creator: orNull(user),
        is_archived: orElse(flag, false),
      }).map((it) => ({
        id: it.id,
        realmId: this.realmId,
        name: it.name,
        description: it.description,
        renderedDescription: safeHtml(it.rendered_description, it.description),
        order: it.order,
        createdAt: it.date_created,
        creatorId: it.creator,
        isArchived: it.is_archived,
      })),
      channels,
      defaultChannelGroups: [],
      conversations,
    };
    const userIds = new Set(users.map(({ user: { id: own } }) => own));
    const persons = new Map(
      this.table('zerver_recipient', { id: recipient, type: integer, type_id: integer })
        .filter(({ type, type_id }) => type === RECIPIENT_TYPES.personal && userIds.has(type_id as UserId))
        .map((it) => [it.id, it.type_id as UserId]),
    );
    const recipients = new Set<RecipientId>([
      ...persons.keys(),
      ...channels.map(({ recipientId }) => recipientId),
      ...conversations.map(({ recipientId }) => recipientId),
    ]);
    const reactions = this.reactions(userIds);
    const submessages = this.submessages(userIds);
    return {
      realm,
      people: this.people(users, channels, subscriptions),
      personOf: (of) => persons.get(of) ?? null,
      reactionsOf: (message) => reactions.get(message) ?? [],
      submessagesOf: (message) => submessages.get(message) ?? [],
      skipsMessage: ({ message }) => !userIds.has(message.senderId) || !recipients.has(message.recipientId),
    };
  }

  private rows(table: string): readonly Row[] {
    return list(record)(this.tables[table] ?? [], table);
  }

  private table<S extends Readonly<Record<string, Shape<unknown>>>>(table: string, shapes: S) {
    return list(object(shapes))(this.tables[table] ?? [], table);
  }

  private systemGroups(): Readonly<Record<SystemGroupName, GroupId>> {
    const ids = new Map(
      this.rows('zerver_namedusergroup').map((row, index) => [
        row.name,
        group(row.usergroup_ptr ?? row.id, `zerver_namedusergroup[${index}].usergroup_ptr`),
      ]),
    );
    const names = SYSTEM_GROUPS.map(({ name }) => name);
    return recordOf(names, (name) => {
      const found = ids.get(systemGroupTitle(name));
      if (found === undefined) throw wrong('realm.json', `has no group ${systemGroupTitle(name)}`);
      return found;
    });
  }

  /** A permission that a table does not have is given to whom it is given by default. */
  private permissionsOf<R extends Readonly<Record<string, GroupSettingDefinition>>>(
    registry: R,
    row: Row,
  ): { readonly [K in keyof R]: GroupId } {
    const values = Object.entries(registry).map(([name, definition]) => {
      const column = this.names.permission(name);
      const byDefault = definition.default === 'creator' ? this.system.nobody : this.system[definition.default];
      return [name, orElse(group, byDefault)(row[column], column)];
    });
    return Object.fromEntries(values) as { readonly [K in keyof R]: GroupId };
  }

  private realmSettings(channels: readonly Channel[]): RealmCopy['realm']['settings'] {
    const row = this.realmRow;
    const channelIds = new Set<unknown>(channels.map(({ id: own }) => own));
    const columns: Row = {
      ...row,
      moderation_request_channel_id: row.moderation_request_channel ?? -1,
      new_stream_announcements_stream_id: row.new_stream_announcements_stream ?? -1,
      signup_announcements_stream_id: row.signup_announcements_stream ?? -1,
      zulip_update_announcements_stream_id: row.zulip_update_announcements_stream ?? -1,
    };
    const known = Object.fromEntries(
      Object.entries(columns).map(([name, value]) => [
        name,
        /_(?:stream|channel)_id$/.test(name) && !channelIds.has(value) ? -1 : value,
      ]),
    );
    return settingsOf(STORED_REALM_SETTINGS, this.names.realm, known);
  }

  private linkifiers(): RealmCopy['linkifiers'] {
    const rows = this.table('zerver_realmfilter', {
      id: integer,
      pattern: text(10_000),
      url_template: text(10_000),
      example_input: orNull(text(10_000)),
      reverse_template: orNull(text(10_000)),
      alternative_url_templates: orElse(list(text(10_000), 1000), []),
      order: orElse(integer, 0),
    });
    return [...rows]
      .sort((a, b) => a.order - b.order || a.id - b.id)
      .map((it) => ({
        id: it.id,
        pattern: it.pattern,
        urlTemplate: it.url_template,
        exampleInput: it.example_input,
        reverseTemplate: it.reverse_template,
        alternativeUrlTemplates: it.alternative_url_templates,
      }));
  }

  private realmImages(): RealmImages {
    const images = REALM_IMAGE_NAMES.map((name) => {
      const [source, version] = [`${REALM_IMAGE_WORDS[name]}_source`, `${REALM_IMAGE_WORDS[name]}_version`];
      const isUploaded = this.realmRow[source] === 'U';
      return [name, { isUploaded, version: Math.max(1, orElse(integer, 1)(this.realmRow[version], version)) }];
    });
    return Object.fromEntries(images) as RealmImages;
  }

  private customEmoji(): RealmCopy['customEmoji'] {
    const rows = this.table('zerver_realmemoji', {
      id: id<CustomEmojiId>(),
      author: orNull(user),
      name: EMOJI_NAME,
      file_name: orNull(text(100)),
      is_animated: orElse(flag, false),
      deactivated: orElse(flag, false),
    });
    return [...rows]
      .sort((a, b) => a.id - b.id)
      .map((it) => ({
        id: it.id,
        name: it.name,
        authorId: it.author,
        // Found out when the picture is made.
        format: 'png',
        isAnimated: it.is_animated,
        isDeactivated: it.deactivated,
        fileName: it.file_name ?? `${it.id}.png`,
      }));
  }

  private users(): readonly UserCopy[] {
    const rows = [...this.rows('zerver_userprofile'), ...this.rows('zerver_userprofile_mirrordummy')];
    const shape = object({
      id: user,
      email: text(1000),
      delivery_email: orNull(text(1000)),
      full_name: NAME,
      date_joined: time,
      is_active: flag,
      is_deleted: orElse(flag, false),
      is_bot: flag,
      bot_type: orNull(integer),
      bot_owner: orNull(user),
      role: integer,
      avatar_source: orElse(NAME, 'J'),
      avatar_version: orElse(integer, 1),
      default_sending_stream: orNull(integer),
      default_events_register_stream: orNull(channel),
      default_all_public_streams: orElse(flag, false),
      can_create_users: orElse(flag, false),
      can_change_user_emails: orElse(flag, false),
    });
    const services = new Map(
      this.table('zerver_service', {
        user_profile: user,
        base_url: text(10_000),
        token: NAME,
        interface: orElse(integer, 1),
      }).map((it) => [it.user_profile, it]),
    );
    const copies: UserCopy[] = rows.map((row, index) => {
      const it = shape(row, `zerver_userprofile[${index}]`);
      const role = keyOfValue(ROLE_NUMBERS, it.role);
      if (!role) throw wrong(`zerver_userprofile[${index}].role`, 'is no role');
      const kind = keyOfValue(BOT_TYPES, it.bot_type) ?? 'generic';
      const service = services.get(it.id);
      const avatar = keyOfValue(AVATAR_SOURCES, it.avatar_source) ?? 'generated';
      const hasOptions = it.default_all_public_streams || it.default_events_register_stream !== null || service;
      return {
        user: {
          id: it.id,
          realmId: this.realmId,
          email: it.delivery_email ?? it.email,
          fullName: it.full_name,
          role,
          isActive: it.is_active,
          isDeleted: it.is_deleted && !it.is_active,
          joinedAt: it.date_joined,
          bot: it.is_bot
            ? { kind, ownerId: it.bot_owner, isSystem: false, defaultSendingChannelId: it.default_sending_stream }
            : null,
          avatar: avatarOf(avatar, Math.max(1, it.avatar_version)),
          specialPermissions: [
            ...(it.can_create_users ? (['canCreateUsers'] as const) : []),
            ...(it.can_change_user_emails ? (['canChangeUserEmails'] as const) : []),
          ],
          settings: settingsOf(USER_SETTINGS, this.names.user, row),
          editedSettings: [],
          version: 1,
        },
        systemKind: null,
        botOptions:
          it.is_bot && hasOptions
            ? {
                eventsChannelId: it.default_events_register_stream,
                allPublicChannels: it.default_all_public_streams,
                webhook: service
                  ? {
                      url: service.base_url,
                      token: service.token,
                      interface: service.interface === 2 ? 'slack' : 'generic',
                    }
                  : null,
              }
            : null,
      };
    });
    return [...copies, ...this.systemBots(copies)];
  }

  /** Those of another server stand for ours; whoever has no match there is made anew. */
  private systemBots(copies: readonly UserCopy[]): readonly UserCopy[] {
    const rows = this.table('zerver_userprofile_crossrealm', { id: user, email: text(1000) });
    let free = Math.max(0, ...copies.map(({ user: { id: own } }) => own), ...rows.map(({ id: own }) => own));
    const defaults = settingsOf(USER_SETTINGS, this.names.user, {});
    return SYSTEM_BOTS.map(({ kind, localPart, fullName }) => {
      const found = rows.find(({ email }) => email.split('@')[0] === localPart);
      return systemBot(
        kind,
        found?.id ?? (++free as UserId),
        `${localPart}@parley.invalid`,
        fullName,
        this.realmId,
        defaults,
      );
    });
  }

  private groups(users: readonly UserCopy[]): readonly GroupCopy[] {
    const known = new Set(users.map(({ user: { id: own } }) => own));
    const members = grouped(
      this.table('zerver_usergroupmembership', { user_group: group, user_profile: user }),
      (it) => it.user_group,
    );
    const subgroups = grouped(
      this.table('zerver_groupgroupmembership', { supergroup: group, subgroup: group }),
      (it) => it.supergroup,
    );
    const named = new Map(
      this.rows('zerver_namedusergroup').map((row, index) => [
        group(row.usergroup_ptr ?? row.id, `zerver_namedusergroup[${index}].usergroup_ptr`),
        row,
      ]),
    );
    const ids = new Set([...this.table('zerver_usergroup', { id: group }).map((it) => it.id), ...named.keys()]);
    const systemNames = new Map(SYSTEM_GROUPS.map(({ name }) => [systemGroupTitle(name), name]));
    return [...ids].map((own) => {
      const row = named.get(own);
      const name = row ? NAME(row.name, 'zerver_namedusergroup.name') : null;
      const isSystem = row?.is_system_group === true;
      return {
        id: own,
        realmId: this.realmId,
        name,
        description: orElse(text(10_000), '')(row?.description, 'zerver_namedusergroup.description'),
        systemName: isSystem ? (systemNames.get(name!) ?? null) : null,
        isDeactivated: orElse(flag, false)(row?.deactivated, 'zerver_namedusergroup.deactivated'),
        creatorId: orNull(user)(row?.creator, 'zerver_namedusergroup.creator'),
        createdAt: orNull(time)(row?.date_created, 'zerver_namedusergroup.date_created'),
        permissions: row ? this.permissionsOf(GROUP_PERMISSIONS, row) : null,
        memberIds: (members.get(own) ?? []).map((it) => it.user_profile).filter((userId) => known.has(userId)),
        subgroupIds: (subgroups.get(own) ?? []).map((it) => it.subgroup),
      };
    });
  }

  private channels(): readonly Channel[] {
    const defaults = new Set(this.table('zerver_defaultstream', { stream: channel }).map((it) => it.stream));
    const recipients = new Map(
      this.table('zerver_recipient', { id: recipient, type: integer, type_id: integer })
        .filter(({ type }) => type === RECIPIENT_TYPES.channel)
        .map((it) => [it.type_id, it.id]),
    );
    const shape = object({
      id: channel,
      recipient: orNull(recipient),
      name: NAME,
      description: orElse(text(10_000), ''),
      rendered_description: orElse(text(100_000), ''),
      date_created: time,
      creator: orNull(user),
      deactivated: orElse(flag, false),
      invite_only: orElse(flag, false),
      is_web_public: orElse(flag, false),
      history_public_to_subscribers: orElse(flag, true),
      message_retention_days: orNull(integer),
      topics_policy: orElse(integer, TOPICS_POLICY_NUMBERS.inherit),
      folder: orNull(id<never>()),
      first_message: orNull(id<MessageId>()),
      is_recently_active: orElse(flag, true),
    });
    return this.rows('zerver_stream').map((row, index) => {
      const place = `zerver_stream[${index}]`;
      const it = shape(row, place);
      const recipientId = it.recipient ?? recipients.get(it.id);
      if (recipientId === undefined) throw wrong(`${place}.recipient`, 'is missing');
      return {
        id: it.id,
        realmId: this.realmId,
        recipientId,
        name: it.name,
        description: it.description,
        renderedDescription: safeHtml(it.rendered_description, it.description),
        privacy: it.is_web_public
          ? 'webPublic'
          : !it.invite_only
            ? 'public'
            : it.history_public_to_subscribers
              ? 'privateSharedHistory'
              : 'privateProtectedHistory',
        isArchived: it.deactivated,
        creatorId: it.creator,
        createdAt: it.date_created,
        messageRetentionDays: it.message_retention_days,
        topicsPolicy: keyOfValue(TOPICS_POLICY_NUMBERS, it.topics_policy) ?? 'inherit',
        folderId: it.folder,
        isDefault: defaults.has(it.id),
        isRecentlyActive: it.is_recently_active,
        firstMessageId: it.first_message,
        permissions: this.permissionsOf(CHANNEL_PERMISSIONS, row),
        version: 1,
      };
    });
  }

  private subscriptions() {
    const choice = orNull(flag);
    return this.table('zerver_subscription', {
      user_profile: user,
      recipient,
      active: orElse(flag, true),
      is_muted: orElse(flag, false),
      color: orElse(NAME, '#c2c2c2'),
      pin_to_top: orElse(flag, false),
      desktop_notifications: choice,
      audible_notifications: choice,
      push_notifications: choice,
      email_notifications: choice,
      wildcard_mentions_notify: choice,
    });
  }

  private conversations(subscriptions: readonly { readonly user_profile: UserId; readonly recipient: RecipientId }[]) {
    const people = grouped(subscriptions, (it) => it.recipient);
    return this.table('zerver_recipient', { id: recipient, type: integer, type_id: integer })
      .filter(({ type }) => type === RECIPIENT_TYPES.direct)
      .map((it) => ({
        recipientId: it.id,
        userIds: [...new Set((people.get(it.id) ?? []).map((own) => own.user_profile))].sort((a, b) => a - b),
      }))
      .filter(({ userIds }) => userIds.length > 0);
  }

  private profileFields(): RealmCopy['profileFields'] {
    return this.table('zerver_customprofilefield', {
      id: id<ProfileFieldId>(),
      name: NAME,
      hint: orElse(NAME, ''),
      field_type: integer,
      field_data: orElse(text(100_000), ''),
      order: orElse(integer, 0),
      display_in_profile_summary: orElse(flag, false),
      required: orElse(flag, false),
      editable_by_user: orElse(flag, true),
      use_for_user_matching: orElse(flag, false),
    }).flatMap((it) => {
      const kind = keyOfValue(FIELD_TYPES, it.field_type);
      if (!kind) return [];
      const place = 'zerver_customprofilefield.field_data';
      const data = it.field_data === '' ? {} : record(parseJson(it.field_data, place), place);
      return {
        id: it.id,
        realmId: this.realmId,
        kind,
        order: it.order,
        name: it.name,
        hint: it.hint,
        data: data as RealmCopy['profileFields'][number]['data'],
        isRequired: it.required,
        isEditableByUser: it.editable_by_user,
        isForMatching: it.use_for_user_matching,
        isInSummary: it.display_in_profile_summary,
      };
    });
  }

  private people(
    users: readonly UserCopy[],
    channels: readonly Channel[],
    subscriptions: ReturnType<ZulipReader['subscriptions']>,
  ): readonly PersonCopy[] {
    const channelOf = new Map(channels.map((it) => [it.recipientId, it.id]));
    const channelIds = new Set(channels.map(({ id: own }) => own));
    const userIds = new Set(users.map(({ user: { id: own } }) => own));
    const fieldIds = new Set(this.profileFields().map(({ id: own }) => own));
    const byUser = <T>(rows: readonly T[], userOf: (row: T) => UserId) => grouped(rows, userOf);
    const own = { user_profile: user };
    const followed = byUser(subscriptions, (it) => it.user_profile);
    const topics = byUser(
      this.table('zerver_usertopic', {
        ...own,
        stream: channel,
        topic_name: NAME,
        last_updated: orElse(time, 0),
        visibility_policy: integer,
      }),
      (it) => it.user_profile,
    );
    const values = byUser(
      this.table('zerver_customprofilefieldvalue', {
        ...own,
        field: id<ProfileFieldId>(),
        value: text(100_000),
        rendered_value: orNull(text(100_000)),
      }),
      (it) => it.user_profile,
    );
    const statuses = byUser(
      this.table('zerver_userstatus', {
        ...own,
        status_text: orElse(NAME, ''),
        emoji_name: orElse(NAME, ''),
        emoji_code: orElse(NAME, ''),
        reaction_type: orElse(NAME, EMOJI_TYPE_NAMES.unicode),
      }),
      (it) => it.user_profile,
    );
    const presences = byUser(
      this.table('zerver_userpresence', {
        ...own,
        last_connected_time: orNull(number),
        last_active_time: orNull(number),
      }),
      (it) => it.user_profile,
    );
    const words = byUser(this.table('zerver_alertword', { ...own, word: NAME }), (it) => it.user_profile);
    const muted = byUser(
      this.table('zerver_muteduser', { ...own, muted_user: user, date_muted: orElse(time, 0) }),
      (it) => it.user_profile,
    );
    const snippets = byUser(
      this.table('zerver_savedsnippet', {
        ...own,
        id: id<never>(),
        title: NAME,
        content: text(),
        date_created: orElse(time, 0),
      }),
      (it) => it.user_profile,
    );
    const views = byUser(
      this.table('zerver_navigationview', { user, fragment: text(10_000), is_pinned: flag, name: orNull(NAME) }),
      (it) => it.user,
    );
    const steps = byUser(this.table('zerver_onboardingstep', { user, onboarding_step: NAME }), (it) => it.user);
    const storage = byUser(
      this.table('zerver_botstoragedata', { bot_profile: user, key: text(), value: text() }),
      (it) => it.bot_profile,
    );
    const realmId = this.realmId;
    return users
      .filter(({ systemKind }) => systemKind === null)
      .map(({ user: { id: userId } }) => {
        const [status] = statuses.get(userId) ?? [];
        const [presence] = presences.get(userId) ?? [];
        const emojiType = status && keyOfValue(EMOJI_TYPE_NAMES, status.reaction_type);
        return {
          userId,
          subscriptions: (followed.get(userId) ?? []).flatMap((it) => {
            const channelId = channelOf.get(it.recipient);
            if (channelId === undefined) return [];
            return {
              realmId,
              userId,
              channelId,
              isActive: it.active,
              color: /^#[0-9a-f]{3,6}$/i.test(it.color) ? normalizeColor(it.color) : '#c2c2c2',
              isMuted: it.is_muted,
              isPinned: it.pin_to_top,
              notifications: {
                desktop: it.desktop_notifications,
                audible: it.audible_notifications,
                push: it.push_notifications,
                email: it.email_notifications,
                wildcardMentions: it.wildcard_mentions_notify,
              },
            };
          }),
          topicPolicies: (topics.get(userId) ?? []).flatMap((it) => {
            const visibility = keyOfValue(VISIBILITY_NUMBERS, it.visibility_policy);
            if (!visibility || !channelIds.has(it.stream)) return [];
            return {
              realmId,
              userId,
              channelId: it.stream,
              topic: it.topic_name,
              visibility,
              changedAt: it.last_updated,
            };
          }),
          profile: (values.get(userId) ?? [])
            .filter(({ field }) => fieldIds.has(field))
            .map((it) => ({
              fieldId: it.field,
              value: it.value,
              rendered: it.rendered_value === null ? null : safeHtml(it.rendered_value, it.value),
            })),
          status: status
            ? {
                text: status.status_text,
                emoji:
                  status.emoji_name === '' || !emojiType
                    ? null
                    : { type: emojiType, code: status.emoji_code, name: status.emoji_name },
              }
            : null,
          presence:
            presence && presence.last_connected_time !== null
              ? {
                  lastActive: presence.last_active_time === null ? null : Math.floor(presence.last_active_time),
                  lastConnected: Math.floor(presence.last_connected_time),
                }
              : null,
          alertWords: (words.get(userId) ?? []).map(({ word }) => word),
          drafts: [],
          snippets: (snippets.get(userId) ?? []).map((it) => ({
            id: it.id,
            realmId,
            userId,
            title: it.title,
            content: it.content,
            createdAt: it.date_created,
          })),
          navigationViews: (views.get(userId) ?? []).map((it) => ({
            fragment: it.fragment,
            isPinned: it.is_pinned,
            name: it.name,
          })),
          onboardingSteps: (steps.get(userId) ?? []).map((it) => it.onboarding_step).filter(isOnboardingStep),
          mutedUsers: (muted.get(userId) ?? [])
            .filter((it) => userIds.has(it.muted_user))
            .map((it) => ({ userId: it.muted_user, mutedAt: it.date_muted })),
          scheduledMessages: [],
          reminders: [],
          botStorage: (storage.get(userId) ?? []).map(({ key, value }) => ({ key, value })),
        };
      });
  }

  private reactions(userIds: ReadonlySet<UserId>): ReadonlyMap<MessageId, MessageCopy['reactions']> {
    const rows = this.table('zerver_reaction', {
      user_profile: user,
      message: id<MessageId>(),
      emoji_name: NAME,
      emoji_code: NAME,
      reaction_type: NAME,
    });
    const reactions = new Map<MessageId, MessageCopy['reactions'][number][]>();
    for (const it of rows) {
      const type = keyOfValue(EMOJI_TYPE_NAMES, it.reaction_type);
      if (!type || !userIds.has(it.user_profile)) continue;
      const reaction = { userId: it.user_profile, type, code: it.emoji_code, name: it.emoji_name };
      const known = reactions.get(it.message);
      if (known) known.push(reaction);
      else reactions.set(it.message, [reaction]);
    }
    return reactions;
  }

  private submessages(userIds: ReadonlySet<UserId>): ReadonlyMap<MessageId, MessageCopy['submessages']> {
    const rows = this.table('zerver_submessage', {
      message: id<MessageId>(),
      sender: user,
      msg_type: NAME,
      content: text(),
    });
    const own = rows.filter(({ sender }) => userIds.has(sender));
    return new Map(
      [...grouped(own, (it) => it.message)].map(([message, items]) => [
        message,
        items.map(({ sender, msg_type, content }) => ({ senderId: sender, kind: msg_type, content })),
      ]),
    );
  }
}

function systemBot(
  kind: SystemBotKind,
  own: UserId,
  email: string,
  fullName: string,
  realmId: RealmId,
  settings: SettingValues<typeof USER_SETTINGS>,
): UserCopy {
  return {
    user: {
      id: own,
      realmId,
      email,
      fullName,
      role: 'member',
      isActive: true,
      isDeleted: false,
      joinedAt: 0,
      bot: { kind: 'generic', ownerId: null, isSystem: true, defaultSendingChannelId: null },
      avatar: { source: 'generated', version: 1 },
      specialPermissions: [],
      settings,
      editedSettings: [],
      version: 1,
    },
    systemKind: kind,
    botOptions: null,
  };
}

/** What the columns say, where it is a value that the setting can have; the default elsewhere. */
function settingsOf<R extends Registry>(registry: R, columns: SettingColumns, row: Row): SettingValues<R> {
  const given = columns.read(row);
  const values = Object.entries(registry).map(([name, definition]: [string, SettingDefinition]) => [
    name,
    given[name] !== undefined && isSettingValue(definition, given[name]) ? given[name] : definition.default,
  ]);
  return Object.fromEntries(values) as SettingValues<R>;
}

/** The key of an uploaded one is given when its picture is made. */
const avatarOf = (source: Avatar['source'], version: number): Avatar =>
  source === 'uploaded' ? { source, version, key: '' } : { source, version };

function grouped<T, K>(rows: readonly T[], keyOf: (row: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const known = groups.get(key);
    if (known) known.push(row);
    else groups.set(key, [row]);
  }
  return groups;
}
