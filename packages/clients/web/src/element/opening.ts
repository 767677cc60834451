import { openForHost } from '../services/open-for-host.js';
import type { PassedTokens } from '../services/passed-tokens.js';
import type { OpenedServices } from '../services/services.js';

/** Delay before a page without elements closes the chat; frameworks remove and re-insert elements. */
const CLOSE_AFTER_MS = 2000;

/** Chat shared by elements of a page. */
export class Opening {
  private opened: Promise<OpenedServices | null> | undefined;
  /** Number of its elements in the page. */
  private count = 0;

  /** @param tokens default: the log-in of the host application or of Parley */
  constructor(
    private readonly baseUrl: string,
    readonly tokens?: PassedTokens,
  ) {}

  /** Opens the chat once. Null if no user is logged in; the next call retries, since the host may log a user in. */
  services(): Promise<OpenedServices | null> {
    this.opened ??= openForHost(this.baseUrl, this.tokens).then((chat) => {
      if (!chat) this.opened = undefined;
      return chat;
    });
    return this.opened;
  }

  /** Opens the chat again if its user is no longer logged in. */
  renew(): void {
    this.opened = this.opened?.then((last) => this.renewed(last));
  }

  enter(): void {
    // The host may have logged in another user while the page had no element.
    if (this.count++ === 0) this.renew();
  }

  leave(): void {
    this.count--;
    setTimeout(() => {
      if (this.count > 0) return;
      const last = this.opened;
      this.opened = undefined;
      void last?.then((chat) => chat?.close());
    }, CLOSE_AFTER_MS);
  }

  private async renewed(last: OpenedServices | null): Promise<OpenedServices | null> {
    // A rejection ends the chat.
    await last?.client.get('/users/me', {}, { maxRetries: 0 }).catch(() => {});
    if (last?.chat.connection.peek().state !== 'ended') return last;
    last.close();
    this.opened = undefined;
    return this.services();
  }
}
