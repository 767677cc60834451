import { type Actor, mustBeHuman, mustNotBeGuest } from '../access/actor.js';
import type { ApiKeyMint } from '../access/credentials.js';
import type { Role } from '../access/roles.js';
import { getReadableChannel } from '../channels/channel-access.js';
import { PictureMaker } from '../files/pictures.js';
import { DomainError, orThrow } from '../kernel/errors.js';
import type { Caller, ChannelId, UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Clock, Randomness, RealmUrls } from '../kernel/ports.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { getOrThrow } from '../kernel/work.js';
import { issueKeyOf, replaceApiKey } from '../push/push-jobs.js';
import type { Realm } from '../realms/realm.js';
import { type ChangedAvatar, giveAvatar, nameAvatar } from '../users/avatars.js';
import { changeEmail, rename } from '../users/change-email.js';
import { type BotKind, parseFullName, type User } from '../users/user.js';
import { canAdministerBot, canChangeRole, canCreateBot, isOnlyOwnerOf } from '../users/user-permissions.js';
import { deactivate } from './activation.js';
import { addUser } from './add-user.js';
import {
  type AvatarUpload,
  type BotOptions,
  botAudience,
  botEmail,
  getAdministeredBot,
  giveOwner,
  type MadeAvatar,
  makeBotAvatar,
  publishOptions,
  requireOneAvatar,
  requireRoomForBot,
  requireUnusedEmail,
  requireUnusedName,
  type ViewedBot,
  viewBot,
  viewBots,
  viewForReceivers,
  type WebhookInterface,
} from './bots.js';
import { changeRole } from './roles.js';

export interface OwnBots {
  readonly realm: Realm;
  /** Ordered by join date. */
  readonly bots: readonly KeyedBot[];
}

/** Lists the caller's active bots with their keys, except bots that the caller may not administer (users §15). */
export class ListOwnBots {
  static readonly inject = ['unitOfWork', 'apiKeyMint', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly mint: ApiKeyMint,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError MUST_NOT_BE_GUEST */
  async execute(caller: Caller): Promise<OwnBots> {
    const { uow, mint, clock } = this;
    const { realm, found } = await uow.read(caller.realmId, async (repositories) => {
      const actor = await repositories.actors.get(caller);
      enforce(mustNotBeGuest(actor));
      const { realmId } = actor;
      const ids = await repositories.bots.listOwnedIds(realmId, actor.id);
      const owned = await repositories.users.list(realmId, ids);
      // The response contains API keys.
      const users = owned.filter((bot) => bot.isActive && canAdministerBot(actor, bot).allowed);
      const found = [];
      for (const bot of await viewBots(repositories, realmId, actor, users)) {
        found.push({ bot, record: await repositories.apiKeys.find(realmId, bot.user.id) });
      }
      return { realm: await repositories.realms.get(realmId), found };
    });
    const bots: KeyedBot[] = [];
    for (const { bot, record } of found) {
      const newKey = () => uow.write(bot.user.realmId, (tx) => replaceApiKey(tx, mint, bot.user, { now: clock.now() }));
      bots.push({ ...bot, apiKey: record ? mint.derive(record) : await newKey() });
    }
    return { realm, bots };
  }
}

export interface CreateBotInput {
  readonly fullName: string;
  /** Prefix of the email address, before `-bot@`. */
  readonly shortName: string;
  /** `unknown` stands for an unsupported value. */
  readonly kind: BotKind | 'unknown';
  /** Used by outgoing webhooks; empty if not set yet. */
  readonly webhookUrl: string;
  readonly webhookInterface: WebhookInterface | 'unknown';
  /** Channel names; null if none. */
  readonly sendingChannel: string | null;
  readonly eventsChannel: string | null;
  readonly allPublicChannels: boolean;
  readonly avatar: AvatarUpload;
}

/** Bot with its API key. */
export interface KeyedBot extends ViewedBot {
  readonly apiKey: string;
}

export interface CreatedBot extends KeyedBot {
  readonly realm: Realm;
}

/** Creates a bot owned by the caller (users §15). */
export class CreateBot {
  static readonly inject = ['unitOfWork', 'apiKeyMint', 'realmUrls', 'clock', 'randomness', PictureMaker] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly mint: ApiKeyMint,
    private readonly realmUrls: RealmUrls,
    private readonly clock: Clock,
    private readonly randomness: Randomness,
    private readonly pictures: PictureMaker,
  ) {}

