import { type Actor, isAdministrator } from '../access/actor.js';
import type { Channel } from '../channels/channel.js';
import { hasMetadataAccess } from '../channels/channel-access.js';
import { bytesOf, type ImageUpload } from '../files/images.js';
import type { MadePicture, PictureMaker } from '../files/pictures.js';
import { DomainError, declareErrors } from '../kernel/errors.js';
import {
  type Audience,
  anyOf,
  except,
  type FeatureParts,
  users,
  users as usersNamed,
  wholeRealm,
} from '../kernel/event.js';
import type { QueueFilter } from '../kernel/event-queue.js';
import type { ChannelId, RealmId, UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { RealmUrls } from '../kernel/ports.js';
import type { Snapshot } from '../kernel/register-queue.js';
import { trim } from '../kernel/text.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import { firstOf, getOrThrow } from '../kernel/work.js';
import type { WorkOwner } from '../kernel/work-queue.js';
import type { Realm } from '../realms/realm.js';
import { AVATAR_TARGETS } from '../users/avatars.js';
import { isEmailAddress, type User } from '../users/user.js';
import { atLeast } from '../users/user-delivery.js';
import { canAdministerBot, canOwnBots } from '../users/user-permissions.js';
import { loadViewer } from '../users/users.use-cases.js';

export const BOT_ERRORS = declareErrors({
  /** The kind of bot does not exist. */
  INVALID_BOT_KIND: 'invalid',
  /** The webhook interface does not exist. */
  INVALID_WEBHOOK_INTERFACE: 'invalid',
  /** The server has no embedded bots. */
  EMBEDDED_BOTS_DISABLED: 'forbidden',
  /** The owner has too many bots, including deactivated ones. */
  TOO_MANY_BOTS: 'conflict',
  /** A key is not stored, or is named twice. */
  UNKNOWN_STORED_KEY: 'unknown',
  /** The storage limit of the bot is exceeded. */
  BOT_STORAGE_FULL: 'conflict',
});

type BotErrors = typeof BOT_ERRORS;

/** Format in which messages are sent to an outgoing webhook. */
export type WebhookInterface = 'generic' | 'slack';
export const WEBHOOK_INTERFACES: readonly WebhookInterface[] = ['generic', 'slack'];

/** Delivery settings of an outgoing webhook. */
export interface OutgoingWebhook {
  /** Empty if no events are delivered. */
  readonly url: string;
  readonly interface: WebhookInterface;
  /** Sent with each message, so that the receiver can verify the sender. */
  readonly token: string;
}

/** Options specific to bots. The default sending channel belongs to the user. */
export interface BotOptions {
  /** Default channel of the bot's event queues; null for all messages it receives. */
  readonly eventsChannelId: ChannelId | null;
  /** True if the bot's event queues include all public channels by default. */
  readonly allPublicChannels: boolean;
  /** Null for other kinds of bots. */
  readonly webhook: OutgoingWebhook | null;
}

export const NO_BOT_OPTIONS: BotOptions = { eventsChannelId: null, allPublicChannels: false, webhook: null };

/** Per owner, deactivated bots included. */
export const MAX_BOTS = 1000;

export interface BotReads {
  /** Every id has an entry; bots without stored options get `NO_BOT_OPTIONS`. */
  listOptions(realmId: RealmId, botIds: readonly UserId[]): Promise<ReadonlyMap<UserId, BotOptions>>;
  /** Includes deactivated bots; ascending. */
  listOwnedIds(realmId: RealmId, ownerId: UserId): Promise<readonly UserId[]>;
}

/** Every implementation passes bot-repository.contract.ts. */
export interface BotRepository extends BotReads {
  putOptions(realmId: RealmId, botId: UserId, options: BotOptions): Promise<void>;
}

type Reads<K extends keyof Repositories> = Pick<Repositories | Transaction, K>;

/** Returns a bot's email address (users §15). @throws DomainError INVALID_EMAIL */
export function botEmail(realm: Realm, realmUrls: RealmUrls, shortName: string): string {
  const name = trim(shortName);
  const email = `${name}-bot@${realmUrls.emailDomainOf(realm)}`;
  if (name === '' || !isEmailAddress(email)) throw new DomainError('INVALID_EMAIL', 'Bad name or username');
  return email;
}

/** Rejects an email address used by another account. @throws DomainError EMAIL_TAKEN */
export async function requireUnusedEmail(
  { users }: Reads<'users'>,
  { id: realmId }: Pick<Realm, 'id'>,
  email: string,
  botId: UserId | null,
): Promise<void> {
  const [owner] = await users.listByEmail(realmId, [email]);
  if (owner && owner.id !== botId) throw new DomainError('EMAIL_TAKEN', 'Email is already in use.');
}

/** Requires a name that no other active user has (users §15). @throws DomainError BOT_NAME_TAKEN */
export async function requireUnusedName({ users }: Reads<'users'>, realmId: RealmId, fullName: string): Promise<void> {
  const named = await users.listByName(realmId, [fullName]);
  if (named.some((user) => user.isActive && user.fullName === fullName)) {
    throw new DomainError('BOT_NAME_TAKEN', 'Name is already in use.');
  }
}

/** Requires room for one more bot of the owner. @throws DomainError TOO_MANY_BOTS */
export async function requireRoomForBot({ bots }: Reads<'bots'>, realmId: RealmId, ownerId: UserId): Promise<void> {
  if ((await bots.listOwnedIds(realmId, ownerId)).length >= MAX_BOTS) {
    throw new DomainError('TOO_MANY_BOTS', `Too many bots (limit: ${MAX_BOTS}).`);
  }
}

/** Loads the defaults for queues without an explicit filter; bots can have individual defaults (events §1). */
export async function loadQueueDefaults(
  { bots, channels }: Pick<Repositories, 'bots' | 'channels'>,
  { id, realmId, role, isBot }: Actor,
): Promise<QueueFilter> {
  if (!isBot) return { allPublicChannels: false, narrow: [] };
  const { eventsChannelId, allPublicChannels } = getOrThrow(await bots.listOptions(realmId, [id]), id);
  const [channel] = eventsChannelId === null ? [] : await channels.list(realmId, [eventsChannelId]);
  return {
    // Guests may never request all public channels.
    allPublicChannels: allPublicChannels && role !== 'guest',
    narrow: channel ? [{ operator: 'stream', operand: channel.name }] : [],
  };
}

/** Properties of a bot visible to its owner and administrators. */
export interface BotView {
  readonly botId: UserId;
  /** Channel names; null if unset, or if the viewer cannot see the channel. */
  readonly sendingChannel: string | null;
  readonly eventsChannel: string | null;
  readonly allPublicChannels: boolean;
  readonly webhook: OutgoingWebhook | null;
}

/** Bot with its view. */
export interface ViewedBot {
  readonly user: User;
  readonly view: BotView;
}

type BotViewReads = Pick<Repositories | Transaction, 'bots' | 'channels'>;

/** Sees the names of all channels, as administrators do. */
export type BotViewer = Actor | 'administrator';

/**
 * Returns views of these bots in the given order, in a constant number of statements. Omits the names of channels
 * hidden from the viewer.
 */
export async function viewBots(
  { bots, channels }: BotViewReads,
  realmId: RealmId,
  viewer: BotViewer,
  users: readonly User[],
): Promise<readonly ViewedBot[]> {
  if (users.length === 0) return [];
  const options = await bots.listOptions(
    realmId,
    users.map(({ id }) => id),
  );
  const named = users.flatMap(({ id, bot }) => [bot!.defaultSendingChannelId, getOrThrow(options, id).eventsChannelId]);
  const ids = [...new Set(named.filter((id) => id !== null))] as ChannelId[];
  const found = await channels.list(realmId, ids);
  const isVisible = await visibilityTo({ channels }, viewer, found.length > 0);
  const names = new Map<number | null, Channel['name']>(found.filter(isVisible).map(({ id, name }) => [id, name]));
  return users.map((user) => {
    const { eventsChannelId, allPublicChannels, webhook } = getOrThrow(options, user.id);
    return {
      user,
      view: {
        botId: user.id,
        sendingChannel: names.get(user.bot!.defaultSendingChannelId) ?? null,
        eventsChannel: names.get(eventsChannelId) ?? null,
        allPublicChannels,
        webhook,
      },
    };
  });
}

async function visibilityTo(
  { channels }: Pick<BotViewReads, 'channels'>,
  viewer: BotViewer,
  isNeeded: boolean,
): Promise<(channel: Channel) => boolean> {
  if (viewer === 'administrator' || !isNeeded) return () => true;
  const subscribed = new Set(await channels.listSubscribedIds(viewer.realmId, viewer.id));
  return (channel) => hasMetadataAccess(viewer, channel, subscribed.has(channel.id));
}

export const viewBot = async (reads: BotViewReads, viewer: BotViewer, user: User): Promise<BotView> =>
  firstOf(await viewBots(reads, user.realmId, viewer, [user])).view;

/** Views of one bot for all recipients of its events. */
export interface BotViews {
  readonly administrators: BotView;
  /** Null if the bot has no active owner. */
  readonly owner: BotView | null;
}

export async function viewForReceivers(tx: Transaction, bot: User): Promise<BotViews> {
  const { ownerId } = bot.bot!;
  const owner = ownerId === null ? undefined : (await tx.actors.list(bot.realmId, [ownerId])).get(ownerId);
  return {
    administrators: await viewBot(tx, 'administrator', bot),
    owner: owner ? await viewBot(tx, owner, bot) : null,
  };
}

/** Publishes changed options to administrators and to the owner, whose visible channels may differ (users §15). */
export async function publishOptions(
  tx: Transaction,
  bot: User,
  eventsChannelId: ChannelId | null,
  before: BotViews,
): Promise<void> {
  const after = await viewForReceivers(tx, bot);
  const { realmId, id: botId } = bot;
  const audience = await botAudience(tx, bot, eventsChannelId);
  const owner = usersNamed(bot.bot!.ownerId === null ? [] : [bot.bot!.ownerId]);
  const forAll = difference(before.administrators, after.administrators);
  const forOwner = before.owner && after.owner ? difference(before.owner, after.owner) : {};
  const append = (change: BotChange, to: Audience) =>
    tx.events.append(realmId, { event: { type: 'bot.changed', botId, change }, audience: to });
  if (JSON.stringify(forAll) === JSON.stringify(forOwner)) {
    await append(forAll, audience);
    return;
  }
  await append(forAll, except(audience, owner));
  if (Object.keys(forOwner).length > 0) await append(forOwner, owner);
}

/** Returns the properties of `after` that differ from `before`. */
function difference(before: object, after: object): BotChange {
  const old = before as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.entries(after).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(old[name])),
  );
}

