import { ParleyClient, ParleyError } from '@parley/client';

/**
 * Short-lived tokens that the page around the chat passes, for pages without cookies of the user and for tokens of some
 * conversations. They stay in memory.
 */
export abstract class PassedTokens {
  protected current: string | null = null;
  /** Last token that the server has rejected at its first use. */
  protected rejected: string | null = null;
  private renewal: Promise<string> | null = null;
  private userId: number | null = null;

  /** Reopens the chat after its session ended. Set by the element. */
  again = (): void => {};

  constructor(protected readonly baseUrl: string) {}

  /**
   * Separates the chats of tokens for some conversations, which must not share a connection or unsent messages; empty
   * for other tokens.
   */
  abstract get scope(): string;

  /** Requests a token other than the rejected one from the page. @throws ParleyError 401 if the page passes none */
  protected abstract ask(refused: string | null): Promise<string>;

  /** Called when the page passes the token of another user. Drafts and unsent messages belong to the previous one. */
  protected abstract changeUser(): Promise<never>;

  /** Returns a token other than the rejected one. @throws ParleyError 401 if the page provides none */
  readonly token = (refused: string | null): Promise<string> => {
    if (this.current !== null && this.current !== refused) return Promise.resolve(this.current);
    this.renewal ??= this.renew(refused).finally(() => {
      this.renewal = null;
    });
    return this.renewal;
  };

  /** Returns a file of the organization, which needs the token. */
  readonly loadFile = async (url: string): Promise<Blob> => {
    const load = async (token: string) =>
      fetch(url, { headers: { Authorization: `Bearer ${token}` }, credentials: 'omit' });
    const token = await this.token(null);
    const first = await load(token);
    const response = first.status === 401 ? await load(await this.token(token)) : first;
    if (!response.ok) throw new ParleyError('The file cannot be read', 'BAD_REQUEST', response.status);
    return response.blob();
  };

  /** Drops the user of the tokens, before the chat of another one. */
  protected forget(): void {
    this.current = null;
    this.userId = null;
  }

  private async renew(refused: string | null): Promise<string> {
    const token = await this.ask(refused);
    const client = new ParleyClient({ url: this.baseUrl, credentials: { token: async () => token } });
    const { user_id: userId } = await client.get('/users/me').catch((error: unknown) => {
      if (error instanceof ParleyError && !error.isTemporary) this.rejected = token;
      throw error;
    });
    this.userId ??= userId;
    if (this.userId !== userId) return this.changeUser();
    this.current = token;
    return token;
  }
}

export const isConversationToken = (token: string | null): boolean => token?.startsWith('parley_') ?? false;

/** @throws ParleyError 401 */
export function noToken(): never {
  throw new ParleyError('The page passed no token', 'UNAUTHORIZED', 401);
}

const MAX_TOKEN_LENGTH = 10_000;

export const isToken = (token: unknown): token is string =>
  typeof token === 'string' && token.length > 0 && token.length <= MAX_TOKEN_LENGTH;

/** Time in which the page must pass a token. */
export const ANSWER_MS = 10_000;