  /**
   * @throws DomainError MUST_NOT_BE_GUEST, MUST_NOT_BE_BOT, INVALID_EMAIL, INVALID_USER_NAME, EMBEDDED_BOTS_DISABLED,
   * EMAIL_TAKEN, BOT_NAME_TAKEN, USER_NAME_TAKEN, NOT_PERMITTED, INVALID_BOT_KIND, INVALID_WEBHOOK_INTERFACE, UNKNOWN_CHANNEL,
   * TOO_MANY_BOTS, ONE_IMAGE_REQUIRED, IMAGE_FILE_TOO_LARGE, UNREADABLE_IMAGE, IMAGE_TOO_LARGE, SERVER_BUSY
   */
  execute(caller: Caller, input: CreateBotInput): Promise<CreatedBot> {
    return makeBotAvatar(this.pictures, caller, input.avatar, (avatar) => this.create(caller, input, avatar));
  }

  private create(caller: Caller, input: CreateBotInput, madeAvatar: MadeAvatar): Promise<CreatedBot> {
    return this.uow.write(caller.realmId, async (tx) => {
      const actor = await tx.actors.get(caller);
      enforce(mustNotBeGuest(actor));
      enforce(mustBeHuman(actor));
      const realm = await tx.realms.get(actor.realmId);
      const email = botEmail(realm, this.realmUrls, input.shortName);
      const fullName = parseFullName(input.fullName);
      if (input.kind === 'embedded') throw new DomainError('EMBEDDED_BOTS_DISABLED', 'Embedded bots are not enabled.');
      await requireUnusedEmail(tx, realm, email, null);
      await requireUnusedName(tx, realm.id, fullName);
      const kind = input.kind === 'unknown' ? null : input.kind;
      enforce(canCreateBot(actor, realm, kind ?? 'generic'));
      if (!kind) throw new DomainError('INVALID_BOT_KIND', 'Invalid bot type');
      const { sendingChannelId, ...options } = await this.optionsFrom(tx, actor, input);
      const pictures = orThrow(madeAvatar);
      await requireRoomForBot(tx, realm.id, actor.id);
      const bot = { kind, ownerId: actor.id, isSystem: false, defaultSendingChannelId: sendingChannelId };
      const avatar = pictures && (await nameAvatar(tx, realm.id, pictures, 1));
      const person = { email, fullName, role: 'member', passwordHash: null, bot, avatar } as const;
      const user = await addUser(tx, realm, person, { now: this.clock.now(), mint: this.mint });
      await tx.bots.putOptions(realm.id, user.id, options);
      const view = await viewBot(tx, actor, user);
      await tx.events.append(realm.id, {
        event: { type: 'bot.added', bot: view },
        audience: await botAudience(tx, user, options.eventsChannelId),
      });
      const record = (await tx.apiKeys.find(realm.id, user.id))!;
      return { realm, user, view, apiKey: this.mint.derive(record) };
    });
  }

  private async optionsFrom(
    tx: Transaction,
    actor: Actor,
    input: CreateBotInput,
  ): Promise<BotOptions & { readonly sendingChannelId: number | null }> {
    if (input.webhookInterface === 'unknown') {
      throw new DomainError('INVALID_WEBHOOK_INTERFACE', 'Invalid interface type');
    }
    requireOneAvatar(input.avatar);
    const channelIdOf = async (name: string | null) =>
      name === null ? null : (await getReadableChannel(tx, actor, name)).id;
    const sendingChannelId = await channelIdOf(input.sendingChannel);
    return {
      sendingChannelId,
      eventsChannelId: await channelIdOf(input.eventsChannel),
      allPublicChannels: input.allPublicChannels,
      webhook:
        input.kind === 'outgoingWebhook'
          ? { url: input.webhookUrl, interface: input.webhookInterface, token: this.newToken() }
          : null,
    };
  }

  /** 32 hex digits, 30 of them random. */
  private newToken(): string {
    return this.randomness.uuid().replaceAll('-', '');
  }
}

