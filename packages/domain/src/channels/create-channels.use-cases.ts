import { type Actor, mustNotBeGuest } from '../access/actor.js';
import {
  addAnonymousGroup,
  canonicalGroupSetting,
  defaultGroupSettings,
  type GroupSettingValue,
  groupForSetting,
  namedIn,
  validateGroupSetting,
} from '../access/group-settings.js';
import { DomainError, orThrow } from '../kernel/errors.js';
import type { Caller, ChannelFolderId, ChannelId, GroupId, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Clock, RealmUrls } from '../kernel/ports.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { slicesOf } from '../kernel/work.js';
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
  parseChannelName,
  parseRetention,
  type RetentionInput,
  type TopicsPolicy,
} from './channel.js';
import { findPrincipals } from './channel-access.js';
import { firstAudience } from './channel-delivery.js';
import { requireFolder } from './channel-folders.js';
import { CHANNEL_EVENTS_TOPIC, configuredChannel, creationNotice, type NotificationBot } from './channel-notices.js';
import {
  canCreateChannel,
  canLimitTopicCreation,
  canSetDeletePolicy,
  canSetTopicsPolicy,
} from './channel-permissions.js';
import { publishDefaultChannels } from './default-channels.js';
import { subscribeToChannels } from './subscribing.js';

/** What a new channel shall be like; whatever is left out is as everywhere. */
export interface ChannelOptions {
  readonly isPrivate: boolean;
  readonly isWebPublic: boolean;
  readonly isDefault: boolean;
  readonly folderId: ChannelFolderId | null;
  readonly topicsPolicy: TopicsPolicy;
  /** Null: not said; means nothing for channels that are not private. */
  readonly sharesHistory: boolean | null;
  readonly retention: RetentionInput;
  readonly permissions: ChannelPermissionInput;
}

/** A public channel like any other. */
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
  /** Checked by `parseChannelName`. */
  readonly name: string;
  readonly description: string;
}

/** By normalized description. */
export type ParsedDescriptions = ReadonlyMap<string, ParsedText>;

/** Who asks, where, and what the rest of the unit needs. */
export interface ChannelCreationContext {
  readonly realm: Realm;
  readonly actor: Actor;
  readonly creator: User;
  readonly now: UnixSeconds;
  /** Whether the server allows channels that anybody on the Internet reads. */
  readonly webPublicEnabled: boolean;
  readonly parsedDescriptions: ParsedDescriptions;
}

/** The steps of creating channels that creating and subscribing share (channels §4.4 and §4.5). */
export class ChannelCreator {
  static readonly inject = ['textRenderer', 'systemMessages', 'channelQuota'] as const;
  constructor(
    private readonly descriptions: TextRenderer,
    private readonly notificationBot: NotificationBot,
    private readonly quota: ChannelQuota,
  ) {}

  /** Before the unit. */
  parseDescriptions(realmId: RealmId, raw: readonly string[]): Promise<ParsedDescriptions> {
    return this.descriptions.parseAll(realmId, raw.map(normalizeChannelDescription));
  }

  /** Channels §4.4 rows 4–6: asked whether or not anything is created, as soon as a channel is named. @throws DomainError */
  async checkOptions(
    tx: Transaction,
    { actor, realm }: ChannelCreationContext,
    options: ChannelOptions,
    named: number,
  ): Promise<void> {
    if (options.folderId !== null) await requireFolder(tx, realm.id, options.folderId);
    if (named === 0) return;
    parseRetention(options.retention);
    enforce(canSetTopicsPolicy(actor, realm, options.topicsPolicy));
  }

  /** Channels §4.4 rows 7–11. @throws DomainError */
  checkCreation(context: ChannelCreationContext, options: ChannelOptions): void {
    const { isPrivate, isWebPublic, isDefault, topicsPolicy, retention } = options;
    if (isPrivate && isWebPublic) throw new DomainError('INVALID_CHANNEL_PRIVACY', 'Invalid parameters');
    const request = {
      privacy: privacyOf(options),
      isDefault,
      topicsPolicy,
      retentionChosen: parseRetention(retention) !== null,
    };
    enforce(canCreateChannel(context.actor, context.realm, request, context));
  }

  /** Channels §4.4 row 12. @throws DomainError TOPIC_CREATION_MUST_BE_OPEN */
  async checkTopicCreation(tx: Transaction, { realm }: ChannelCreationContext, options: ChannelOptions): Promise<void> {
    const { canCreateTopic } = options.permissions;
    if (canCreateTopic === undefined) return;
    const { nobody, everyone } = await tx.groups.systemGroupIds(realm.id);
    const isEveryone = canonicalGroupSetting(canCreateTopic, nobody) === everyone;
    enforce(canLimitTopicCreation(privacyOf(options), isEveryone));
  }

