import type { Actor } from '../../access/actor.js';
import type { Role } from '../../access/role.js';
import { getReadableChannel } from '../../channels/find-readable-channel.js';
import { PictureMaker } from '../../files/picture-maker.js';
import type { Caller } from '../../kernel/caller.js';
import type { Clock } from '../../kernel/clock.js';
import { DomainError, orThrow } from '../../kernel/errors.js';
import type { ChannelId, UserId } from '../../kernel/ids.js';
import { enforce } from '../../kernel/permission.js';
import type { RealmUrls } from '../../kernel/realm-urls.js';
import type { Transaction, UnitOfWork } from '../../kernel/unit-of-work.js';
import type { Realm } from '../../realms/realm.js';
import { type ChangedAvatar, giveAvatar } from '../../users/change-avatar.js';
import { changeEmail } from '../../users/change-email.js';
import { rename } from '../../users/change-name.js';
import { isOnlyOwnerOf } from '../../users/owners.js';
import type { User } from '../../users/user.js';
import { parseFullName } from '../../users/user-name.js';
import { canChangeRole } from '../../users/user-permissions.js';
import { type GivenAvatar, type MadeAvatar, makeBotAvatar, requireOneAvatar } from '../bot-avatar.js';
import { type BotChange, botAudience } from '../bot-events.js';
import { botEmail, requireUnusedEmail, requireUnusedName } from '../bot-names.js';
import type { BotOptions, WebhookInterface } from '../bot-options.js';
import { type ViewedBot, viewBot } from '../bot-view.js';
import { changeRole } from '../change-role.js';
import { getAdministeredBot } from '../get-administered-bot.js';
import { giveOwner } from '../give-owner.js';

/** What is absent stays as it is. */
export interface UpdateBotInput {
  readonly botId: UserId;
  readonly fullName?: string;
  readonly shortName?: string;
  readonly role?: Role;
  readonly ownerId?: UserId;
  /** Of an outgoing webhook; of others without effect. */
  readonly webhookUrl?: string;
  readonly webhookInterface?: WebhookInterface | 'unknown';
  /** Names; empty: none. */
  readonly sendingChannel?: string;
  readonly eventsChannel?: string;
  readonly allPublicChannels?: boolean;
  readonly avatar: GivenAvatar;
}

export interface UpdatedBot extends ViewedBot {
  readonly realm: Realm;
  /** Null: nobody's. */
  readonly owner: User | null;
}

/** Changes a bot: for its owner, and for administrators (users §15). */
export class UpdateBot {
  static readonly inject = ['unitOfWork', 'realmUrls', 'clock', PictureMaker] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly realmUrls: RealmUrls,
    private readonly clock: Clock,
    private readonly pictures: PictureMaker,
  ) {}

  /**
   * All or nothing.
   * @throws DomainError UNKNOWN_BOT, NOT_PERMITTED, MUST_BE_OWNER, INVALID_USER_NAME, BOT_NAME_TAKEN, INVALID_EMAIL,
   * EMAIL_TAKEN, MUST_BE_ADMINISTRATOR, LAST_OWNER, GUEST_CANNOT_ADMINISTER, UNKNOWN_USER, NAMED_USER_DEACTIVATED,
   * BOT_CANNOT_OWN_BOTS, TOO_MANY_BOTS, INVALID_WEBHOOK_INTERFACE, UNKNOWN_CHANNEL,
   * ONE_IMAGE_REQUIRED, IMAGE_FILE_TOO_LARGE, UNREADABLE_IMAGE, IMAGE_TOO_LARGE, SERVER_BUSY
   */
  async execute(caller: Caller, input: UpdateBotInput): Promise<UpdatedBot> {
    const { replaced, ...bot } = await makeBotAvatar(this.pictures, caller.userId, input.avatar, (avatar) =>
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
    return this.uow.write(async (tx) => {
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
      return { realm, user, view: await viewBot(tx, user), owner, replaced };
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
  const viewBefore = await viewBot(tx, before);
  const options = (await tx.bots.listOptions(realmId, [id])).get(id)!;
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
  await tx.events.append(realmId, {
    event: { type: 'bot.changed', botId: id, change: difference(viewBefore, await viewBot(tx, bot)) },
    audience: await botAudience(tx, bot, changed.eventsChannelId),
  });
  return bot;
}

/** The members of `after` that are not as they were. */
function difference(before: object, after: object): BotChange {
  const old = before as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.entries(after).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(old[name])),
  );
}
