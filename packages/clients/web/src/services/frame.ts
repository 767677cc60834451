import { ANSWER_MS, isConversationToken, isToken, noToken, PassedTokens } from './passed-tokens.js';

/** Type of the token request and of its response. */
const TOKEN = 'parley-token';
/** Interval for repeating the request, since the page may start listening after the frame. */
const REPEAT_MS = 1000;

/**
 * Connection to the cross-origin page that embeds the chat in a frame. Browsers block cookies there, so the page passes
 * tokens. The page's origin must be one of `ancestors`.
 */
export class Frame extends PassedTokens {
  /** Origin of the page, known once it has passed a token. */
  private origin: string | null = null;

  constructor(
    baseUrl: string,
    private readonly ancestors: readonly string[],
  ) {
    super(baseUrl);
  }

  get scope(): string {
    return isConversationToken(this.current) ? location.search : '';
  }

  /** Notifies the page of a chat event. */
  tell(type: string, detail: unknown): void {
    if (this.origin !== null) parent.postMessage({ type, detail }, this.origin);
  }

  protected changeUser(): Promise<never> {
    location.reload();
    return new Promise(() => {});
  }

  protected ask(): Promise<string> {
    return new Promise<unknown>((resolve) => {
      // The request is not secret, and the frame's policy prevents other pages from embedding it.
      const request = () => parent.postMessage({ type: TOKEN }, '*');
      const settle = (token: unknown) => {
        clearInterval(repeat);
        clearTimeout(timer);
        removeEventListener('message', onMessage);
        resolve(token);
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
    }).then((token) => (isToken(token) ? token : noToken()));
  }
}
