import { ParleyClient, ParleyError } from '@parley/client';

/** Type of the token request and of its response. */
const TOKEN = 'parley-token';
/** Interval for repeating the request, since the page may start listening after the frame. */
const REPEAT_MS = 1000;
const ANSWER_MS = 10_000;
const MAX_TOKEN_LENGTH = 10_000;

/**
 * Connection to the cross-origin page that embeds the chat in a frame. Browsers block cookies there, so the page passes
 * short-lived tokens, which stay in memory. The page's origin must be one of `ancestors`.
 */
export class Frame {
  private current: string | null = null;
  private renewal: Promise<string> | null = null;
  private userId: number | null = null;
  /** Origin of the page, known once it has passed a token. */
  private origin: string | null = null;

  /** Reopens the chat after its session ended. Set by the element. */
  again = (): void => {};

  constructor(
    private readonly baseUrl: string,
    private readonly ancestors: readonly string[],
  ) {}

  /** Returns a token other than the rejected one. @throws ParleyError 401 if the page provides none */
  readonly token = (refused: string | null): Promise<string> => {
    if (this.current !== null && this.current !== refused) return Promise.resolve(this.current);
    this.renewal ??= this.renew().finally(() => {
      this.renewal = null;
    });
    return this.renewal;
  };

  /**
   * Separates the chats of frames with tokens for some conversations, which must not share a connection or unsent
   * messages; empty for other tokens.
   */
  get scope(): string {
    return this.current?.startsWith('parley_') ? location.search : '';
  }

  /** Returns a file of the organization, which needs the token here. */
  readonly loadFile = async (url: string): Promise<Blob> => {
    const load = async (token: string) =>
      fetch(url, { headers: { Authorization: `Bearer ${token}` }, credentials: 'omit' });
    const token = await this.token(null);
    const first = await load(token);
    const response = first.status === 401 ? await load(await this.token(token)) : first;
    if (!response.ok) throw new ParleyError('The file cannot be read', 'BAD_REQUEST', response.status);
    return response.blob();
  };

  /** Notifies the page of a chat event. */
  tell(type: string, detail: unknown): void {
    if (this.origin !== null) parent.postMessage({ type, detail }, this.origin);
  }

  private async renew(): Promise<string> {
    const token = await this.ask();
    const client = new ParleyClient({ url: this.baseUrl, credentials: { token: async () => token } });
    const { user_id: userId } = await client.get('/users/me');
    this.userId ??= userId;
    if (this.userId !== userId) {
      // Drafts and unsent messages belong to the previous user.
      location.reload();
      return new Promise(() => {});
    }
    this.current = token;
    return token;
  }

  private ask(): Promise<string> {
    return new Promise((resolve, reject) => {
      // The request is not secret, and the frame's policy prevents other pages from embedding it.
      const request = () => parent.postMessage({ type: TOKEN }, '*');
      const settle = (token: unknown) => {
        clearInterval(repeat);
        clearTimeout(timer);
        removeEventListener('message', onMessage);
        if (isToken(token)) resolve(token);
        else reject(new ParleyError('The page passed no token', 'UNAUTHORIZED', 401));
      };
      const onMessage = ({ source, origin, data }: MessageEvent) => {
        if (source !== parent || !this.ancestors.includes(origin) || data?.type !== TOKEN) return;
        this.origin = origin;
        settle(data.token);
      };
      const repeat = setInterval(request, REPEAT_MS);
      const timer = setTimeout(() => settle(null), ANSWER_MS);
      addEventListener('message', onMessage);
      request();
    });
  }
}

const isToken = (token: unknown): token is string =>
  typeof token === 'string' && token.length > 0 && token.length <= MAX_TOKEN_LENGTH;