/** Absent properties stay unchanged. */
export interface UpdateBotInput {
  readonly botId: UserId;
  readonly fullName?: string;
  readonly shortName?: string;
  readonly role?: Role;
  readonly ownerId?: UserId;
  /** Applies to outgoing webhooks; ignored for other bots. */
  readonly webhookUrl?: string;
  readonly webhookInterface?: WebhookInterface | 'unknown';
  /** Channel names; empty for none. */
  readonly sendingChannel?: string;
  readonly eventsChannel?: string;
  readonly allPublicChannels?: boolean;
  readonly avatar: AvatarUpload;
}

export interface UpdatedBot extends ViewedBot {
  readonly realm: Realm;
  /** Null if the bot has no owner. */
  readonly owner: User | null;
}

/** Changes a bot on behalf of its owner or an administrator (users §15). */
export class UpdateBot {
  static readonly inject = ['unitOfWork', 'realmUrls', 'clock', PictureMaker] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly realmUrls: RealmUrls,
    private readonly clock: Clock,
    private readonly pictures: PictureMaker,
  ) {}

  /**
   * Atomic.
   * @throws DomainError UNKNOWN_BOT, NOT_PERMITTED, MUST_BE_OWNER, INVALID_USER_NAME, BOT_NAME_TAKEN, INVALID_EMAIL,
   * EMAIL_TAKEN, MUST_BE_ADMINISTRATOR, LAST_OWNER, GUEST_CANNOT_ADMINISTER, UNKNOWN_USER, NAMED_USER_DEACTIVATED,
   * BOT_CANNOT_OWN_BOTS, TOO_MANY_BOTS, INVALID_WEBHOOK_INTERFACE, UNKNOWN_CHANNEL, ONE_IMAGE_REQUIRED,
   * IMAGE_FILE_TOO_LARGE, UNREADABLE_IMAGE, IMAGE_TOO_LARGE, SERVER_BUSY
   */
  async execute(caller: Caller, input: UpdateBotInput): Promise<UpdatedBot> {
    const { replaced, ...bot } = await makeBotAvatar(this.pictures, caller, input.avatar, (avatar) =>
      this.update(caller, input, avatar),
    );
    await this.pictures.discard(replaced);
    return bot;
  }

  private update(
    caller: Caller,
    input: UpdateBotInput,
    madeAvatar: MadeAvatar,
  ): Promise<UpdatedBot & Pick<ChangedAvatar, 'replaced'>> {
    return this.uow.write(caller.realmId, async (tx) => {
      const actor = await tx.actors.get(caller);
      const realm = await tx.realms.get(actor.realmId);
      let bot = await getAdministeredBot(tx, actor, input.botId);
      if (input.fullName !== undefined) bot = await giveName(tx, bot, input.fullName);
      if (input.shortName !== undefined) bot = await this.giveShortName(tx, realm, bot, input.shortName);
      if (input.role !== undefined) bot = await this.giveRole(tx, actor, realm, bot, input.role);
      if (input.ownerId !== undefined) bot = await giveOwner(tx, bot, input.ownerId);
      bot = await changeOptions(tx, actor, bot, input);
      requireOneAvatar(input.avatar);
      const pictures = orThrow(madeAvatar);
      const { user, replaced } = pictures ? await giveAvatar(tx, bot, pictures) : { user: bot, replaced: [] };
      const { ownerId } = bot.bot!;
      const owner = ownerId === null ? null : await tx.users.find(realm.id, ownerId);
      return { realm, user, view: await viewBot(tx, actor, user), owner, replaced };
    });
  }

  private async giveShortName(tx: Transaction, realm: Realm, bot: User, shortName: string): Promise<User> {
    const email = botEmail(realm, this.realmUrls, shortName);
    await requireUnusedEmail(tx, realm, email, bot.id);
    return email === bot.email ? bot : changeEmail(tx, bot, email);
  }

  private async giveRole(tx: Transaction, actor: Actor, realm: Realm, bot: User, role: Role): Promise<User> {
    if (role === bot.role) return bot;
    const isOnlyOwner = bot.role === 'owner' && (await isOnlyOwnerOf(tx, realm.id, bot.id));
    enforce(canChangeRole(actor, bot, role, isOnlyOwner));
    return changeRole(tx, realm, bot, role, this.clock.now());
  }
}

async function giveName(tx: Transaction, bot: User, raw: string): Promise<User> {
  const fullName = parseFullName(raw);
  if (fullName === bot.fullName) return bot;
  await requireUnusedName(tx, bot.realmId, fullName);
  return rename(tx, bot, fullName);
}

