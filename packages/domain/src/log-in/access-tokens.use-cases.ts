import { removeContexts } from '../channels/read-contexts.js';
import { DomainError } from '../kernel/errors.js';
import { nobody } from '../kernel/event.js';
import type { AccessTokenId, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import { encodeJob, type Job, type JobHandler, type JobWork } from '../kernel/jobs.js';
import type { Clock, ReportProblem } from '../kernel/ports.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { accountDeactivated, realmDeactivated } from '../users/authentication.js';
import type { ContentDigest } from '../writing/update-message.use-cases.js';
import {
  type AccessToken,
  type AccessTokenRow,
  END_TOKEN_JOB,
  isForOrigin,
  MAX_ACCESS_TOKENS,
  parseTokenTerms,
  TOKEN_USE_SECONDS,
  type TokenTerms,
  toAccessToken,
} from './access-tokens.js';
import type { LogInTokens } from './log-in-methods.js';

interface TokenOwner {
  readonly realmId: RealmId;
  readonly userId: UserId;
}

export interface CreatedAccessToken extends AccessToken {
  /** Cannot be derived from stored data. */
  readonly token: string;
}

/** Beginning of each token, which distinguishes it from other credentials. */
const PREFIX = 'parley_';
const TOKEN = /^parley_([1-9]\d{0,15})_([A-Za-z0-9_-]{20,100})$/;

/** True for the form of these tokens. */
export const isAccessToken = (token: string): boolean => token.startsWith(PREFIX);

/** Creates a token on behalf of the host application. */
export class CreateAccessToken {
  static readonly inject = ['unitOfWork', 'logInTokens', 'contentDigest', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly tokens: LogInTokens,
    private readonly digest: ContentDigest,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws DomainError INVALID_ACCESS_TOKEN, INVALID_TOPIC, USER_DEACTIVATED, UNKNOWN_CHANNEL, UNKNOWN_USER,
   * TOO_MANY_ACCESS_TOKENS
   */
  async execute({ realmId, userId }: TokenOwner, terms: TokenTerms): Promise<CreatedAccessToken> {
    const conversations = parseTokenTerms(userId, terms);
    const secret = this.tokens.make();
    const now = this.clock.now();
    const expiresAt = now + terms.seconds;
    const row = await this.uow.write(realmId, async (tx) => {
      const user = await tx.users.get(realmId, userId);
      if (!user.isActive) throw accountDeactivated();
      if (terms.readers === null && user.bot) {
        throw new DomainError('INVALID_ACCESS_TOKEN', 'Bots use their API key.');
      }
      if (terms.readers === 'all' && user.bot?.kind !== 'generic') {
        throw new DomainError('INVALID_ACCESS_TOKEN', 'A token with readers "all" belongs to a generic bot.');
      }
      await requireConversations(tx, realmId, conversations);
      const present = await tx.accessTokens.list(realmId, userId);
      if (present.filter((one) => one.expiresAt > now).length >= MAX_ACCESS_TOKENS) {
        throw new DomainError('TOO_MANY_ACCESS_TOKENS', `Too many tokens (limit: ${MAX_ACCESS_TOKENS}).`);
      }
      const added = await tx.accessTokens.add({
        realmId,
        userId,
        fingerprint: this.digest(secret),
        actions: terms.actions,
        conversations: conversations.map((one) => JSON.stringify(one)),
        origin: terms.origin,
        readers: terms.readers,
        createdAt: now,
        expiresAt,
        lastUsedAt: null,
      });
      // The bot's API key ends at once.
      if (terms.readers === 'all') await endClients(tx, added);
      await tx.jobs.schedule(encodeJob(END_TOKEN_JOB, { realmId, dueAt: expiresAt, payload: { id: added.id } }));
      return added;
    });
    return { ...toAccessToken(row), token: `${PREFIX}${row.id}_${secret}` };
  }
}

async function requireConversations(
  tx: Transaction,
  realmId: RealmId,
  conversations: AccessToken['conversations'],
): Promise<void> {
  for (const one of conversations) {
    if (one.kind === 'channel' && !(await tx.channels.find(realmId, one.channelId))) {
      throw new DomainError('UNKNOWN_CHANNEL', 'There is no such channel.');
    }
    if (one.kind === 'direct' && (await tx.users.list(realmId, one.userIds)).length < one.userIds.length) {
      throw new DomainError('UNKNOWN_USER', 'There is no such user.');
    }
  }
}

/** Lists the valid tokens of a user, oldest first. */
export class ListAccessTokens {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  async execute({ realmId, userId }: TokenOwner): Promise<readonly AccessToken[]> {
    const rows = await this.uow.read(realmId, ({ accessTokens }) => accessTokens.list(realmId, userId));
    const now = this.clock.now();
    return rows.filter(({ expiresAt }) => expiresAt > now).map(toAccessToken);
  }
}

/** Revokes a token, and ends the polls and streams of its user. The user's clients authenticate again. */
export class RevokeAccessToken {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_ACCESS_TOKEN */
  execute({ realmId, userId }: TokenOwner, id: AccessTokenId): Promise<void> {
    return this.uow.write(realmId, async (tx) => {
      const row = await tx.accessTokens.find(realmId, id);
      if (row?.userId !== userId) throw new DomainError('UNKNOWN_ACCESS_TOKEN', 'There is no such token.');
      await endToken(tx, row);
    });
  }
}

/** Revokes a token. */
export async function endToken(tx: Transaction, row: AccessTokenRow): Promise<void> {
  await tx.accessTokens.remove(row.realmId, row.id);
  await removeContexts(tx, row);
  await endClients(tx, row);
}

/** Makes the user's clients authenticate again. */
const endClients = (tx: Transaction, { realmId, userId }: AccessTokenRow) =>
  tx.events.append(realmId, { event: { type: 'user.sessions_ended', userId }, audience: nobody });

/** Removes an expired token. */
export class EndAccessToken implements JobHandler<{ readonly id: number }> {
  static readonly inject = [] as const;

  readonly kind = END_TOKEN_JOB;

  async prepare({ realmId, payload }: Job<{ readonly id: number }>): Promise<JobWork> {
    return async (tx) => {
      const row = await tx.accessTokens.find(realmId, payload.id as AccessTokenId);
      if (row) await endToken(tx, row);
    };
  }
}

/** Authenticates a caller by a token. */
export class VerifyAccessToken {
  static readonly inject = ['unitOfWork', 'contentDigest', 'clock', 'report'] as const;
  /** Times of uses that this server recorded last. */
  private readonly uses = new Map<AccessTokenId, UnixSeconds>();

  constructor(
    private readonly uow: UnitOfWork,
    private readonly digest: ContentDigest,
    private readonly clock: Clock,
    private readonly report: ReportProblem,
  ) {}

  /** @throws DomainError UNAUTHENTICATED, USER_DEACTIVATED, REALM_DEACTIVATED */
  async execute(realmId: RealmId, token: string, origin: string | null): Promise<AccessToken> {
    const [, id, secret] = TOKEN.exec(token) ?? [];
    if (id === undefined || secret === undefined) throw invalidToken();
    const now = this.clock.now();
    const row = await this.uow.read(realmId, async ({ accessTokens, users, realms }) => {
      const found = await accessTokens.find(realmId, Number(id) as AccessTokenId);
      if (found?.fingerprint !== this.digest(secret) || found.expiresAt <= now) throw invalidToken();
      if (!isForOrigin(found, origin)) throw invalidToken();
      if ((await realms.get(realmId)).isDeactivated) throw realmDeactivated();
      if (!(await users.find(realmId, found.userId))?.isActive) throw accountDeactivated();
      return found;
    });
    await this.record(row, now);
    return toAccessToken(row);
  }

  /** A failed record does not reject the caller. */
  private async record(row: AccessTokenRow, now: UnixSeconds): Promise<void> {
    const { id, realmId, lastUsedAt } = row;
    if (now - Math.max(lastUsedAt ?? 0, this.uses.get(id) ?? 0) < TOKEN_USE_SECONDS) return;
    if (this.uses.size >= MAX_REMEMBERED_USES) this.uses.clear();
    // Remembered first, so that only one of several concurrent requests writes.
    this.uses.set(id, now);
    try {
      await this.uow.write(realmId, (tx) => tx.accessTokens.update({ ...row, lastUsedAt: now }));
    } catch (err) {
      this.report('recording the use of a token failed', { err });
    }
  }
}

const MAX_REMEMBERED_USES = 10_000;

const invalidToken = () => new DomainError('UNAUTHENTICATED', 'Invalid token');