  /** Channels §4.4 row 13: the permissions that were chosen, each in its one spelling. @throws DomainError */
  async validatePermissions(
    tx: Transaction,
    { realm }: ChannelCreationContext,
    { permissions }: ChannelOptions,
  ): Promise<ChannelPermissionInput> {
    const wanted: Partial<Record<ChannelPermission, GroupSettingValue>> = {};
    for (const [name, value] of Object.entries(permissions) as [ChannelPermission, GroupSettingValue][]) {
      wanted[name] = await validateGroupSetting(tx, realm.id, name, CHANNEL_PERMISSIONS[name], value);
    }
    return wanted;
  }

  /** Channels §4.4 row 14, of what `validatePermissions` answered. @throws DomainError NOT_PERMITTED */
  async checkDeletePolicy(
    tx: Transaction,
    { actor, realm }: ChannelCreationContext,
    { canDeleteAnyMessage, canDeleteOwnMessage }: ChannelPermissionInput,
  ): Promise<void> {
    const { nobody } = await tx.groups.systemGroupIds(realm.id);
    for (const value of [canDeleteAnyMessage, canDeleteOwnMessage]) {
      if (value !== undefined && value !== nobody) enforce(canSetDeletePolicy(actor, realm));
    }
  }

  /**
   * Stores the channels and tells those who see them; nobody follows them yet. They count for the day.
   * @throws DomainError TOO_MANY_HOLDERS_IN_REQUEST, TOO_MANY_PERMISSION_HOLDERS, RATE_LIMITED
   */
  async create(
    tx: Transaction,
    context: ChannelCreationContext,
    newChannels: readonly NewChannel[],
    options: ChannelOptions,
    wanted: ChannelPermissionInput,
  ): Promise<Channel[]> {
    const { realm, actor, creator, now, parsedDescriptions } = context;
    checkHoldersInRequest(wanted, newChannels.length);
    this.quota.spend(actor, newChannels.length);
    tx.onRollback(() => this.quota.refund(actor, newChannels.length));
    const system = await tx.groups.systemGroupIds(realm.id);
    const channels: Channel[] = [];
    const rendered = new Map<string, string>();
    for (const { name, description: raw } of newChannels) {
      const description = normalizeChannelDescription(raw);
      // Mostly they all have the same, which is none.
      const html =
        rendered.get(description) ??
        (await this.descriptions.render(tx, actor.realmId, actor, parsedDescriptions.get(description)!));
      rendered.set(description, html);
      const defaults = await defaultGroupSettings(CHANNEL_PERMISSIONS, system, () =>
        wanted.canAdministerChannel === undefined
          ? addAnonymousGroup(tx, realm.id, [creator.id], [])
          : Promise.resolve(system.nobody),
      );
      const permissions: Record<ChannelPermission, GroupId> = { ...defaults };
      for (const [permission, value] of Object.entries(wanted) as [ChannelPermission, GroupSettingValue][]) {
        permissions[permission] = await groupForSetting(tx, realm.id, value);
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
      channels.push(channel);
      await tx.yield();
    }
    await publishCreation(tx, realm.id, channels);
    if (options.isDefault && channels.length > 0) await publishDefaultChannels(tx, realm.id);
    return channels;
  }

  /** What the notification bot says once the channels have their first subscribers (channels §4.4). */
  async announce(
    tx: Transaction,
    { realm, actor, creator, parsedDescriptions }: ChannelCreationContext,
    channels: readonly Channel[],
    inAnnouncements: boolean,
  ): Promise<void> {
    const who = silentMention(creator);
    // The creator chose the names and the description: neither links to what they cannot see.
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

/** How many people and groups permissions of channels that are created together name at most: each times the channels. */
export const MAX_HOLDERS_IN_REQUEST = 100_000;

/** One channel may name as many as its lists hold. @throws DomainError TOO_MANY_HOLDERS_IN_REQUEST */
function checkHoldersInRequest(permissions: ChannelPermissionInput, channelCount: number): void {
  const named = Object.values(permissions)
    .filter((value) => typeof value !== 'number')
    .map(namedIn)
    .reduce((sum, { userIds, groupIds }) => sum + userIds.length + groupIds.length, 0);
  if (channelCount <= 1 || named * channelCount <= MAX_HOLDERS_IN_REQUEST) return;
  throw new DomainError(
    'TOO_MANY_HOLDERS_IN_REQUEST',
    `Too many people in the permissions of new channels: times channels they may be ${MAX_HOLDERS_IN_REQUEST} at most.`,
  );
}

const aheadOf = (description: ParsedText | undefined) =>
  description?.parsed ? { ahead: orThrow(description.parsed) } : {};

const CHANNELS_AT_A_TIME = 100;

async function publishCreation(tx: Transaction, realmId: RealmId, channels: readonly Channel[]): Promise<void> {
  for (const some of slicesOf(channels, CHANNELS_AT_A_TIME)) {
    const views = await tx.channels.listViews(
      realmId,
      some.map(({ id }) => id),
    );
    const byId = new Map(views.map((view) => [view.id, view]));
    for (const channel of some) {
      await tx.events.append(realmId, {
        event: { type: 'channel.created', channels: [byId.get(channel.id)!] },
        audience: firstAudience(channel),
      });
      await tx.yield();
    }
  }
}

export type ChannelPermissionInput = Partial<Readonly<Record<ChannelPermission, GroupSettingValue>>>;

/** Only a private channel may keep its history from newcomers, and does so by default. */
function privacyOf({ isPrivate: wantsPrivate, isWebPublic, sharesHistory }: ChannelOptions): ChannelPrivacy {
  if (wantsPrivate) return sharesHistory ? 'privateSharedHistory' : 'privateProtectedHistory';
  return isWebPublic ? 'webPublic' : 'public';
}

export interface CreateChannelInput extends NewChannel, ChannelOptions {
  /** The creator subscribes to the channel only when they are among them. */
  readonly subscriberIds: readonly UserId[];
  /** Say so in the channel for announcements. */
  readonly announce: boolean;
}

/** What the operator decides about channels. */
export interface ServerChannelConfig {
  readonly webPublicEnabled: boolean;
  /** An address with `%s` in it, for a token; null: there is no gateway that takes mail for channels. */
  readonly mailGatewayPattern: string | null;
}

/** Creates a channel with its first subscribers (channels §4.4). */
export class CreateChannel {
  static readonly inject = ['unitOfWork', ChannelCreator, 'clock', 'realmUrls', 'serverChannelConfig'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly channelCreator: ChannelCreator,
    private readonly clock: Clock,
    private readonly realmUrls: RealmUrls,
    private readonly options: Pick<ServerChannelConfig, 'webPublicEnabled'>,
  ) {}

  /**
   * @throws DomainError INVALID_CHANNEL_NAME, CHANNEL_NAME_TAKEN, UNKNOWN_USER, NAMED_USER_DEACTIVATED, NOT_PERMITTED, and
   * what `ChannelCreator` refuses: MUST_NOT_BE_GUEST, INVALID_CHANNEL_PRIVACY, UNKNOWN_CHANNEL_FOLDER,
   * DEFAULT_CHANNEL_MUST_BE_PUBLIC, WEB_PUBLIC_CHANNELS_DISABLED, INVALID_RETENTION, MUST_BE_OWNER,
   * TOPIC_CREATION_MUST_BE_OPEN, RATE_LIMITED, and values of permissions as `validateGroupSetting` does
   */
  async execute(caller: Caller, input: CreateChannelInput): Promise<ChannelId> {
    const parsedDescriptions = await this.channelCreator.parseDescriptions(caller.realmId, [input.description]);
    return this.uow.write(async (tx) => {
      const actor = await tx.actors.get(caller);
      enforce(mustNotBeGuest(actor));
      const name = parseChannelName(input.name);
      if (await tx.channels.findByName(caller.realmId, name)) throw channelNameTaken(name);
      const realm = await tx.realms.get(caller.realmId);
      const creator = (await tx.users.find(caller.realmId, caller.userId))!;
      const context = { realm, actor, creator, now: this.clock.now(), parsedDescriptions, ...this.options };
      await this.channelCreator.checkOptions(tx, context, input, 1);
      this.channelCreator.checkCreation(context, input);
      await this.channelCreator.checkTopicCreation(tx, context, input);
      const wanted = await this.channelCreator.validatePermissions(tx, context, input);
      await this.channelCreator.checkDeletePolicy(tx, context, wanted);
      const principals = await findPrincipals(tx, actor, realm, input.subscriberIds, this.realmUrls);

      const channels = await this.channelCreator.create(
        tx,
        context,
        [{ name, description: input.description }],
        input,
        wanted,
      );
      const userIds = principals.map((user) => user.id);
      await subscribeToChannels(tx, { channels, userIds, requestedColors: new Map() });
      await this.channelCreator.announce(tx, context, channels, input.announce);
      return channels[0]!.id;
    });
  }
}

export function channelNameTaken(name: string): DomainError {
  return new DomainError('CHANNEL_NAME_TAKEN', `Channel '${name}' already exists`, { channelName: name });
}