async function changeOptions(tx: Transaction, actor: Actor, before: User, input: UpdateBotInput): Promise<User> {
  const { realmId, id } = before;
  const viewsBefore = await viewForReceivers(tx, before);
  const options = getOrThrow(await tx.bots.listOptions(realmId, [id]), id);
  const channelIdOf = async <C>(name: string | undefined, present: C): Promise<ChannelId | C | null> => {
    if (name === undefined) return present;
    return name === '' ? null : (await getReadableChannel(tx, actor, name)).id;
  };
  if (input.webhookInterface === 'unknown') {
    throw new DomainError('INVALID_WEBHOOK_INTERFACE', 'Invalid interface type');
  }
  const sendingChannelId = await channelIdOf(input.sendingChannel, before.bot!.defaultSendingChannelId);
  const changed: BotOptions = {
    eventsChannelId: await channelIdOf(input.eventsChannel, options.eventsChannelId),
    allPublicChannels: input.allPublicChannels ?? options.allPublicChannels,
    webhook: options.webhook && {
      ...options.webhook,
      url: input.webhookUrl ?? options.webhook.url,
      interface: input.webhookInterface ?? options.webhook.interface,
    },
  };
  const present = [before.bot!.defaultSendingChannelId, options];
  if (JSON.stringify([sendingChannelId, changed]) === JSON.stringify(present)) return before;
  await tx.bots.putOptions(realmId, id, changed);
  const bot =
    sendingChannelId === before.bot!.defaultSendingChannelId
      ? before
      : await tx.users.update({ ...before, bot: { ...before.bot!, defaultSendingChannelId: sendingChannelId } });
  await publishOptions(tx, bot, changed.eventsChannelId, viewsBefore);
  return bot;
}

/** Deactivates a bot, which can no longer authenticate (users §15). */
export class DeactivateBot {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** Idempotent. @throws DomainError UNKNOWN_BOT, NOT_PERMITTED, MUST_BE_OWNER */
  execute(caller: Caller, { botId }: { readonly botId: UserId }): Promise<void> {
    return this.uow.write(caller.realmId, async (tx) => {
      const actor = await tx.actors.get(caller);
      const bot = await getAdministeredBot(tx, actor, botId);
      if (bot.isActive) await deactivate(tx, bot);
    });
  }
}

/** Returns a bot's key to its owner or an administrator (users §15). */
export class GetBotApiKey {
  static readonly inject = ['unitOfWork', 'apiKeyMint', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly mint: ApiKeyMint,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError UNKNOWN_BOT, NOT_PERMITTED, MUST_BE_OWNER */
  execute(caller: Caller, { botId }: { readonly botId: UserId }): Promise<string> {
    const { uow, mint, clock } = this;
    return issueKeyOf(
      { uow, mint, clock },
      caller.realmId,
      async (repositories) => getAdministeredBot(repositories, await repositories.actors.get(caller), botId),
      { rotates: false },
    );
  }
}

/** Issues a new API key for a bot (users §15). */
export class RegenerateBotApiKey {
  static readonly inject = ['unitOfWork', 'apiKeyMint', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly mint: ApiKeyMint,
    private readonly clock: Clock,
  ) {}

  /** Returns the new key. @throws DomainError UNKNOWN_BOT, NOT_PERMITTED, MUST_BE_OWNER */
  execute(caller: Caller, { botId }: { readonly botId: UserId }): Promise<string> {
    return this.uow.write(caller.realmId, async (tx) => {
      const actor = await tx.actors.get(caller);
      const bot = await getAdministeredBot(tx, actor, botId);
      return replaceApiKey(tx, this.mint, bot, { now: this.clock.now() });
    });
  }
}

/**
 * Issues a new API key for the calling user or bot, and signs out holders of the old key, including older apps (users
 * §15).
 */
export class RegenerateApiKey {
  static readonly inject = ['unitOfWork', 'apiKeyMint', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly mint: ApiKeyMint,
    private readonly clock: Clock,
  ) {}

  /** Returns the new key. */
  execute(caller: Caller): Promise<string> {
    return this.uow.write(caller.realmId, async (tx) => {
      const actor = await tx.actors.get(caller);
      return replaceApiKey(tx, this.mint, actor, { now: this.clock.now(), except: caller.sessionId });
    });
  }
}
