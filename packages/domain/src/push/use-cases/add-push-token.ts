import { mustBeHuman } from '../../access/role-rules.js';
import type { Caller } from '../../kernel/caller.js';
import { enforce } from '../../kernel/permission.js';
import type { Repositories, Transaction, UnitOfWork } from '../../kernel/unit-of-work.js';
import type { PushService } from '../push-service.js';
import { MAX_PUSH_TOKENS, type PushToken, requirePushToken } from '../push-token.js';

/** Registers a phone in the way of older apps (organization §13). */
export class AddPushToken {
  static readonly inject = ['unitOfWork', 'pushService'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly service: PushService | null,
  ) {}

  /**
   * Without effect where the user has it. @throws DomainError MUST_NOT_BE_BOT, INVALID_PUSH_TOKEN, PUSH_SERVICE_UNREACHABLE,
   * PUSH_SERVICE_FAILED, PUSH_SERVICE_DENIED, PUSH_SERVICE_REFUSED
   */
  async execute(caller: Caller, token: PushToken): Promise<void> {
    const { realm, isKnown } = await this.uow.read(async (repositories) => {
      await enforceHuman(repositories, caller);
      requirePushToken(token.kind, token.token);
      const tokens = await repositories.pushTokens.list(caller.realmId, caller.userId);
      return { realm: await repositories.realms.get(caller.realmId), isKnown: tokens.some((it) => isSame(it, token)) };
    });
    if (isKnown) return;
    // All or nothing: what the service has refused is not kept.
    await this.service?.registerToken({ realm, userId: caller.userId }, token);
    await this.uow.write(async (tx) => {
      const { id: userId, realmId } = await tx.actors.get(caller);
      const tokens = await tx.pushTokens.list(realmId, userId);
      const isMore = !tokens.some((it) => isSame(it, token));
      if (isMore && tokens.length >= MAX_PUSH_TOKENS) await tx.pushTokens.remove(realmId, userId, tokens[0]!);
      await tx.pushTokens.add(realmId, userId, token);
    });
  }
}

export async function enforceHuman(
  { actors }: Pick<Repositories | Transaction, 'actors'>,
  caller: Caller,
): Promise<void> {
  enforce(mustBeHuman(await actors.get(caller)));
}

export const isSame = (one: PushToken, other: Pick<PushToken, 'kind' | 'token'>): boolean =>
  one.kind === other.kind && one.token === other.token;
