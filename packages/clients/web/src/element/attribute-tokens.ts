import { ANSWER_MS, isConversationToken, isToken, noToken, PassedTokens } from '../services/passed-tokens.js';

/** Tokens in the attribute `token` of an element. The event `parley-token` requests another one. */
export class AttributeTokens extends PassedTokens {
  constructor(
    baseUrl: string,
    private readonly element: HTMLElement,
  ) {
    super(baseUrl);
  }

  get scope(): string {
    if (!isConversationToken(this.current)) return '';
    return ['channel', 'topic', 'direct'].map((name) => `?${this.element.getAttribute(name) ?? ''}`).join('');
  }

  protected async changeUser(): Promise<never> {
    this.forget();
    return noToken();
  }

  protected async ask(refused: string | null): Promise<string> {
    return this.next(refused) ?? (await this.request(refused)) ?? noToken();
  }

  /** Token of the attribute, unless the server has rejected it. */
  private next(refused: string | null): string | null {
    const token = this.element.getAttribute('token');
    return isToken(token) && token !== refused && token !== this.rejected ? token : null;
  }

  private request(refused: string | null): Promise<string | null> {
    return new Promise((resolve) => {
      const settle = (token: string | null) => {
        observer.disconnect();
        clearTimeout(timer);
        resolve(token);
      };
      const observer = new MutationObserver(() => {
        const token = this.next(refused);
        if (token !== null) settle(token);
      });
      const timer = setTimeout(() => settle(null), ANSWER_MS);
      observer.observe(this.element, { attributeFilter: ['token'] });
      this.element.dispatchEvent(new CustomEvent('parley-token', { detail: null, bubbles: true, composed: true }));
    });
  }
}
