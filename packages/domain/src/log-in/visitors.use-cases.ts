import type { ApiKeyMint } from '../access/credentials.js';
import { isVisitor } from '../access/roles.js';
import { subscribeToChannels } from '../channels/subscribing.js';
import { viewOfFile } from '../files/files.js';
import { scheduleThumbnails } from '../files/thumbnails.js';
import { DomainError } from '../kernel/errors.js';
import { nobody, users } from '../kernel/event.js';
import type { MessageId, RealmId, RecipientId, UnixSeconds, UserId } from '../kernel/ids.js';
import { encodeJob, type Job, type JobHandler, type JobWork } from '../kernel/jobs.js';
import type { Clock, Randomness, TicketTokens } from '../kernel/ports.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { getOrThrow } from '../kernel/work.js';
import { addUser, findAvailableName } from '../membership/add-user.js';
import { deactivateWithBots } from '../membership/deactivation.js';
import { isErased } from '../membership/erased-person.js';
import { startErasure } from '../membership/erasures.use-cases.js';
import { checkExternalId, NOBODYS_DOMAIN, removeExternalId } from '../membership/host-users.js';
import { linkVisit } from '../membership/merged-accounts.js';
import { externalIdKey, findPlaceholder } from '../membership/placeholders.js';
import { changeFlags } from '../messages/flags.js';
import type { MessageListEntry } from '../messages/message-condition.js';
import { rename } from '../users/change-email.js';
import { parseFullName, SHORTEST_GIVEN_NAME, toFullName, type User } from '../users/user.js';
import { accessorsOf } from '../users/user-delivery.js';
import { extendHolds } from '../writing/holds.js';
import { giveReactions, reactionsToGive } from '../writing/reactions.js';
import { signOutEverywhere } from './sign-out.use-cases.js';
import { END_VISIT_JOB, type EndVisitPayload, type VisitorQuota, visitorExternalId } from './visitors.js';

const SECONDS_PER_DAY = 86_400;

export interface StartVisitInput {
  readonly realmId: RealmId;
  readonly fullName: string;
  /** Address of the visitor; null for no limit by address. */
  readonly source: string | null;
  /** Days until the visitor is erased. */
  readonly days: number;
}

export interface StartedVisit {
  readonly user: User;
  readonly token: string;
  readonly expiresAt: UnixSeconds;
}

/** Adds a guest without channels for a person who has no account yet. */
export class StartVisit {
  static readonly inject = [
    'unitOfWork',
    'apiKeyMint',
    'clock',
    'randomness',
    'visitorTokens',
    'visitorQuota',
  ] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly mint: ApiKeyMint,
    private readonly clock: Clock,
    private readonly randomness: Randomness,
    private readonly tokens: TicketTokens,
    private readonly quota: VisitorQuota,
  ) {}

  /** @throws DomainError INVALID_USER_NAME, USER_NAME_TAKEN, RATE_LIMITED */
  async execute({ realmId, fullName: raw, source, days }: StartVisitInput): Promise<StartedVisit> {
    const fullName = parseFullName(toFullName(raw), SHORTEST_GIVEN_NAME);
    this.quota.take(realmId, source);
    const uuid = this.randomness.uuid();
    const now = this.clock.now();
    const expiresAt = now + days * SECONDS_PER_DAY;
    const { user, seed } = await this.uow.write(realmId, async (tx) => {
      const realm = await tx.realms.get(realmId);
      const names = [fullName, `${fullName} ${uuid.slice(0, 8)}`];
      const added = await addUser(
        tx,
        realm,
        {
          fullName: (await findAvailableName(tx, realm, names, null)) ?? fullName,
          email: `${uuid}@${NOBODYS_DOMAIN}`,
          role: 'guest',
          passwordHash: null,
          externalId: visitorExternalId(uuid),
          channels: [],
        },
        { now, mint: this.mint },
      );
      await tx.jobs.schedule(encodeJob(END_VISIT_JOB, { realmId, dueAt: expiresAt, payload: { userId: added.id } }));
      return { user: added, seed: await tx.users.findSeed(realmId, added.id) };
    });
    return { user, token: this.tokens.sign({ realmId, id: user.id, expiresAt }, seed), expiresAt };
  }
}

