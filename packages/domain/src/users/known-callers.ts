import type { EventListener } from '../kernel/event-listener.js';
import type { StoredEvent } from '../kernel/event-log.js';
import type { UserId } from '../kernel/ids.js';

/** So many are kept at hand. */
const MAX_KNOWN = 10_000;

/** Who was let in, by what they proved it with; kept until something about them changes. */
export class KnownCallers<T extends { readonly userId: UserId }> implements EventListener {
  private readonly known = new Map<string, T>();
  /** Counts the times something was forgotten: what was looked up before is not kept then. */
  private forgotten = 0;

  find(claim: string): T | undefined {
    return this.known.get(claim);
  }

  /** `look` answers null for nobody, who is not kept. */
  async lookUp<F extends T | null>(claim: string, look: () => Promise<F>): Promise<F> {
    const { forgotten } = this;
    const found = await look();
    if (found === null) return found;
    if (this.known.size >= MAX_KNOWN) this.known.clear();
    if (this.forgotten === forgotten) this.known.set(claim, found);
    return found;
  }

  /** Forgets whom these events change. */
  onEvents(events: readonly StoredEvent[]): void {
    for (const { event } of events) {
      if (
        event.type === 'user.activation_changed' ||
        event.type === 'user.api_key_replaced' ||
        event.type === 'user.credentials_changed' ||
        event.type === 'user.sessions_ended'
      ) {
        this.forgotten++;
        for (const [claim, user] of this.known) if (user.userId === event.userId) this.known.delete(claim);
      } else if (event.type === 'realm.deactivated') {
        this.forgetAll();
      }
    }
  }

  /** It may have been about anybody. */
  onUnreadable(): void {
    this.forgetAll();
  }

  private forgetAll(): void {
    this.forgotten++;
    this.known.clear();
  }
}