/** Loads the bots the viewer may administer, deactivated ones included; ascending. */
export async function loadBots(snapshot: Snapshot): Promise<readonly BotView[]> {
  const { repositories } = snapshot;
  const viewer = await snapshot.load(loadViewer);
  const ids = isAdministrator(viewer)
    ? await repositories.users.listBotIds(viewer.realmId)
    : await repositories.bots.listOwnedIds(viewer.realmId, viewer.id);
  const users = ids.length === 0 ? [] : await repositories.users.list(viewer.realmId, ids);
  return (await viewBots(repositories, viewer.realmId, viewer, users)).map(({ view }) => view);
}

/** Changed properties of a bot; unchanged ones are absent. */
export type BotChange = Partial<Omit<BotView, 'botId'>>;

/** Sent to owners and administrators (users §15). Public properties of a bot are published as for any user. */
export interface BotEventTypes {
  /** Sent to users who gain access to the bot. */
  'bot.added': { readonly bot: BotView };
  'bot.changed': { readonly botId: UserId; readonly change: BotChange };
  /** Sent to the former owner. */
  'bot.taken_away': { readonly botId: UserId };
  /** Sent to the whole realm. */
  'bot.owner_changed': { readonly botId: UserId; readonly ownerId: UserId };
}

declare module '../kernel/feature-types.js' {
  interface ErrorCodes extends BotErrors {}
  interface RepositoryMap {
    bots: [reads: BotReads, repository: BotRepository];
  }
  interface DomainEventTypes extends BotEventTypes {}
}

