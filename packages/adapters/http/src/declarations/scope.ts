import {
  type Caller,
  type ChannelId,
  conversationAt,
  type MessageId,
  type Place,
  type TokenAction,
  type TokenConversation,
  type TokenScope,
} from '@parley/domain/kernel';
import { findNarrowOperator, isOperator, type NarrowTerm, termsOf } from '@parley/domain/messages';
import { HttpRefusal } from '../wire/reply.js';

/** Caller with a token for some conversations. */
export interface ScopedCaller extends Caller {
  readonly scope: TokenScope;
}

/** Part of a request that needs storage to decide, and the parameters that are limited to the token's conversations. */
export interface LimitedRequest<D> {
  /** Messages that must be in conversations of the token. */
  readonly messageIds?: readonly MessageId[];
  /** Replaces the parameters. */
  readonly dto?: D;
}

/** Use of an operation by callers with a token for some conversations. */
export interface ConversationScope<D> {
  readonly action: TokenAction;
  /**
   * Limits the request to the conversations of the token. Absent if the operation concerns only the caller, or limits
   * itself by `caller.scope`. @throws HttpRefusal
   */
  readonly limit?: (dto: D, caller: ScopedCaller) => LimitedRequest<D>;
  /**
   * Use by tokens with `readers: 'all'`; by default they may not perform the operation. `shared`: the use case limits
   * itself to the shared view. `limited`: `limit` applies. `only`: like `shared`, and no other token may.
   */
  readonly readers?: 'shared' | 'limited' | 'only';
}

/** Use by tokens with `readers: 'all'` only. */
export const SHARED_ONLY = { action: 'read', readers: 'only' } as const;

/** `account`: never with a token for some conversations. */
export type Scope<D> = 'account' | ConversationScope<D>;

/** True if the token includes the operation. */
export const isInScope = (scope: Scope<unknown> | undefined, { actions, readers }: TokenScope): boolean =>
  typeof scope === 'object' &&
  actions.includes(scope.action) &&
  (readers === 'all' ? scope.readers !== undefined : scope.readers !== 'only');

/** The token does not include the operation, the action or the conversation. */
export const outOfScope = (
  message = 'This token does not allow the operation. It is for some conversations only.',
): HttpRefusal => new HttpRefusal(403, 'TOKEN_SCOPE', message);

/** Requires a conversation of the token. @throws HttpRefusal 403 */
export function requirePlace({ scope }: ScopedCaller, place: Place): void {
  if (!conversationAt(scope, place)) throw outOfScope('This token does not include the conversation.');
}

/** Scope of an operation with a message id as its parameter. */
export const onMessage = (action: TokenAction) => ({
  action,
  limit: ({ message_id }: { readonly message_id: number }) => ({ messageIds: [message_id as MessageId] }),
});

/**
 * Returns terms that limit the narrow to the conversation that it names, or to the only one of the token.
 * @throws HttpRefusal 403 for narrows that name no conversation of the token
 */
export function scopeTerms(caller: ScopedCaller, narrow: readonly NarrowTerm[]): readonly NarrowTerm[] {
  // The server replaces other terms by the conversation of this message.
  if (narrow.some((term) => isOperator(term, 'with'))) {
    throw outOfScope('This token does not allow the operator "with".');
  }
  // Errors about names would reveal which channels and people there are.
  if (narrow.some(isByName)) throw outOfScope('With this token, channels and people are named by id.');
  const { conversations } = caller.scope;
  const named =
    conversations.length === 1 ? conversations[0] : conversations.find((one) => isNamed(one, caller, narrow));
  if (!named) throw outOfScope('With this token, a narrow has to name one of its conversations by ids.');
  return termsOf(named);
}

const isByName = (term: NarrowTerm): boolean =>
  findNarrowOperator(term.operator)?.operand.startsWith('textOrInteger') === true &&
  !isOperator(term, 'id') &&
  typeof term.operand === 'string';

function isNamed(conversation: TokenConversation, { userId }: Caller, narrow: readonly NarrowTerm[]): boolean {
  const operandOf = (name: string) => narrow.find((term) => !term.negated && isOperator(term, name))?.operand;
  if (conversation.kind === 'direct') {
    const operand = operandOf('dm');
    const ids = Array.isArray(operand) ? new Set([...operand, userId]) : null;
    return ids !== null && ids.size === conversation.userIds.length && conversation.userIds.every((id) => ids.has(id));
  }
  const topic = operandOf('topic');
  const place = {
    kind: 'channel',
    channelId: Number(operandOf('channel')) as ChannelId,
    topic: typeof topic === 'string' ? topic : null,
  } as const;
  return conversationAt({ conversations: [conversation] }, place) !== undefined;
}
