import type { Actor } from '../access/actor.js';
import {
  canonicalGroupSetting,
  checkHoldersInRequest,
  defaultGroupSettings,
  type GroupSettingValue,
  groupOfOne,
  requireRoomForValues,
  storeGroupSetting,
  validateGroupSetting,
} from '../access/group-settings.js';
import { DomainError, orThrow } from '../kernel/errors.js';
import type { ChannelFolderId, GroupId, RealmId, UnixSeconds } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import { getOrThrow } from '../kernel/work.js';
import { channelLink, type ParsedText, silentMention, type TextRenderer } from '../markdown/markdown.js';
import type { Realm } from '../realms/realm.js';
import type { User } from '../users/user.js';
import {
  CHANNEL_PERMISSIONS,
  type Channel,
  type ChannelPermission,
  type ChannelPrivacy,
  type ChannelQuota,
  normalizeChannelDescription,
  parseRetention,
  type RetentionInput,
  type TopicsPolicy,
} from './channel.js';
import { firstAudience } from './channel-delivery.js';
import { requireFolder } from './channel-folders.js';
import { CHANNEL_EVENTS_TOPIC, configuredChannel, creationNotice, type NotificationBot } from './channel-notices.js';
import {
  canCreateChannel,
  canLimitTopicCreation,
  canSetDeletePolicy,
  canSetTopicsPolicy,
} from './channel-permissions.js';
import { addClosing } from './closing.js';
import { publishDefaultChannels } from './default-channels.js';

/** Options of a new channel; absent options have defaults. */
export interface ChannelOptions {
  readonly isPrivate: boolean;
  readonly isWebPublic: boolean;
  readonly isDefault: boolean;
  readonly folderId: ChannelFolderId | null;
  readonly topicsPolicy: TopicsPolicy;
  /** Null if not specified; ignored for public channels. */
  readonly sharesHistory: boolean | null;
  readonly retention: RetentionInput;
  readonly permissions: ChannelPermissionInput;
  /** Days without messages after which the channel is closed; never if absent. */
  readonly closesAfterDays?: number;
}

/** Options of an ordinary public channel. */
export const DEFAULT_CHANNEL_OPTIONS: ChannelOptions = {
  isPrivate: false,
  isWebPublic: false,
  isDefault: false,
  folderId: null,
  topicsPolicy: 'inherit',
  sharesHistory: null,
  retention: 'asRealm',
  permissions: {},
};

export interface NewChannel {
  /** Validated by `parseChannelName`. */
  readonly name: string;
  readonly description: string;
}

/** Parsed texts by normalized description. */
export type ParsedDescriptions = ReadonlyMap<string, ParsedText>;

/** Acting user, organization and data that the rest of the transaction needs. */
export interface ChannelCreationContext {
  readonly realm: Realm;
  readonly actor: Actor;
  readonly creator: User;
  readonly now: UnixSeconds;
  readonly parsedDescriptions: ParsedDescriptions;
}

type CreationReads = Pick<Repositories | Transaction, 'channelFolders' | 'groups' | 'users'>;

/** Acting user and organization of a permission check. */
type CreationChecks = Pick<ChannelCreationContext, 'realm' | 'actor'>;

/** Steps of channel creation shared by CreateChannel and SubscribeUsers (channels §4.4 and §4.5). */
export class ChannelCreator {
  static readonly inject = ['textRenderer', 'systemMessages', 'channelQuota', 'serverChannelConfig'] as const;
  constructor(
    private readonly descriptions: TextRenderer,
    readonly notificationBot: NotificationBot,
    private readonly quota: ChannelQuota,
    private readonly config: Pick<ServerChannelConfig, 'webPublicEnabled'>,
  ) {}

  /** Parses the descriptions before the transaction, and loads the number of channels that the limit leaves. */
  async parseDescriptions(realmId: RealmId, raw: readonly string[]): Promise<ParsedDescriptions> {
    await this.quota.refresh();
    return this.descriptions.parseAll(realmId, raw.map(normalizeChannelDescription));
  }