export const BOT_FEATURE = {
  eventFormats: {
    'bot.added': 1,
    'bot.changed': 1,
    'bot.taken_away': 1,
    'bot.owner_changed': 1,
  },
} satisfies FeatureParts<BotEventTypes>;

/** Owner and administrators; only the owner if a private channel is involved (users §15). */
export async function botAudience(
  { channels }: Pick<Repositories | Transaction, 'channels'>,
  { realmId, bot }: User,
  eventsChannelId: ChannelId | null,
): Promise<Audience> {
  const owner = bot!.ownerId === null ? [] : [bot!.ownerId];
  const ids = [bot!.defaultSendingChannelId, eventsChannelId].filter((id) => id !== null) as ChannelId[];
  const found = await channels.list(realmId, ids);
  const isPrivate = found.some(({ privacy }) => privacy !== 'public' && privacy !== 'webPublic');
  return isPrivate ? users(owner) : anyOf(users(owner), atLeast('administrator'));
}

/** Null keeps the present or default avatar; `several` means more than one file. */
export type AvatarUpload = ImageUpload | 'several' | null;

/** Pictures or the error that prevented them; null if none were requested. */
export type MadeAvatar = readonly MadePicture[] | DomainError | null;

/** @throws DomainError ONE_IMAGE_REQUIRED */
export function requireOneAvatar(upload: AvatarUpload): void {
  if (upload === 'several') throw new DomainError('ONE_IMAGE_REQUIRED', 'You may only upload one file at a time');
}

