import { DomainError, declareErrors } from '../kernel/errors.js';
import type { AccessTokenId, Caller, ChannelId, Id, MessageId, UnixSeconds } from '../kernel/ids.js';
import type { Clock, Randomness } from '../kernel/ports.js';
import type { RowRules, UserRow, UserRowReads, UserRows } from '../kernel/rows.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';

export type ReadContextId = Id<'readContext'>;

/** Ids that a token with `readers: 'all'` has read for its next messages (extensions §15). */
export interface ReadContext extends UserRow {
  readonly id: ReadContextId;
  readonly tokenId: AccessTokenId;
  /** Random, since ids would count the contexts of other tokens. */
  readonly name: string;
  readonly messageIds: readonly MessageId[];
  /** Channels with listed names or topics. */
  readonly channelIds: readonly ChannelId[];
  readonly expiresAt: UnixSeconds;
}

/** Messages and channels per context. */
export const MAX_READ_IDS = 1000;
/** Newest contexts that a token keeps. Each request reads those of all tokens of the bot, up to a hundred. */
export const MAX_READ_CONTEXTS = 8;
const CONTEXT_SECONDS = 3600;

export const READ_CONTEXT_ERRORS = declareErrors({
  /** A reader of the destination cannot read everything that was read before; begin a new context. */
  AUDIENCE_GREW: 'conflict',
  /** Too much was read in the context; begin a new one. */
  READ_CONTEXT_FULL: 'conflict',
  /** A write names no context. */
  READ_CONTEXT_REQUIRED: 'invalid',
  /** The conversation of the token has too many readers. */
  TOO_MANY_READERS: 'conflict',
  /** The token has no such context, newer ones replaced it, or it has expired. */
  UNKNOWN_READ_CONTEXT: 'unknown',
});

type ReadContextErrors = typeof READ_CONTEXT_ERRORS;

declare module '../kernel/feature-types.js' {
  interface ErrorCodes extends ReadContextErrors {}
  interface RepositoryMap {
    readContexts: [reads: UserRowReads<ReadContext>, repository: UserRows<ReadContext>];
  }
}

const ROWS: RowRules<ReadContext> = { kind: 'readContext', owner: 'user', order: ['id'] };

export const READ_CONTEXT_FEATURE = {
  rows: { readContexts: ROWS },
  notExported: { readContexts: 'Contexts belong to tokens of the original server.' },
};

export const unknownReadContext = () =>
  new DomainError('UNKNOWN_READ_CONTEXT', 'There is no such context; begin a new one.');

export const contextFull = () =>
  new DomainError('READ_CONTEXT_FULL', `Too much was read for a message (limit: ${MAX_READ_IDS} messages).`);

/** Finds or begins the context of a request. */
export class OpenReadContext {
  static readonly inject = ['unitOfWork', 'clock', 'randomness'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
    private readonly randomness: Randomness,
  ) {}

  /**
   * `wanted`: name of a context, `new`, or undefined for the newest one, if there is any.
   * @throws DomainError UNKNOWN_READ_CONTEXT
   */
  async execute(caller: Caller, wanted: string | undefined): Promise<string> {
    const now = this.clock.now();
    const { realmId, userId } = caller;
    const list = (tx: Pick<Repositories | Transaction, 'readContexts'>) => tx.readContexts.list(realmId, userId);
    const live = liveContextsOf(caller, await this.uow.read(realmId, list), now);
    const found = wanted === undefined ? live.at(-1) : live.find(({ name }) => name === wanted);
    if (found) return found.name;
    if (wanted !== undefined && wanted !== 'new') throw unknownReadContext();
    const { tokenId } = caller.scope!;
    const name = this.randomness.uuid();
    const expiresAt = now + CONTEXT_SECONDS;
    const context = { realmId, userId, tokenId, name, messageIds: [], channelIds: [], expiresAt };
    return this.uow.write(realmId, async (tx) => {
      const contexts = await list(tx);
      const replaced = liveContextsOf(caller, contexts, now).slice(0, 1 - MAX_READ_CONTEXTS);
      for (const each of [...replaced, ...contexts.filter((context) => context.expiresAt <= now)]) {
        await tx.readContexts.remove(realmId, userId, each.id);
      }
      await tx.readContexts.add(context);
      return name;
    });
  }
}

/** Removes what was read with a token that ends. */
export async function removeContexts(
  tx: Transaction,
  { realmId, userId, id: tokenId }: UserRow & { readonly id: AccessTokenId },
): Promise<void> {
  for (const context of await tx.readContexts.list(realmId, userId)) {
    if (context.tokenId === tokenId) await tx.readContexts.remove(realmId, userId, context.id);
  }
}

/** Returns the contexts of the caller's token in use. */
export const liveContextsOf = ({ scope }: Caller, contexts: readonly ReadContext[], now: UnixSeconds) =>
  contexts.filter(({ tokenId, expiresAt }) => tokenId === scope?.tokenId && expiresAt > now);

/** Performs a read, and adds what it has read to the context of the caller's token before anything is returned. */
export async function reading<T>(
  uow: UnitOfWork,
  caller: Caller,
  read: () => Promise<T>,
  ids: Partial<Pick<ReadContext, 'messageIds' | 'channelIds'>>,
): Promise<T> {
  const result = await read();
  if (caller.scope?.readers === 'all') await record(uow, caller, ids);
  return result;
}

function record(
  uow: UnitOfWork,
  { realmId, userId, scope }: Caller,
  { messageIds = [], channelIds = [] }: Partial<Pick<ReadContext, 'messageIds' | 'channelIds'>>,
): Promise<void> {
  return uow.write(realmId, async (tx) => {
    const context = (await tx.readContexts.list(realmId, userId)).find(({ name }) => name === scope?.context);
    if (!context) throw unknownReadContext();
    const united = <T>(before: readonly T[], added: readonly T[]) =>
      [...new Set([...before, ...added])].slice(0, MAX_READ_IDS + 1);
    await tx.readContexts.update({
      ...context,
      messageIds: united(context.messageIds, messageIds),
      channelIds: united(context.channelIds, channelIds),
    });
  });
}