  /** Implements channels §4.4 rows 4–6, even if all named channels exist already. @throws DomainError */
  async checkOptions(
    tx: CreationReads,
    { actor, realm }: CreationChecks,
    options: ChannelOptions,
    named: number,
  ): Promise<void> {
    if (options.folderId !== null) await requireFolder(tx, realm.id, options.folderId);
    if (named === 0) return;
    parseRetention(options.retention);
    enforce(canSetTopicsPolicy(actor, realm, options.topicsPolicy));
  }

  /** Implements channels §4.4 rows 7–11. @throws DomainError */
  checkCreation({ actor, realm }: CreationChecks, options: ChannelOptions): void {
    const { isPrivate, isWebPublic, isDefault, topicsPolicy, retention } = options;
    if (isPrivate && isWebPublic) throw new DomainError('INVALID_CHANNEL_PRIVACY', 'Invalid parameters');
    const request = {
      privacy: privacyOf(options),
      isDefault,
      topicsPolicy,
      retentionChosen: parseRetention(retention) !== null,
    };
    enforce(canCreateChannel(actor, realm, request, this.config));
  }

  /** Implements channels §4.4 row 12. @throws DomainError TOPIC_CREATION_MUST_BE_OPEN */
  async checkTopicCreation(tx: CreationReads, { realm }: CreationChecks, options: ChannelOptions): Promise<void> {
    const { canCreateTopic } = options.permissions;
    if (canCreateTopic === undefined) return;
    const { nobody, everyone } = await tx.groups.systemGroupIds(realm.id);
    const isEveryone = canonicalGroupSetting(canCreateTopic, nobody) === everyone;
    enforce(canLimitTopicCreation(privacyOf(options), isEveryone));
  }

  /** Returns the chosen permissions in canonical form (channels §4.4 row 13). @throws DomainError */
  async validatePermissions(
    tx: CreationReads,
    { realm }: CreationChecks,
    { permissions }: ChannelOptions,
  ): Promise<ChannelPermissionInput> {
    const wanted: Partial<Record<ChannelPermission, GroupSettingValue>> = {};
    for (const [name, value] of Object.entries(permissions) as [ChannelPermission, GroupSettingValue][]) {
      wanted[name] = await validateGroupSetting(tx, realm.id, name, CHANNEL_PERMISSIONS[name], value);
    }
    return wanted;
  }

  /** Checks the result of `validatePermissions` against channels §4.4 row 14. @throws DomainError NOT_PERMITTED */
  async checkDeletePolicy(
    tx: CreationReads,
    { actor, realm }: CreationChecks,
    { canDeleteAnyMessage, canDeleteOwnMessage }: ChannelPermissionInput,
  ): Promise<void> {
    const { nobody } = await tx.groups.systemGroupIds(realm.id);
    for (const value of [canDeleteAnyMessage, canDeleteOwnMessage]) {
      if (value !== undefined && value !== nobody) enforce(canSetDeletePolicy(actor, realm));
    }
  }

  /**
   * Counts the channels that a request will create. @throws DomainError TOO_MANY_HOLDERS_IN_REQUEST,
   * TOO_MANY_PERMISSION_HOLDERS, RATE_LIMITED
   */
  async reserve(tx: Transaction, actor: Actor, count: number, wanted: ChannelPermissionInput): Promise<void> {
    const values = Object.values(wanted);
    checkHoldersInRequest(values, count);
    await requireRoomForValues(tx, actor.realmId, values, count);
    this.quota.spend(actor, count);
    tx.onRollback(() => this.quota.refund(actor, count));
  }

