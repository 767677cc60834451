import type { TabEvents, TabMessage, Tabs } from '@parley/chat';

/** True if the page may use locks, which browsers block together with cookies. */
export async function hasLocks(): Promise<boolean> {
  try {
    await navigator.locks.query();
    return true;
  } catch {
    return false;
  }
}

/** Tabs of one person: the tab that holds a browser lock is the leader; all communicate over a broadcast channel. */
export class BrowserTabs implements Tabs {
  private readonly channel: BroadcastChannel;
  private events: TabEvents | null = null;
  /** True once another tab has sent a message, as each does when it opens, or lost the lock because it was blocked. */
  private hasOthers = false;
  private waiting = new AbortController();
  private release: (() => void) | null = null;

  /** Returns null without lock support, for example without HTTPS: each tab then works alone. */
  static async open(name: string): Promise<BrowserTabs | null> {
    return 'BroadcastChannel' in globalThis && (await hasLocks()) ? new BrowserTabs(name) : null;
  }

  private constructor(private readonly name: string) {
    this.channel = new BroadcastChannel(name);
  }

  open(events: TabEvents): void {
    this.events = events;
    this.channel.onmessage = ({ data }) => {
      this.hasOthers = true;
      events.onMessage(data as TabMessage);
    };
    this.claim();
  }

  steal(): void {
    this.hasOthers = true;
    this.waiting.abort();
    void this.hold({ steal: true });
  }

  send(message: TabMessage): void {
    // Copying thousands of events takes time. A tab that opens later requests the state.
    if (this.events && (this.hasOthers || message.kind !== 'events')) this.channel.postMessage(message);
  }

  close(): void {
    this.events = null;
    this.waiting.abort();
    this.release?.();
    this.channel.close();
  }

  private claim(): void {
    this.waiting = new AbortController();
    void this.hold({ signal: this.waiting.signal });
  }

  /** Leads as long as the lock is held. */
  private async hold(options: LockOptions): Promise<void> {
    let isLeader = false;
    try {
      await navigator.locks.request(this.name, options, () => {
        isLeader = true;
        this.events?.onLead();
        return new Promise<void>((resolve) => {
          this.release = resolve;
        });
      });
    } catch {
      // The wait was canceled, or another tab stole the lock because this one did not respond.
      if (!isLeader || !this.events) return;
      this.release = null;
      this.events.onLost();
      this.claim();
    }
  }
}
