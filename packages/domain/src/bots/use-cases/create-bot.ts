import type { ApiKeyMint } from '../../authentication/api-keys.js';
import { getReadableChannel } from '../../channels/find-readable-channel.js';
import type { Realm } from '../../realms/realm.js';
import type { Caller } from '../../shared/caller.js';
import type { Clock, Randomness } from '../../shared/clock.js';
import { DomainError } from '../../shared/errors.js';
import { enforce } from '../../shared/permission.js';
import type { RealmUrls } from '../../shared/realm-urls.js';
import { trim } from '../../shared/text.js';
import type { Transaction, UnitOfWork } from '../../shared/unit-of-work.js';
import type { Actor } from '../../users/actor.js';
import { addUser } from '../../users/add-user.js';
import { isEmailAddress } from '../../users/email-address.js';
import { mustBeHuman, mustNotBeGuest } from '../../users/role-rules.js';
import type { BotKind } from '../../users/user.js';
import { parseFullName } from '../../users/user-name.js';
import { canCreateBot } from '../../users/user-permissions.js';
import { botAudience } from '../bot-events.js';
import { type BotOptions, MAX_BOTS, type WebhookInterface } from '../bot-options.js';
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
  constructor(
    private readonly uow: UnitOfWork,
    private readonly mint: ApiKeyMint,
    private readonly realmUrls: RealmUrls,
    private readonly clock: Clock,
    private readonly randomness: Randomness,
  ) {}

  /**
   * @throws DomainError MUST_NOT_BE_GUEST, MUST_NOT_BE_BOT, INVALID_EMAIL, INVALID_USER_NAME, EMBEDDED_BOTS_DISABLED,
   * EMAIL_TAKEN, BOT_NAME_TAKEN, USER_NAME_TAKEN, NOT_PERMITTED, INVALID_BOT_KIND, INVALID_WEBHOOK_INTERFACE, UNKNOWN_CHANNEL,
   * TOO_MANY_BOTS
   */
  execute(caller: Caller, input: CreateBotInput): Promise<CreatedBot> {
    return this.uow.write(async (tx) => {
      const actor = await tx.actors.get(caller);
      enforce(mustNotBeGuest(actor));
      enforce(mustBeHuman(actor));
      const realm = await tx.realms.get(actor.realmId);
      const email = `${trim(input.shortName)}-bot@${this.realmUrls.emailDomainOf(realm)}`;
      if (trim(input.shortName) === '' || !isEmailAddress(email)) {
        throw new DomainError('INVALID_EMAIL', 'Bad name or username');
      }
      const fullName = parseFullName(input.fullName);
      if (input.kind === 'embedded') throw new DomainError('EMBEDDED_BOTS_DISABLED', 'Embedded bots are not enabled.');
      if ((await tx.users.listByEmail(realm.id, [email])).length > 0) {
        throw new DomainError('EMAIL_TAKEN', 'Username already in use');
      }
      await requireUnusedName(tx, actor, fullName);
      const kind = input.kind === 'unknown' ? null : input.kind;
      enforce(canCreateBot(actor, realm, kind ?? 'generic'));
      if (!kind) throw new DomainError('INVALID_BOT_KIND', 'Invalid bot type');
      const options = await this.optionsFrom(tx, actor, input);
      await requireRoom(tx, actor);
      const bot = { kind, ownerId: actor.id, isSystem: false, defaultSendingChannelId: options.sendingChannelId };
      const person = { email, fullName, role: 'member', passwordHash: null, bot } as const;
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

/** Bots have names that no other active user has (users §15). @throws DomainError BOT_NAME_TAKEN */
export async function requireUnusedName(tx: Transaction, { realmId }: Actor, fullName: string): Promise<void> {
  const named = await tx.users.listByName(realmId, [fullName]);
  if (named.some((user) => user.isActive && user.fullName === fullName)) {
    throw new DomainError('BOT_NAME_TAKEN', 'Name is already in use!');
  }
}

async function requireRoom(tx: Transaction, { realmId, id }: Actor): Promise<void> {
  if ((await tx.bots.listOwnedIds(realmId, id)).length >= MAX_BOTS) {
    throw new DomainError('TOO_MANY_BOTS', `Too many bots (limit: ${MAX_BOTS}).`);
  }
}
