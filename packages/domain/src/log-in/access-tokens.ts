import { parseTopic } from '../channels/channel.js';
import { DomainError, declareErrors } from '../kernel/errors.js';
import {
  type AccessTokenId,
  type ChannelId,
  isId,
  type TokenAction,
  type TokenConversation,
  type TokenScope,
  type UnixSeconds,
  type UserId,
} from '../kernel/ids.js';
import { idPayload, jobKind } from '../kernel/jobs.js';
import type { FoundUserRowReads, FoundUserRows, RowRules, UserRow } from '../kernel/rows.js';
import { directPlace } from '../kernel/token-scope.js';

/** Stored token, of which only the hash of the secret is kept. */
export interface AccessTokenRow extends UserRow {
  readonly id: AccessTokenId;
  /** SHA-256 of the secret. */
  readonly fingerprint: string;
  readonly actions: readonly string[];
  /** JSON of each `TokenConversation`. */
  readonly conversations: readonly string[];
  /** Origin of the pages that may use the token; null for any client. */
  readonly origin: string | null;
  /** `all`: the token reads what every reader of its conversation can read; null for the rights of its user. */
  readonly readers: string | null;
  readonly createdAt: UnixSeconds;
  readonly expiresAt: UnixSeconds;
  /** Accurate to a minute; null before the first use. */
  readonly lastUsedAt: UnixSeconds | null;
}

/** Token with which a program acts for a user, in some conversations only. */
export interface AccessToken extends TokenScope, Omit<AccessTokenRow, 'actions' | 'conversations' | 'readers' | 'id'> {}

/** Per user; expired tokens do not count. */
export const MAX_ACCESS_TOKENS = 100;
/** Per token. */
export const MAX_TOKEN_CONVERSATIONS = 10;
/** Validity in seconds. */
export const TOKEN_SECONDS = { default: 3600, min: 10, max: 90 * 86_400 } as const;
/** Interval between two records of a token's use. */
export const TOKEN_USE_SECONDS = 60;

const ACTIONS: readonly string[] = ['read', 'write', 'upload'] satisfies TokenAction[];

export const ACCESS_TOKEN_ERRORS = declareErrors({
  /** An argument of the new token is invalid; the message says which. */
  INVALID_ACCESS_TOKEN: 'invalid',
  /** The user has too many tokens. */
  TOO_MANY_ACCESS_TOKENS: 'conflict',
  /** The user has no such token. */
  UNKNOWN_ACCESS_TOKEN: 'unknown',
});

type AccessTokenErrors = typeof ACCESS_TOKEN_ERRORS;

declare module '../kernel/feature-types.js' {
  interface ErrorCodes extends AccessTokenErrors {}
  interface RepositoryMap {
    accessTokens: [reads: FoundUserRowReads<AccessTokenRow>, repository: FoundUserRows<AccessTokenRow>];
  }
}

const ROWS: RowRules<AccessTokenRow> = {
  kind: 'accessToken',
  owner: 'user',
  foundBy: 'realm',
  order: ['id'],
};

export const ACCESS_TOKEN_FEATURE = {
  rows: { accessTokens: ROWS },
  notExported: { accessTokens: 'Tokens belong to the original server.' },
};

/** Removes the token at the end of its validity. */
export const END_TOKEN_JOB = jobKind({
  name: 'accounts.end_token',
  isFixed: true,
  deletes: true,
  readPayload: idPayload<{ readonly id: number }>('id'),
});

/** Conversation as named by the host application. */
export type NamedConversation =
  | { readonly channelId: ChannelId; readonly topic: string | null }
  /** Participants; the token's user may be absent. */
  | { readonly userIds: readonly UserId[] };

export interface TokenTerms {
  readonly actions: readonly string[];
  readonly conversations: readonly NamedConversation[];
  readonly origin: string | null;
  readonly seconds: number;
  readonly readers: 'all' | null;
}

/** Returns the conversations of a new token. @throws DomainError INVALID_ACCESS_TOKEN, INVALID_TOPIC */
export function parseTokenTerms(
  userId: UserId,
  { actions, conversations, origin, seconds, readers }: TokenTerms,
): readonly TokenConversation[] {
  const refuse = (message: string): never => {
    throw new DomainError('INVALID_ACCESS_TOKEN', message);
  };
  if (!actions.includes('read') || new Set(actions).size < actions.length || !actions.every(isAction)) {
    refuse('A token needs the action "read", and may have "write" and "upload".');
  }
  if (conversations.length === 0 || conversations.length > MAX_TOKEN_CONVERSATIONS) {
    refuse(`A token has 1 to ${MAX_TOKEN_CONVERSATIONS} conversations.`);
  }
  if (origin !== null && !/^https?:\/\/[^/\s?#@\\]{1,255}$/.test(origin)) {
    refuse('An origin has a scheme and a host, such as "https://shop.example.com".');
  }
  if (!(seconds >= TOKEN_SECONDS.min && seconds <= TOKEN_SECONDS.max)) {
    refuse(`A token is valid for ${TOKEN_SECONDS.min} to ${TOKEN_SECONDS.max} seconds.`);
  }
  const places = conversations.map((one): TokenConversation => {
    if ('userIds' in one) return directPlace(userId, one.userIds);
    return { kind: 'channel', channelId: one.channelId, topic: one.topic === null ? null : parseTopic(one.topic) };
  });
  if (readers === 'all') {
    if (actions.includes('upload')) refuse('A token with readers "all" cannot upload files.');
    const [place] = places;
    if (places.length > 1 || (place?.kind === 'direct' && place.userIds.length === 1)) {
      refuse('A token with readers "all" has exactly one conversation, with other people.');
    }
  }
  return places;
}

const isAction = (action: string): action is TokenAction => ACTIONS.includes(action);

/** Conversations and actions that cannot be read grant nothing. */
export function toAccessToken({ id, actions, conversations, readers, ...row }: AccessTokenRow): AccessToken {
  return {
    ...row,
    ...(readers !== null && { readers: 'all' }),
    tokenId: id,
    actions: actions.filter(isAction),
    conversations: conversations.flatMap((json) => parseConversation(json) ?? []),
  };
}

function parseConversation(json: string): TokenConversation | null {
  let value: Readonly<Record<string, unknown>> | null;
  try {
    value = JSON.parse(json);
  } catch {
    return null;
  }
  const { kind, channelId, topic, userIds } = value ?? {};
  if (kind === 'direct' && Array.isArray(userIds) && userIds.every(isId)) return { kind, userIds: userIds as UserId[] };
  if (kind !== 'channel' || !isId(channelId) || (topic !== null && typeof topic !== 'string')) return null;
  return { kind, channelId: channelId as ChannelId, topic };
}

/** True if a page of this origin may use the token; `origin`: null for requests that browsers do not send. */
export const isForOrigin = (token: Pick<AccessToken, 'origin'>, origin: string | null): boolean =>
  token.origin === null || token.origin === origin;