  /** Stores and publishes channels already counted by `reserve`, without subscribers yet. */
  async add(
    tx: Transaction,
    context: ChannelCreationContext,
    newChannels: readonly NewChannel[],
    options: ChannelOptions,
    wanted: ChannelPermissionInput,
  ): Promise<Channel[]> {
    const { realm, actor, creator, now, parsedDescriptions } = context;
    const system = await tx.groups.systemGroupIds(realm.id);
    const channels: Channel[] = [];
    const rendered = new Map<string, string>();
    for (const { name, description: raw } of newChannels) {
      const description = normalizeChannelDescription(raw);
      // Most channels of a request share one description, usually the empty one.
      const html =
        rendered.get(description) ??
        (await this.descriptions.render(tx, actor.realmId, actor, getOrThrow(parsedDescriptions, description)));
      rendered.set(description, html);
      const defaults = await defaultGroupSettings(CHANNEL_PERMISSIONS, system, () =>
        wanted.canAdministerChannel === undefined
          ? groupOfOne(tx, realm.id, creator.id)
          : Promise.resolve(system.nobody),
      );
      const permissions: Record<ChannelPermission, GroupId> = { ...defaults };
      for (const [permission, value] of Object.entries(wanted) as [ChannelPermission, GroupSettingValue][]) {
        permissions[permission] = await storeGroupSetting(tx, realm.id, value);
      }
      const channel = await tx.channels.add({
        realmId: realm.id,
        name,
        description,
        renderedDescription: html,
        privacy: privacyOf(options),
        isArchived: false,
        creatorId: creator.id,
        createdAt: now,
        messageRetentionDays: parseRetention(options.retention),
        topicsPolicy: options.topicsPolicy,
        folderId: options.folderId,
        isDefault: options.isDefault,
        isRecentlyActive: true,
        firstMessageId: null,
        permissions,
      });
      if (options.closesAfterDays !== undefined) await addClosing(tx, channel, options.closesAfterDays, now);
      channels.push(channel);
    }
    await publishCreation(tx, realm.id, channels);
    if (options.isDefault && channels.length > 0) await publishDefaultChannels(tx, realm.id);
    return channels;
  }

  /** Posts the notices about new channels once these have their first subscribers (channels §4.4). */
  async announce(
    tx: Transaction,
    { realm, actor, creator, parsedDescriptions }: ChannelCreationContext,
    channels: readonly Channel[],
    inAnnouncements: boolean,
  ): Promise<void> {
    const who = silentMention(creator);
    // The creator chose the names and descriptions, so links are limited to channels the creator can see.
    const author = { actor, about: channels };
    const announcementsChannel = inAnnouncements
      ? await configuredChannel(tx, realm, realm.settings.newChannelAnnouncementsChannelId)
      : null;
    if (announcementsChannel && channels.length > 0) {
      const links = channels.map(channelLink).join(', ');
      const what = channels.length === 1 ? `a new channel ${links}` : `the following channels: ${links}`;
      await this.notificationBot.sendToChannel(tx, realm, {
        channel: announcementsChannel,
        topic: 'new channels',
        content: `${who} created ${what}.`,
        author,
        readFor: [creator.id],
      });
    }
    if (!realm.settings.sendChannelEventsMessages) return;
    await this.notificationBot.postAll(
      tx,
      realm,
      author,
      channels.map((channel) => ({
        channel,
        topic: CHANNEL_EVENTS_TOPIC,
        content: creationNotice(creator, channel.privacy, channel.description),
        readFor: [creator.id],
        ...aheadOf(parsedDescriptions.get(channel.description)),
      })),
    );
  }
}

const aheadOf = (description: ParsedText | undefined) =>
  description?.parsed ? { ahead: orThrow(description.parsed) } : {};

async function publishCreation(tx: Transaction, realmId: RealmId, channels: readonly Channel[]): Promise<void> {
  const views = await tx.channels.listViews(
    realmId,
    channels.map(({ id }) => id),
  );
  const byId = new Map(views.map((view) => [view.id, view]));
  for (const channel of channels) {
    await tx.events.append(realmId, {
      event: { type: 'channel.created', channels: [getOrThrow(byId, channel.id)] },
      audience: firstAudience(channel),
    });
  }
}

export type ChannelPermissionInput = Partial<Readonly<Record<ChannelPermission, GroupSettingValue>>>;

/** Only private channels can protect their history, and do so by default. */
function privacyOf({ isPrivate: wantsPrivate, isWebPublic, sharesHistory }: ChannelOptions): ChannelPrivacy {
  if (wantsPrivate) return sharesHistory ? 'privateSharedHistory' : 'privateProtectedHistory';
  return isWebPublic ? 'webPublic' : 'public';
}

/** Operator's channel options. */
export interface ServerChannelConfig {
  readonly webPublicEnabled: boolean;
  /** Address pattern with `%s` for a token; null if the server has no mail gateway for channels. */
  readonly mailGatewayPattern: string | null;
}

export function channelNameTaken(name: string): DomainError {
  return new DomainError('CHANNEL_NAME_TAKEN', `Channel '${name}' already exists`, { channelName: name });
}
