import { FindChannelId } from '@parley/domain/channels';
import type { AccessTokenId, Caller, ChannelId, TokenAction, TokenConversation } from '@parley/domain/kernel';
import {
  type AccessToken,
  CreateAccessToken,
  ListAccessTokens,
  type NamedConversation,
  RevokeAccessToken,
  TOKEN_SECONDS,
} from '@parley/domain/log-in';
import type { Resolve } from '../kernel/resolve.js';
import { integer, listOf, MAX_IDS, object, oneOf, optional, valueType } from '../kernel/values.js';
import { type AuditTrail, byApplication } from '../observation/audit-trail.js';
import { argument, CHANNEL, ID, invalidArgument, PEOPLE, properties, TEXT } from './argument-types.js';
import { Addresses, type PersonRef, type UserRef } from './references.js';

/** Topic of a channel, all topics of a channel, or direct conversation. */
export type ConversationRef =
  | { readonly channel: string | number; readonly topic?: string }
  /** Other participants. */
  | { readonly to: PersonRef | readonly PersonRef[] };

export interface TokenToCreate {
  /** User who lends the token rights. */
  readonly user: UserRef;
  /** Conversations, 1 to 10. */
  readonly conversations: readonly ConversationRef[];
  /** Default: `['read']`. `write` is sending, editing, deleting, reacting and typing. */
  readonly actions?: readonly TokenAction[];
  /** Origin of the pages that may use the token, such as `https://shop.example.com`. Default: any client. */
  readonly origin?: string;
  /** Seconds from 10 to 7,776,000 (90 days). Default: 3600. */
  readonly expiresIn?: number;
  /**
   * `all`: for a bot and exactly one conversation. The token reads what every reader of the conversation can read,
   * anywhere in the organization (extensions §15). Default: the token reads its conversations with the user's rights.
   */
  readonly readers?: 'all';
}

export interface IssuedToken {
  readonly id: number;
  readonly actions: readonly TokenAction[];
  readonly conversations: readonly TokenConversation[];
  readonly origin: string | null;
  readonly readers: 'all' | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Accurate to a minute; null before the first use. */
  readonly lastUsedAt: Date | null;
}

/** Tokens with which a program or a page acts for a user in some conversations only. */
export interface Tokens {
  /**
   * Returns a token for `Authorization: Bearer`; only its hash is stored.
   * @throws DomainError INVALID_ACCESS_TOKEN, INVALID_TOPIC, UNKNOWN_USER, USER_DEACTIVATED, UNKNOWN_CHANNEL,
   * TOO_MANY_ACCESS_TOKENS
   */
  create(token: TokenToCreate): Promise<IssuedToken & { readonly token: string }>;
  /** Lists the valid tokens of a user, oldest first. */
  list(user: UserRef): Promise<readonly IssuedToken[]>;
  /** Revokes a token with immediate effect, also on polls and streams. @throws DomainError UNKNOWN_ACCESS_TOKEN */
  revoke(user: UserRef, id: number): Promise<void>;
}

const CONVERSATION = object({ channel: optional(CHANNEL), topic: optional(TEXT), to: optional(PEOPLE) });
const TOKEN = object({
  // `referenceOf` checks it.
  user: valueType<UserRef>('', () => true),
  conversations: listOf(CONVERSATION, { max: MAX_IDS }),
  actions: optional(listOf(oneOf(['read', 'write', 'upload']), { max: MAX_IDS })),
  origin: optional(TEXT),
  expiresIn: optional(integer()),
  readers: optional(oneOf(['all'])),
});

const operation = (name: string, { userId }: Caller) => ({
  ...byApplication(`tokens.${name}`),
  target: { user_id: String(userId) },
});

const present = ({ tokenId, actions, conversations, origin, readers, ...token }: AccessToken): IssuedToken => ({
  id: tokenId,
  actions,
  conversations,
  origin,
  readers: readers ?? null,
  createdAt: new Date(token.createdAt * 1000),
  expiresAt: new Date(token.expiresAt * 1000),
  lastUsedAt: token.lastUsedAt === null ? null : new Date(token.lastUsedAt * 1000),
});

/** @throws DomainError INVALID_ARGUMENT, UNKNOWN_CHANNEL, UNKNOWN_USER */
async function conversationOf(
  resolve: Resolve,
  caller: Caller,
  { channel, topic, to }: { channel?: string | number; topic?: string; to?: PersonRef | readonly PersonRef[] },
): Promise<NamedConversation> {
  if ((channel === undefined) === (to === undefined) || (to !== undefined && topic !== undefined)) {
    throw invalidArgument('A conversation has either a channel, and possibly a topic, or to.');
  }
  if (to !== undefined) {
    const people = Array.isArray(to) ? (to as readonly PersonRef[]) : [to as PersonRef];
    return { userIds: await resolve(Addresses).userIds(caller.realmId, 'to', people) };
  }
  const channelId =
    typeof channel === 'string'
      ? await resolve(FindChannelId).execute(caller, { name: channel })
      : (channel as ChannelId);
  return { channelId, topic: topic ?? null };
}

export function tokensOf(resolve: Resolve, audits: AuditTrail): Tokens {
  const addresses = resolve(Addresses);
  const callerOf = (user: UserRef) => addresses.caller(user, 'application');
  return {
    async create(given) {
      const token = properties('The token', TOKEN, given);
      const { actions = ['read'], origin = null, readers = null, expiresIn: seconds = TOKEN_SECONDS.default } = token;
      const caller = await callerOf(token.user);
      const conversations: NamedConversation[] = [];
      for (const one of token.conversations) conversations.push(await conversationOf(resolve, caller, one));
      const created = await audits.run(operation('create', caller), () =>
        resolve(CreateAccessToken).execute(caller, { actions, conversations, origin, seconds, readers }),
      );
      return { ...present(created), token: created.token };
    },
    list: async (user) => (await resolve(ListAccessTokens).execute(await callerOf(user))).map(present),
    async revoke(user, id) {
      const caller = await callerOf(user);
      const tokenId = argument('id', ID, id) as AccessTokenId;
      await audits.run(operation('revoke', caller), () => resolve(RevokeAccessToken).execute(caller, tokenId));
    },
  };
}
