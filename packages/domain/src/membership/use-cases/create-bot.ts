import type { Actor } from '../../access/actor.js';
import type { ApiKeyMint } from '../../access/api-keys.js';
import { mustBeHuman, mustNotBeGuest } from '../../access/role-rules.js';
import { getReadableChannel } from '../../channels/find-readable-channel.js';
import { PictureMaker } from '../../files/picture-maker.js';
import type { Caller } from '../../kernel/caller.js';
import type { Clock, Randomness } from '../../kernel/clock.js';
import { DomainError, orThrow } from '../../kernel/errors.js';
import { enforce } from '../../kernel/permission.js';
import type { RealmUrls } from '../../kernel/realm-urls.js';
import type { Transaction, UnitOfWork } from '../../kernel/unit-of-work.js';
import type { Realm } from '../../realms/realm.js';
import { nameAvatar } from '../../users/change-avatar.js';
import type { BotKind } from '../../users/user.js';
import { parseFullName } from '../../users/user-name.js';
import { canCreateBot } from '../../users/user-permissions.js';
import { addUser } from '../add-user.js';
import { type GivenAvatar, type MadeAvatar, makeBotAvatar, requireOneAvatar } from '../bot-avatar.js';
import { botAudience } from '../bot-events.js';
import { botEmail, requireRoom, requireUnusedEmail, requireUnusedName } from '../bot-names.js';
import type { BotOptions, WebhookInterface } from '../bot-options.js';
import { type ViewedBot, viewBot } from '../bot-view.js';

export interface CreateBotInput {
  readonly fullName: string;
  /** What its address begins with, before `-bot@`. */
  readonly shortName: string;
  /** `unknown`: something that is no kind. */
  readonly kind: BotKind | 'unknown';
  /** Of an outgoing webhook; empty: none yet. */
  readonly webhookUrl: string;
  readonly webhookInterface: WebhookInterface | 'unknown';
  /** Names; null: none. */
  readonly sendingChannel: string | null;
  readonly eventsChannel: string | null;
  readonly allPublicChannels: boolean;
  readonly avatar: GivenAvatar;
}

/** A bot with its key. */
export interface KeyedBot extends ViewedBot {
  readonly apiKey: string;
}

export interface CreatedBot extends KeyedBot {
  readonly realm: Realm;
}

/** A bot of the caller's own (users §15). */
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
    return makeBotAvatar(this.pictures, caller.userId, input.avatar, (avatar) => this.create(caller, input, avatar));
  }

  private create(caller: Caller, input: CreateBotInput, madeAvatar: MadeAvatar): Promise<CreatedBot> {
    return this.uow.write(async (tx) => {
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
      await requireRoom(tx, realm.id, actor.id);
      const bot = { kind, ownerId: actor.id, isSystem: false, defaultSendingChannelId: sendingChannelId };
      const avatar = pictures && (await nameAvatar(tx, realm.id, pictures, 1));
      const person = { email, fullName, role: 'member', passwordHash: null, bot, avatar } as const;
      const user = await addUser(tx, realm, person, { now: this.clock.now(), mint: this.mint });
      await tx.bots.putOptions(realm.id, user.id, options);
      const view = await viewBot(tx, user);
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

  /** 32 hex digits, of which nobody can guess 30. */
  private newToken(): string {
    return this.randomness.uuid().replaceAll('-', '');
  }
}