export interface VisitorReference {
  readonly realmId: RealmId;
  readonly token: string;
}

/** Reads the tokens of visitors. */
export class VisitorTickets {
  static readonly inject = ['visitorTokens', 'clock'] as const;
  constructor(
    private readonly tokens: TicketTokens,
    private readonly clock: Clock,
  ) {}

  /** Returns the user of the token; null if it is wrong, has expired or belongs to another organization. */
  async find(
    { users }: Pick<Repositories | Transaction, 'users'>,
    { realmId, token }: VisitorReference,
  ): Promise<User | null> {
    const ticket = await this.tokens.find(token, async ({ id, ...rest }) => {
      if (rest.realmId !== realmId || rest.expiresAt <= this.clock.now()) return null;
      return { userId: id as UserId, seed: await users.findSeed(realmId, id as UserId) };
    });
    return ticket && users.find(realmId, ticket.userId);
  }
}

/** Finds the visitor of a token. */
export class FindVisitor {
  static readonly inject = ['unitOfWork', VisitorTickets] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly tickets: VisitorTickets,
  ) {}

  /** Returns null if the token is wrong or has expired, or the visitor became a customer or was deactivated. */
  async execute(visitor: VisitorReference): Promise<User | null> {
    const { realmId } = visitor;
    const user = await this.uow.read(realmId, (reads) => this.tickets.find(reads, visitor));
    return user?.isActive && isVisitor(user) ? user : null;
  }
}

export interface KeepVisitorAccountInput extends VisitorReference {
  /** Id of the customer in the host application. */
  readonly externalId: string;
}

/**
 * Turns the visitor's account into the account of a customer who has none. Keys, tokens and queues of the visitor end,
 * since the customer may be another person at the same browser.
 */
export class KeepVisitorAccount {
  static readonly inject = ['unitOfWork', VisitorTickets, 'apiKeyMint', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly tickets: VisitorTickets,
    private readonly mint: ApiKeyMint,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns the user of the token. Nothing changes if the customer has an account, or the user is not a visitor or has
   * an email address, with which the visitor may log in.
   * @throws DomainError INVALID_EXTERNAL_ID, UNKNOWN_VISITOR
   */
  async execute({ externalId, ...visitor }: KeepVisitorAccountInput): Promise<User> {
    checkExternalId(externalId);
    const { realmId } = visitor;
    return this.uow.write(realmId, async (tx) => {
      const user = await this.tickets.find(tx, visitor);
      if (!user || isErased(user)) throw unknownVisitor();
      if (!isVisitor(user) || !user.isActive) return user;
      if ((await tx.externalIds.find(realmId, externalId)) !== null) return user;
      // An imported customer gets their own former account.
      if (await findPlaceholder(tx, realmId, [externalIdKey('host', externalId)])) return user;
      if (!user.email.endsWith(`@${NOBODYS_DOMAIN}`)) return user;
      await forgetVisit(tx, user);
      await signOutEverywhere(tx, this.mint, user, this.clock.now());
      await tx.externalIds.assign(realmId, user.id, externalId);
      const event = { type: 'user.external_id_assigned', userId: user.id, externalId } as const;
      await tx.events.append(realmId, { event, audience: accessorsOf(user.id) });
      return tx.users.get(realmId, user.id);
    });
  }
}

/** Limits of what a customer gets from a visitor. */
const MAX_CHANNELS = 100;
const MAX_DIRECT = 100;
const MAX_MESSAGES = 1000;
/** Each changes two rows and publishes two events. */
const MAX_REACTIONS = 200;
/** Each publishes an event. */
const MAX_FILES = 200;

export interface InheritFromVisitorInput {
  readonly realmId: RealmId;
  readonly visitorId: UserId;
  /** Customer with an account of their own. */
  readonly userId: UserId;
}

/**
 * Gives a visitor's channels, direct conversations and files to the customer that the visitor turned out to be. The newest
 * messages there, and the visitor's reactions to them, get the customer as author. The visitor's account is deactivated.
 * It gets the customer's name, which clients show for messages that they loaded before.
 */
export class InheritFromVisitor {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /** Idempotent. */
  execute({ realmId, visitorId, userId }: InheritFromVisitorInput): Promise<void> {
    return this.uow.write(
      realmId,
      async (tx) => {
        const [visitor, customer] = [await tx.users.get(realmId, visitorId), await tx.users.get(realmId, userId)];
        if (!isVisitor(visitor) || !visitor.isActive || !customer.isActive) return;
        const now = this.clock.now();
        const time = { since: visitor.joinedAt, until: now };
        await extendHolds(tx, realmId, { from: visitorId, to: userId }, time);
        const given = await giveChannels(tx, visitor, customer);
        const direct = await giveDirect(tx, visitor, customer);
        await giveSomeReactions(tx, [...given, ...direct], visitor, customer);
        await giveFiles(tx, visitor, customer, this.clock);
        await forgetVisit(tx, visitor);
        await linkVisit(tx, visitor, userId);
        const realm = await tx.realms.get(realmId);
        await deactivateWithBots(tx, realm, await tx.users.get(realmId, visitorId), now);
        const former = await tx.users.get(realmId, visitorId);
        // Organizations with unique names keep the visitor's.
        if (!realm.settings.requireUniqueNames) await rename(tx, former, customer.fullName);
      },
      { yields: true },
    );
  }
}

/** Erases an expired visitor. */
export class EndVisit implements JobHandler<EndVisitPayload> {
  static readonly inject = ['clock'] as const;