/** Passes an image error on to `work`, which reports it in the contract's order (users §15). */
export function makeBotAvatar<T>(
  pictures: PictureMaker,
  owner: WorkOwner,
  upload: AvatarUpload,
  work: (avatar: MadeAvatar) => Promise<T>,
): Promise<T> {
  if (upload === null || upload === 'several') return work(null);
  let bytes: Uint8Array;
  try {
    bytes = bytesOf(upload);
  } catch (error) {
    return work(error as DomainError);
  }
  return pictures.makeAhead(owner, bytes, AVATAR_TARGETS, work);
}

/** @throws DomainError UNKNOWN_USER, NAMED_USER_DEACTIVATED, BOT_CANNOT_OWN_BOTS, TOO_MANY_BOTS */
export async function giveOwner(tx: Transaction, before: User, ownerId: UserId): Promise<User> {
  const { realmId, id: botId } = before;
  if (before.bot!.ownerId === ownerId) return before;
  enforce(canOwnBots(await tx.users.find(realmId, ownerId)));
  await requireRoomForBot(tx, realmId, ownerId);
  const bot = await tx.users.update({ ...before, bot: { ...before.bot!, ownerId } });
  // Administrators have access before and after the change.
  const alone = (id: UserId) => except(usersNamed([id]), atLeast('administrator'));
  if (before.bot!.ownerId !== null) {
    const audience = alone(before.bot!.ownerId);
    await tx.events.append(realmId, { event: { type: 'bot.taken_away', botId }, audience });
  }
  const owner = await tx.actors.get({ realmId, userId: ownerId });
  const added = { type: 'bot.added', bot: await viewBot(tx, owner, bot) } as const;
  await tx.events.append(realmId, { event: added, audience: alone(ownerId) });
  await tx.events.append(realmId, { event: { type: 'bot.owner_changed', botId, ownerId }, audience: wholeRealm });
  return bot;
}

/** Includes deactivated bots. @throws DomainError UNKNOWN_BOT, NOT_PERMITTED, MUST_BE_OWNER */
export async function getAdministeredBot(
  { users }: Pick<Repositories | Transaction, 'users'>,
  actor: Actor,
  botId: UserId,
): Promise<User> {
  const bot = await users.find(actor.realmId, botId);
  enforce(canAdministerBot(actor, bot));
  return bot!;
}