  readonly kind = END_VISIT_JOB;

  constructor(private readonly clock: Clock) {}

  async prepare({ realmId, payload }: Job<EndVisitPayload>): Promise<JobWork> {
    return async (tx) => {
      const user = await tx.users.find(realmId, payload.userId);
      if (!user || !isVisitor(user)) return;
      await startErasure(tx, user, { requestedAt: this.clock.now(), everythingWritten: false });
    };
  }
}

const unknownVisitor = () => new DomainError('UNKNOWN_VISITOR', 'There is no such visitor.');

async function forgetVisit(tx: Transaction, visitor: User): Promise<void> {
  const { realmId, id } = visitor;
  await removeExternalId(tx, visitor);
  // Servers find users by external ids that they remember.
  await tx.events.append(realmId, { event: { type: 'user.credentials_changed', userId: id }, audience: nobody });
}

/**
 * Subscribes the customer to the visitor's channels. Delivers the newest messages there with the visitor's unread marks;
 * those of the visitor become the customer's. Returns the messages.
 */
async function giveChannels(tx: Transaction, visitor: User, customer: User): Promise<readonly MessageId[]> {
  const { realmId } = visitor;
  const ids = await tx.channels.listSubscribedIds(realmId, visitor.id);
  const channels = (await tx.channels.list(realmId, ids.slice(0, MAX_CHANNELS))).filter((one) => !one.isArchived);
  if (channels.length === 0) return [];
  const recipientIds = channels.map(({ recipientId }) => recipientId);
  const filter = { conditions: [{ kind: 'recipient', recipientIds }], scope: 'own' } as const;
  const [theirs, ours] = [visitor, customer].map(({ id: userId }) => ({ realmId, userId }));
  const entries = await tx.pages.listEntriesUpTo(theirs!, filter, null, MAX_MESSAGES);
  const owned = await tx.personal.listFlags(
    ours!,
    entries.map(({ id }) => id),
  );
  const gained = entries.filter(({ id }) => !owned.has(id));
  await subscribeToChannels(tx, { channels, userIds: [customer.id], requestedColors: new Map() });
  await tx.personal.addHistorical(
    ours!,
    gained.map(({ id }) => id),
  );
  await giveSent(tx, entries, visitor, customer);
  await markUnread(tx, gained, customer);
  return entries.map(({ id }) => id);
}

/**
 * Moves the visitor's newest direct messages to conversations of the customer with the same people. No event moves direct
 * messages, so clients show the former conversation until they load it again. Returns the messages.
 */
async function giveDirect(tx: Transaction, visitor: User, customer: User): Promise<readonly MessageId[]> {
  const { realmId } = visitor;
  const all = await tx.recipients.listDirectWith(realmId, visitor.id, visitor.id, 1);
  const recipientIds = all.slice(-MAX_DIRECT);
  if (recipientIds.length === 0) return [];
  const filter = { conditions: [{ kind: 'recipient', recipientIds }], scope: 'own' } as const;
  const entries = await tx.pages.listEntriesUpTo({ realmId, userId: visitor.id }, filter, null, MAX_MESSAGES);
  const ids = entries.map(({ id }) => id);
  const owned = await tx.personal.listFlags({ realmId, userId: customer.id }, ids);
  const moved = new Map<RecipientId, MessageId[]>();
  for (const { id, recipientId } of entries) {
    moved.set(recipientId, [...(moved.get(recipientId) ?? []), id]);
  }
  for (const recipient of (await tx.recipients.list(realmId, [...moved.keys()])).values()) {
    if (recipient.kind !== 'direct') continue;
    const present = recipient.userIds.map((id) => (id === visitor.id ? customer.id : id));
    const target = await tx.recipients.openDirect(realmId, [...new Set(present)]);
    await tx.moves.moveDirect(realmId, getOrThrow(moved, recipient.id), target);
  }
  await giveSent(tx, entries, visitor, customer);
  await markUnread(
    tx,
    entries.filter(({ id }) => !owned.has(id)),
    customer,
  );
  return ids;
}

/** Makes the customer the author of the visitor's messages among these. */
async function giveSent(tx: Transaction, entries: readonly MessageListEntry[], visitor: User, customer: User) {
  const sent = entries.filter(({ senderId }) => senderId === visitor.id).map(({ id }) => id);
  await tx.messages.changeSender(visitor.realmId, sent, visitor.id, customer.id);
}

async function markUnread(tx: Transaction, gained: readonly MessageListEntry[], { realmId, id: userId }: User) {
  const unread = gained.filter(({ flags }) => !flags.read).map(({ id }) => id);
  if (unread.length === 0) return;
  await changeFlags(tx, await tx.actors.get({ realmId, userId }), unread, { op: 'remove', flag: 'read' });
}

/** Makes the customer the author of the visitor's reactions to the newest of these messages. */
async function giveSomeReactions(tx: Transaction, ids: readonly MessageId[], visitor: User, customer: User) {
  const messages = await tx.messages.list(visitor.realmId, ids);
  const reactions = await reactionsToGive(tx, messages, visitor.id, customer.id);
  await giveReactions(tx, messages, reactions.slice(-MAX_REACTIONS), customer.id);
}

/** Makes the customer the owner of the visitor's files, oldest first. Their addresses stay the same. */
async function giveFiles(tx: Transaction, { realmId, id }: User, customer: User, clock: Clock): Promise<void> {
  const files = await tx.files.list(realmId, id, 0, MAX_FILES);
  if (files.length === 0) return;
  await tx.files.changeOwner(
    realmId,
    files.map((file) => file.id),
    customer.id,
  );
  const usedBytes = await tx.files.usedBytes(realmId);
  for (const file of files) {
    const event = { type: 'file.added', file: viewOfFile(file), usedBytes } as const;
    await tx.events.append(realmId, { event, audience: users([customer.id]) });
  }
  // Thumbnails are made by owner.
  const pending = files.find(({ image }) => image?.thumbnail === 'pending');
  if (pending) await scheduleThumbnails(tx, { ...pending, ownerId: customer.id }, clock);
}
